/** The fields of the settings of a check, in the form of a service. They are made from the schema of the kind. */
import { type CheckDefinition, DEFAULT_CHECK, MONITORING_KINDS } from '../../domain/service.ts';
import { settingFields, settingTexts } from '../../kinds/settings.ts';
import type { Language } from '../language/language.ts';
import type { FormFields, RefusedForm } from './dashboard-forms.ts';

/** Fields of settings begin with this. */
const PREFIX = 'settings.';
/** Fields that remove a credential begin with this. */
const REMOVAL = 'remove.';

/** The settings in a form, as texts by their names; null: a credential that is to be removed. */
export function settingsOf(fields: FormFields): Record<string, string | null> {
  const entered = [...fields].filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(
    entered.map(([name, text]) => {
      const setting = name.slice(PREFIX.length);
      return [setting, text === '' && fields.has(`${REMOVAL}${setting}`) ? null : text];
    }),
  );
}

/**
 * The fields for the template, with what was entered in a refused form. A refused form that chose another kind has the fields
 * of that kind.
 */
export function viewSettings(
  check: CheckDefinition,
  refused: RefusedForm | null,
  { texts: { checks } }: Pick<Language, 'texts'>,
) {
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
            { value: 'true', text: checks.yes },
            { value: 'false', text: checks.no },
          ]
        : choices.map((value) => ({ value, text: value })),
  }));
  if (!ACCEPTING_KINDS.has(kind)) return fields;
  const accept = {
    key: 'accept',
    label: checks.accept,
    input: 'text',
    secret: false,
    removal: null,
    required: false,
    value: typed?.get('accept') ?? (check.accept ?? []).join(' '),
    hint: '2xx 401',
    choices: [],
  } as const;
  return [...fields, accept];
}

/** Kinds that judge the status of an HTTP response by `accept`. */
const ACCEPTING_KINDS: ReadonlySet<string> = new Set(['root', 'http']);
