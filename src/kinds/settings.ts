/** Reads and validates the settings of checks by the schemas of their kinds: from forms, commands and files alike. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { getOrInsert } from '../async/bounded-map.ts';
import type { FailureCause } from '../domain/failure.ts';
import type { SettingProblem } from '../domain/input-problem.ts';
import {
  type CheckDefinition,
  type CheckKind,
  type CheckSettings,
  MONITORING_KINDS,
  type ProbedKind,
} from '../domain/service.ts';
import { createCompiler, type TSchema } from '../json-schema.ts';
import { explainLine } from './assertions.ts';
import type { WrongSetting } from './check-kind.ts';
import { CHECK_KINDS } from './kinds-table.ts';
import { SETTING_FORMATS } from './setting-formats.ts';

/** Valid settings, or what is wrong with them. */
export type SettingsReading =
  | {
      readonly ok: true;
      readonly settings: CheckSettings | undefined;
      /** Credentials in clear text; they are sealed before they are stored. Absent: there are none. */
      readonly secrets?: CheckSettings;
    }
  | { readonly ok: false; readonly wrong: readonly WrongSetting[] };

export interface SettingField {
  readonly name: string;
  readonly input: 'number' | 'text' | 'area' | 'choice' | 'yes';
  /** True if it is a credential, which is never shown. */
  readonly secret: boolean;
  readonly choices: readonly string[];
  readonly required: boolean;
}

/** The settings of a way to monitor, in the order in which they are shown. Heartbeats have none here. */
export function settingFields(kind: CheckKind): SettingField[] {
  const schema = schemaOf(kind);
  if (schema === null) return [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    input: inputOf(property),
    secret: property.writeOnly === true,
    choices: property.enum ?? [],
    required: schema.required?.includes(name) ?? false,
  }));
}

function inputOf({ type, enum: choices, maxLength = 0 }: TSchema): SettingField['input'] {
  if (choices !== undefined) return 'choice';
  if (type === 'integer') return 'number';
  if (type === 'boolean') return 'yes';
  return type === 'array' || maxLength > MAX_LINE_LENGTH ? 'area' : 'text';
}

/** Longer texts are entered in several lines. */
const MAX_LINE_LENGTH = 2_000;

/** Encrypted credentials by the names of their settings. */
export type SealedSettings = NonNullable<CheckDefinition['sealed']>;

export type CheckPlace = Pick<CheckDefinition, 'kind' | 'url' | 'settings' | 'sealed'>;

/**
 * The settings of a kind that texts enter, as forms and commands have them; null: it is removed. An empty text removes a setting, but
 * leaves a credential as it is. A list has one item in each line.
 */
export function settingsOfTexts(
  kind: CheckKind,
  texts: Readonly<Record<string, string | null>>,
): Record<string, CheckSettings[string] | null> {
  const properties = schemaOf(kind)?.properties ?? {};
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (text === '' && property?.writeOnly === true) return [];
      return [[name, text === null || text === '' ? null : readValue(text, property)] as const];
    }),
  );
}

/** The names of the credentials of a kind; empty: there is no such kind. */
export function credentialsOf(kind: unknown): string[] {
  const known = MONITORING_KINDS.find((one) => one === kind);
  return known === undefined
    ? []
    : settingFields(known).flatMap(({ name, secret }) => (secret ? [name] : []));
}

/** The destination of the credentials of a check; they are sealed for it. */
export function destinationOf({ kind, url, settings = {} }: Omit<CheckPlace, 'sealed'>): string {
  return kind === 'heartbeat' ? '' : (CHECK_KINDS[kind].destinationOf?.(settings, url) ?? '');
}

function readValue(text: string, property: TSchema | undefined): CheckSettings[string] {
  switch (property?.type) {
    case 'integer':
      return /^\d{1,9}$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'array':
      return text
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '');
    default:
      return text.replaceAll('\r\n', '\n');
  }
}

/** The texts of settings, as {@link settingsOfTexts} reads them. */
export function settingTexts(settings: CheckSettings = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join('\n') : String(value),
    ]),
  );
}

/**
 * Validates settings, credentials among them. `undefined` stands for no settings; `kept`: credentials that are stored. What names a
 * credential by itself is moved among them; it is refused where such credentials are stored and stay.
 */
export function validateSettings(
  kind: CheckKind,
  given: unknown,
  kept: readonly string[] = [],
): SettingsReading {
  const reading = readSettings(kind, given, kept);
  if (!reading.ok || kind === 'heartbeat') return reading;
  const all = { ...reading.settings, ...reading.secrets };
  const sorted = CHECK_KINDS[kind].sortSecrets?.(all) ?? all;
  const moved = Object.keys(sorted).filter((name) => String(sorted[name]) !== String(all[name]));
  if (moved.length === 0) return reading;
  if (!moved.some((name) => kept.includes(name))) return readSettings(kind, sorted, kept);
  const wrong = Object.keys(all).filter((name) => String(sorted[name]) !== String(all[name]));
  const { example } = SETTING_FORMATS.header;
  return { ok: false, wrong: wrong.map((setting) => ({ setting, problem: { code: 'format', example } })) };
}

