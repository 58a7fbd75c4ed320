/** The fields of the settings of a channel, made from the schema of its kind. */

import type { Channel, ChannelKind } from '../../domain/alert/channel.ts';
import type { TSchema } from '../../json-schema.ts';
import { type ChannelKinds, propertiesOf, settingOfText } from '../../resources/channels/channel-document.ts';
import type { LanguageTexts } from '../language/language.ts';
import type { FormFields, LabelOf, RefusedForm } from './dashboard-forms.ts';

/** Fields of settings begin with this, as the paths of refusals do. */
const PREFIX = 'settings.';
/** Fields that remove a secret begin with this. */
const REMOVAL = 'remove.';

/** The name, the language and the settings of a form, as a merge patch of the document of the channel. */
export function readChannelFields(
  kinds: ChannelKinds,
  kind: ChannelKind,
  fields: FormFields,
  before: Channel | null,
): object {
  const settings: Record<string, string | number | boolean | null> = {};
  for (const [name, property] of Object.entries(propertiesOf(kinds, kind))) {
    const text = fields.get(`${PREFIX}${name}`) ?? '';
    if (text !== '') settings[name] = settingOfText(text, property);
    // A secret that is not entered stays; another setting without a text is removed.
    else if (before !== null && (property.writeOnly !== true || fields.has(`${REMOVAL}${name}`)))
      settings[name] = null;
  }
  return {
    name: fields.get('name') ?? '',
    language: fields.get('language') ?? 'en',
    settings,
  };
}

/** A channel in a form; null: it is a new one. */
interface ShownChannel {
  readonly kinds: ChannelKinds;
  readonly kind: ChannelKind;
  readonly channel: Channel | null;
}

/** The fields for the template, with what was entered in a refused form. Secrets are not shown again. */
export function channelFields(
  { kinds, kind, channel }: ShownChannel,
  refused: RefusedForm | null,
  { texts: { alerts, checks } }: LanguageTexts,
) {
  const required: readonly string[] = kinds[kind]?.settings.required ?? [];
  return Object.entries(propertiesOf(kinds, kind)).map(([name, property]) => {
    const key = `${PREFIX}${name}`;
    const secret = property.writeOnly === true;
    const stored = channel?.settings[name];
    const text = alerts.setting(kind, name);
    const choices: readonly string[] = property.enum ?? [];
    return {
      key,
      title: text?.title ?? property.title ?? name,
      where: text?.where ?? property.description ?? '',
      secret,
      // Null: there is no secret that can be removed.
      removal: secret && stored !== undefined && !required.includes(name) ? `${REMOVAL}${name}` : null,
      input: inputOf(property),
      required: required.includes(name) && !(secret && stored !== undefined),
      value: secret ? '' : (refused?.typed.get(key) ?? (stored === undefined ? '' : String(stored))),
      hint: secret && stored !== undefined ? alerts.keptSecret : String(property.examples?.[0] ?? ''),
      choices:
        property.type === 'boolean'
          ? [
              { value: 'true', text: checks.yes },
              { value: 'false', text: checks.no },
            ]
          : choices.map((value) => ({ value, text: value })),
    };
  });
}

function inputOf({ type, enum: choices }: TSchema): 'number' | 'choice' | 'text' {
  if (choices !== undefined || type === 'boolean') return 'choice';
  return type === 'integer' || type === 'number' ? 'number' : 'text';
}

/** The labels of settings in the form of a channel. */
export function channelLabels(
  kinds: ChannelKinds,
  kind: ChannelKind,
  { language }: { readonly language: LanguageTexts },
): LabelOf {
  const properties = propertiesOf(kinds, kind);
  const { alerts } = language.texts;
  return (name) => alerts.setting(kind, name)?.title ?? properties[name]?.title;
}
