/** Services as texts, as forms and commands enter them: the patch of the document that they ask for, and what is refused of it. */
import type { CheckKind } from '../../domain/service.ts';
import type { TObject, TSchema } from '../../json-schema.ts';
import { MEMBER_NAMES, NO_RECHECKS } from '../../kinds/check-members.ts';
import { settingsOfTexts } from '../../kinds/settings.ts';
import type { FieldRefusal, Outcome } from '../kit/change.ts';
import { ServiceDocumentSchema } from './service-document.ts';

/**
 * Members of the document and of its check by their names, as texts: lists separated by spaces. Null or empty: the default. Absent:
 * it stays as it is.
 */
export type ServiceTexts = Readonly<Record<string, string | boolean | null | undefined>>;

/** Settings of a check as texts: null removes one, and an empty text removes it unless it is a credential. */
export type SettingTexts = Readonly<Record<string, string | null>>;

export type ServicePatch = Readonly<Record<string, unknown>>;

/** The merge patch (RFC 7396) of the document of a service that texts ask for. `kind`: of the check after the change. */
export function patchOfTexts(
  texts: ServiceTexts,
  settings: SettingTexts | undefined,
  kind: CheckKind | undefined,
): ServicePatch {
  const { check: checkSchema, ...members } = ServiceDocumentSchema.properties;
  const { settings: _, ...checked } = checkSchema.properties;
  const entered = settings === undefined || kind === undefined ? {} : settingsOfTexts(kind, settings);
  const check = {
    ...valuesOf(checked, texts),
    ...(Object.keys(entered).length === 0 ? {} : { settings: entered }),
  };
  // A time zone goes with its schedule.
  const { timezone, ...rest } = valuesOf(members, texts);
  return {
    ...rest,
    ...(timezone === undefined || rest.schedule === null ? {} : { timezone }),
    ...(Object.keys(check).length === 0 ? {} : { check }),
  };
}

function valuesOf(members: TObject['properties'], texts: ServiceTexts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, schema]) => {
      const text = texts[name];
      return text === undefined ? [] : [[name, readText(name, schema, text)]];
    }),
  );
}

function readText(name: string, schema: TSchema, text: string | boolean | null): unknown {
  if (typeof text !== 'string') return text;
  // A name may be absent, but not blank.
  if (text.trim() === '') return name === 'name' ? text : null;
  if (schema.type !== 'array') return text.trim().replaceAll('\r\n', '\n');
  if (text.trim() === NO_RECHECKS) return [];
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  return schema.uniqueItems === true ? [...new Set(words)] : words.map((word) => word.toLowerCase());
}

/** Refusals of a document by the names of the texts, in words that concern a text. */
export function atTexts<T>(outcome: Outcome<T>, settings: SettingTexts = {}): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = new Map<string | null, FieldRefusal>();
  for (const { field, refusal } of outcome.refusals) {
    const path = field?.replace(/^check\./, '') ?? null;
    const name = path?.startsWith('settings.') ? path : (path?.split('.')[0] ?? null);
    if (!refusals.has(name))
      refusals.set(name, { field: name, refusal: refusalOfText(name, refusal, settings) });
  }
  return { ok: false, refusals: [...refusals.values()] };
}

const UNKNOWN_WORDS = {
  category: 'category_invalid',
  kind: 'kind_invalid',
  method: 'method_invalid',
  accept: 'accept_invalid',
} as const;

function refusalOfText(
  name: string | null,
  refusal: FieldRefusal['refusal'],
  settings: SettingTexts,
): FieldRefusal['refusal'] {
  if (refusal.code === 'setting_invalid' && refusal.problem.code === 'assertion') {
    const line = typedLine(settings[refusal.setting] ?? '', refusal.problem.line);
    return { ...refusal, problem: { ...refusal.problem, line } };
  }
  if (refusal.code !== 'member_invalid' || name === null) return refusal;
  for (const [word, code] of Object.entries(UNKNOWN_WORDS)) if (word === name) return { code };
  const member = MEMBER_NAMES.find((one) => one === name);
  if (member === undefined) return refusal;
  const { problem } = refusal;
  const isLong = problem.code === 'limit' && problem.keyword === 'maxItems';
  return {
    code: 'check_member_invalid',
    member,
    problem: isLong ? { code: 'count', max: problem.limit } : { code: 'format' },
  };
}

/** The number of a line among all lines of a text, empty ones included, by its number among those that are not. */
function typedLine(text: string, number: number): number {
  const lines = text.split(/\r?\n/).flatMap((line, index) => (line.trim() === '' ? [] : [index + 1]));
  return lines[number - 1] ?? number;
}
