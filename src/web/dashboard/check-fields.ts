/**
 * The fields of a check in the form of a service: the settings of its kind, made from their schema, and what every check may
 * have of its own.
 */

import { formatDuration } from '../../domain/durations.ts';
import { hostInUrl } from '../../domain/host-name.ts';
import { DEFAULT_CHECK, MONITORING_KINDS, type Service } from '../../domain/service.ts';
import { MEMBER_NAMES, memberTexts } from '../../kinds/check-members.ts';
import { settingFields, settingTexts } from '../../kinds/settings.ts';
import { type CheckBounds, MONITORING_MEMBERS } from '../../resources/services/check-document.ts';
import {
  ServiceDocumentSchema,
  serviceDocumentOf,
  TEXT_MEMBERS,
} from '../../resources/services/service-document.ts';
import type { SettingTexts } from '../../resources/services/service-texts.ts';
import type { DefinedService } from '../../store/ports/services.ts';
import type { LanguageTexts } from '../language/language.ts';
import type { FormFields, LabelOf, RefusedForm } from './dashboard-forms.ts';

const PREFIX = 'settings.';
/** Fields that remove a credential begin with this. */
const REMOVAL = 'remove.';

/** The settings in a form, as texts by their names; null: remove the credential. */
export function settingsOf(fields: FormFields): SettingTexts {
  const entered = [...fields].filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(
    entered.map(([name, text]) => {
      const setting = name.slice(PREFIX.length);
      return [setting, text === '' && fields.has(`${REMOVAL}${setting}`) ? null : text];
    }),
  );
}

/** A field that every kind may have. */
interface CommonField {
  readonly hint?: string | undefined;
  /** The texts to choose from; absent: any text is entered. */
  readonly words?: readonly string[];
  readonly isLong?: boolean;
}

interface FieldRange {
  readonly bounds: CheckBounds;
  /** The usual period of heartbeats, milliseconds. */
  readonly silenceMs: number;
  /** The services that the service may depend on. */
  readonly others: readonly Service[];
}

/**
 * The fields for the template, with what was entered in a refused form. A refused form that chose another kind has the fields of that
 * kind.
 */
export function viewSettings(
  service: DefinedService,
  refused: RefusedForm | null,
  { texts: { checks } }: LanguageTexts,
  { bounds, silenceMs, others }: FieldRange,
) {
  const { check, domain } = service;
  const typed = refused?.form === 'save' ? refused.typed : null;
  const kind = MONITORING_KINDS.find((one) => one === typed?.get('kind')) ?? check.kind;
  const { settings, sealed = {} } = kind === check.kind ? check : DEFAULT_CHECK;
  const texts = settingTexts(settings);
  const fields = settingFields(kind).map(({ name, input, secret, choices, required }) => ({
    key: `${PREFIX}${name}`,
    label: checks.setting.get(name) ?? name,
    input,
    secret,
    // Null: there is no credential to remove.
    removal: Object.hasOwn(sealed, name) ? `${REMOVAL}${name}` : null,
    required,
    // A credential is not shown again, even if the form is refused.
    value: secret ? '' : (typed?.get(`${PREFIX}${name}`) ?? texts[name] ?? ''),
    hint: secret ? (Object.hasOwn(sealed, name) ? checks.keptSecret : '') : checks.standard,
    choices:
      input === 'yes'
        ? [
            // The label of `plain` asks for the opposite: whether TLS is used.
            { value: String(name !== 'plain'), text: checks.yes },
            { value: String(name === 'plain'), text: checks.no },
          ]
        : choices.map((value) => ({ value, text: value })),
  }));
  /** A field that every kind, or some of them, have. */
  const common = (
    key: string,
    label: string,
    stored: string,
    { hint = '', words = [], isLong = false }: CommonField,
  ) => ({
    ...{ key, label, input: isLong ? 'area' : words.length === 0 ? 'text' : 'choice' },
    secret: false,
    removal: null,
    required: false,
    value: typed?.get(key) ?? stored,
    hint,
    choices: words.map((value) => ({ value, text: value })),
  });
  const document = serviceDocumentOf(service);
  const own = memberTexts(check);
  const hints = { ...memberTexts(bounds.usual), regions: bounds.regions().join(' ') };
  const usualPath = REQUESTED_PATHS.get(kind);
  const members = MEMBER_NAMES.filter((name) => kind !== 'heartbeat' || name === 'slowOver');
  return [
    ...fields,
    ...(usualPath !== undefined
      ? [common('url', checks.url, check.url ?? '', { hint: `https://${hostInUrl(domain)}${usualPath}` })]
      : []),
    ...(kind === 'root'
      ? [common('method', checks.method, check.method ?? '', { words: ['HEAD', 'GET'] })]
      : []),
    ...(ACCEPTING_KINDS.has(kind)
      ? [common('accept', checks.accept, (check.accept ?? []).join(' '), { hint: '2xx 401' })]
      : []),
    ...members.map((name) => common(name, checks.member[name], own[name] ?? '', { hint: hints[name] })),
    ...TEXT_MEMBERS.filter((name) => kind === 'heartbeat' || !Object.hasOwn(MONITORING_MEMBERS, name)).map(
      (name) => {
        const isLong = ServiceDocumentSchema.properties[name].format === 'plain-text';
        const hint = name === 'period' ? formatDuration(silenceMs) : HINTS.get(name);
        return common(name, checks.member[name], document[name] ?? '', { hint, isLong });
      },
    ),
    {
      ...common('dependsOn', checks.member.dependsOn, (document.dependsOn ?? []).join(' '), {}),
      list: others.map(({ slug, name }) => ({ value: slug, text: name })),
    },
  ];
}

/** Examples of texts of a service. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['grace', '0s'],
  ['schedule', '30 3 * * 1-5'],
  ['timezone', 'UTC'],
]);

/** Kinds that request an address, and what they request without `check.url`. */
const REQUESTED_PATHS: ReadonlyMap<string, string> = new Map([
  ['root', '/'],
  ['health', '/api/health'],
  ['http', '/'],
]);
/** Kinds that judge the status of an HTTP response by `accept`. */
const ACCEPTING_KINDS: ReadonlySet<string> = new Set(['root', 'http']);

/** The labels of settings and members of a check in the form of a service. */
export function checkLabels({ language }: { readonly language: LanguageTexts }): LabelOf {
  const { checks } = language.texts;
  const others = new Map([...Object.entries(checks.member), ['url', checks.url]]);
  return (name) => others.get(name) ?? checks.setting.get(name);
}