/** Settings of the catalogue, in which what a check sends may stand readable; credentials are `secrets` there, too. */
export function validatePublicSettings(kind: CheckKind, given: unknown): SettingsReading {
  const reading = readSettings(kind, given);
  if (!reading.ok || reading.secrets === undefined) return reading;
  const secrets = Object.entries(reading.secrets).filter(([name]) => !SENT_TEXTS.has(name));
  return { ...reading, secrets: Object.fromEntries(secrets) };
}

/** Credentials that need not be some: texts that a check sends. */
const SENT_TEXTS: ReadonlySet<string> = new Set(['body', 'send']);

function readSettings(kind: CheckKind, given: unknown, kept: readonly string[] = []): SettingsReading {
  const schema = schemaOf(kind);
  if (schema === null || kind === 'heartbeat') {
    const names = typeof given === 'object' && given !== null ? Object.keys(given) : [];
    const wrong = names.map((setting) => ({ setting, problem: { code: 'unknown' } as const }));
    return wrong.length === 0 ? { ok: true, settings: undefined } : { ok: false, wrong };
  }
  const settings = given ?? {};
  const validate = validatorOf(kind);
  if (!validate(settings)) return { ok: false, wrong: describe(validate.errors ?? [], settings) };
  const wrong = CHECK_KINDS[kind].refuse?.(settings, new Set([...Object.keys(settings), ...kept])) ?? [];
  if (wrong.length > 0) return { ok: false, wrong };
  const isSecret = ([name]: readonly [string, unknown]) => schema.properties[name]?.writeOnly === true;
  const entries = Object.entries(settings);
  const secrets = entries.filter(isSecret);
  const shown = entries.filter((entry) => !isSecret(entry));
  return {
    ok: true,
    settings: shown.length === 0 ? undefined : Object.fromEntries(shown),
    ...(secrets.length === 0 ? {} : { secrets: Object.fromEntries(secrets) }),
  };
}

/** Why this machine cannot make checks of the kind; null: it can. */
export function obstacleOf(kind: ProbedKind): FailureCause | null {
  return CHECK_KINDS[kind].obstacle?.() ?? null;
}

/** The port of the settings, or the default of the kind; null: the kind has no such setting, or may use the port. */
export function portOf(kind: CheckKind, settings: CheckSettings = {}): number | null {
  if (kind === 'heartbeat') return null;
  const { portOf, openPort } = CHECK_KINDS[kind];
  const port = portOf?.(settings) ?? Number.NaN;
  // A check at a socket has none.
  return port === openPort || Number.isNaN(port) ? null : port;
}

/** The settings of a check that name a host of their own, beside the domain of the service, with their values. */
export function hostSettings(
  kind: CheckKind,
  settings: CheckSettings = {},
): readonly (readonly [setting: string, host: string])[] {
  return Object.entries(schemaOf(kind)?.properties ?? {}).flatMap(([name, { format }]) => {
    const host = settings[name];
    return format === 'host' && typeof host === 'string' ? [[name, host] as const] : [];
  });
}

function schemaOf(kind: CheckKind) {
  return kind === 'heartbeat' ? null : CHECK_KINDS[kind].settings;
}

const compile = createCompiler(SETTING_FORMATS);
const validators = new Map<ProbedKind, ValidateFunction<CheckSettings>>();

function validatorOf(kind: ProbedKind): ValidateFunction<CheckSettings> {
  return getOrInsert(validators, kind, () =>
    compile<CheckSettings>({ ...CHECK_KINDS[kind].settings, additionalProperties: false }),
  );
}

function describe(errors: readonly ErrorObject[], given: unknown): WrongSetting[] {
  const found = new Map<string, WrongSetting>();
  for (const error of errors) {
    const [, name = '', index = ''] = error.instancePath.split('/');
    const setting = error.params.missingProperty ?? error.params.additionalProperty ?? name;
    if (found.has(setting)) continue;
    const line = error.params.format === 'assertion' ? lineOf(given, setting, Number(index)) : null;
    found.set(setting, { setting, problem: line ?? problemOf(error) });
  }
  return [...found.values()];
}

function lineOf(given: unknown, setting: string, index: number): SettingProblem | null {
  const lines = Object(given)[setting];
  const line: unknown = Array.isArray(lines) ? lines[index] : null;
  return typeof line === 'string' ? { code: 'assertion', line: index + 1, ...explainLine(line) } : null;
}

/** The text of a violated keyword of a schema; undefined: the value has the wrong form, for which callers have examples. */
export function describeKeyword({ keyword, params }: ErrorObject): SettingProblem | undefined {
  switch (keyword) {
    case 'required':
      return { code: 'missing' };
    case 'additionalProperties':
      return { code: 'unknown' };
    case 'enum':
      return { code: 'choice', choices: params.allowedValues.map(String) };
    case 'type':
      return { code: 'type', type: params.type };
    case 'minimum':
    case 'maximum':
    case 'minLength':
    case 'maxLength':
    case 'maxItems':
      return { code: 'limit', keyword, limit: params.limit };
    default:
      return undefined;
  }
}

function problemOf(error: ErrorObject): SettingProblem {
  const format = error.params.format ?? error.parentSchema?.format ?? error.schema;
  return describeKeyword(error) ?? { code: 'format', example: exampleOf(String(format)) };
}

function exampleOf(format: string): string {
  return Object.entries(SETTING_FORMATS).find(([name]) => name === format)?.[1].example ?? format;
}
