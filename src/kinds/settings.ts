/** Reads and validates the settings of checks by the schemas of their kinds: from forms, commands and files alike. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { getOrInsert } from '../async/bounded-map.ts';
import type { SettingProblem } from '../domain/refusal.ts';
import type { CheckKind, CheckSettings, ProbedKind } from '../domain/service.ts';
import type { TSchema } from '../json-schema.ts';
import type { WrongSetting } from './check-kind.ts';
import { CHECK_KINDS } from './kinds-table.ts';
import { SETTING_FORMATS } from './setting-formats.ts';

/** Valid settings, or what is wrong with them. */
export type SettingsReading =
  | { readonly ok: true; readonly settings: CheckSettings | undefined }
  | { readonly ok: false; readonly wrong: readonly WrongSetting[] };

/** A setting for a form. */
export interface SettingField {
  readonly name: string;
  readonly input: 'number' | 'text' | 'area' | 'choice' | 'yes' | 'secret';
  /** Of a choice. */
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
    choices: property.enum ?? [],
    required: schema.required?.includes(name) ?? false,
  }));
}

function inputOf({ type, enum: choices, writeOnly, maxLength = 0 }: TSchema): SettingField['input'] {
  if (choices !== undefined) return 'choice';
  if (writeOnly === true) return 'secret';
  if (type === 'integer') return 'number';
  if (type === 'boolean') return 'yes';
  return type === 'array' || maxLength > MAX_LINE_LENGTH ? 'area' : 'text';
}

/** Longer texts are entered in several lines. */
const MAX_LINE_LENGTH = 2_000;

/**
 * Changes settings by texts, as forms and commands send them. An empty text removes a setting, but leaves a secret as it
 * is. A list has one item in each line.
 */
export function changeSettings(
  kind: CheckKind,
  before: CheckSettings,
  texts: Readonly<Record<string, string>>,
): SettingsReading {
  const properties = schemaOf(kind)?.properties ?? {};
  const changed: Record<string, CheckSettings[string]> = { ...before };
  for (const [name, text] of Object.entries(texts)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (text !== '') changed[name] = readValue(text, property);
    else if (property?.writeOnly !== true) delete changed[name];
  }
  return validateSettings(kind, changed);
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

/** The settings without secrets. */
export function publicSettings(kind: CheckKind, settings: CheckSettings): CheckSettings {
  const properties = schemaOf(kind)?.properties ?? {};
  const shown = Object.entries(settings).filter(([name]) => properties[name]?.writeOnly !== true);
  return Object.fromEntries(shown);
}

/** Names of the given settings that are secrets. */
export function secretSettings(kind: CheckKind, settings: CheckSettings): string[] {
  return Object.keys(settings).filter((name) => !(name in publicSettings(kind, settings)));
}

/** The texts of settings, as {@link changeSettings} reads them. Secrets are left out. */
export function settingTexts(kind: CheckKind, settings: CheckSettings = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(publicSettings(kind, settings)).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join('\n') : String(value),
    ]),
  );
}

/** Validates settings. `undefined` stands for no settings. */
export function validateSettings(kind: CheckKind, given: unknown): SettingsReading {
  const schema = schemaOf(kind);
  if (schema === null || kind === 'heartbeat') {
    const names = typeof given === 'object' && given !== null ? Object.keys(given) : [];
    const wrong = names.map((setting) => ({ setting, problem: { code: 'unknown' } as const }));
    return wrong.length === 0 ? { ok: true, settings: undefined } : { ok: false, wrong };
  }
  const settings = given ?? {};
  const validate = validatorOf(kind);
  if (!validate(settings)) return { ok: false, wrong: describe(validate.errors ?? []) };
  const wrong = CHECK_KINDS[kind].refuse?.(settings) ?? [];
  if (wrong.length > 0) return { ok: false, wrong };
  return { ok: true, settings: Object.keys(settings).length === 0 ? undefined : settings };
}

/** The port of the settings, or the default of the kind; null: the kind has no such setting. */
export function portOf(kind: CheckKind, settings: CheckSettings = {}): number | null {
  if (kind === 'heartbeat') return null;
  return CHECK_KINDS[kind].portOf?.(settings) ?? null;
}

function schemaOf(kind: CheckKind) {
  return kind === 'heartbeat' ? null : CHECK_KINDS[kind].settings;
}

// The schemas are sources of ours, so they are not validated at each start.
const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false, meta: false });
for (const [name, { accepts }] of Object.entries(SETTING_FORMATS)) ajv.addFormat(name, accepts);
const validators = new Map<ProbedKind, ValidateFunction<CheckSettings>>();

function validatorOf(kind: ProbedKind): ValidateFunction<CheckSettings> {
  return getOrInsert(validators, kind, () =>
    ajv.compile<CheckSettings>({ ...CHECK_KINDS[kind].settings, additionalProperties: false }),
  );
}

function describe(errors: readonly ErrorObject[]): WrongSetting[] {
  const found = new Map<string, WrongSetting>();
  for (const error of errors) {
    const [, name = ''] = error.instancePath.split('/');
    const setting = error.params.missingProperty ?? error.params.additionalProperty ?? name;
    if (!found.has(setting)) found.set(setting, { setting, problem: problemOf(error) });
  }
  return [...found.values()];
}

function problemOf({ keyword, params, parentSchema, schema }: ErrorObject): SettingProblem {
  switch (keyword) {
    case 'required':
      return { code: 'missing' };
    case 'additionalProperties':
      return { code: 'unknown' };
    case 'enum':
      return { code: 'choice', choices: params.allowedValues };
    case 'type':
      return { code: 'type', type: params.type };
    case 'minimum':
    case 'maximum':
      return { code: 'limit', keyword, limit: params.limit };
    case 'minLength':
    case 'maxLength':
    case 'maxItems':
      return { code: 'limit', keyword, limit: params.limit };
    case 'format':
      return { code: 'format', example: exampleOf(String(params.format)) };
    default:
      return { code: 'format', example: exampleOf(String(parentSchema?.format ?? schema)) };
  }
}

function exampleOf(format: string): string {
  return Object.entries(SETTING_FORMATS).find(([name]) => name === format)?.[1].example ?? format;
}
