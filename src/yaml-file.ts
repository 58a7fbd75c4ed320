/**
 * Reads YAML and reports its problems with line numbers. Merge keys (`<<`) are read as other programs read them. What aliases and merge
 * keys repeat is bounded by the length of the text, so that no short text becomes an endless one.
 */

import { createRequire } from 'node:module';
import {
  CORE_SCHEMA,
  EVENT_ID,
  type Event,
  FAILSAFE_SCHEMA,
  loadAll,
  mapTag,
  mergeTag,
  parseEvents,
  SCALAR_STYLE,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml';
import type * as Yaml from 'yaml';
import { messageOf } from './error.ts';

/** A problem of a text. */
export interface YamlProblem {
  /** `file:line`, or `file` alone. */
  readonly place: string;
  readonly message: string;
}

/** Loaded where a line is wanted: its 70 modules would cost each command, and each start, their time. */
const loadYaml = (): typeof Yaml => createRequire(import.meta.url)('yaml');

const SCHEMA = CORE_SCHEMA.withTags(mergeTag);
/** Tags of other programs, such as `!secret`, are passed over as Go's YAML does it: a scalar with one is its text. */
const FOREIGN_TAGS = [strTag, seqTag, mapTag].map((tag) => ({
  ...tag,
  tagName: '!',
  matchByTagPrefix: true,
}));
/** For files of other programs. */
export const FOREIGN_SCHEMA = SCHEMA.withTags(FOREIGN_TAGS);
/** Numbers, booleans and null are the texts that stand for them: `0644`, `1.10`, `yes`. */
const TEXT_SCHEMA = FAILSAFE_SCHEMA.withTags(mergeTag, FOREIGN_TAGS);
const MAX_DEPTH = 100;
/** The number of values and merged members that a text of any length may have beyond one for each of its characters. */
const MIN_VALUES = 100_000;

/**
 * Parses the documents of the text of `file`, which `linesBefore` other lines precede. Never throws: with a `problem`, `documents` is
 * empty.
 */
export function readYamlDocuments(
  text: string,
  file: string,
  schema = SCHEMA,
  linesBefore = 0,
): { readonly documents: readonly unknown[]; readonly problem: YamlProblem | null } {
  const maxValues = MIN_VALUES + text.length;
  try {
    const documents = loadAll(text.replace(/^\uFEFF/, ''), {
      schema,
      maxTotalMergeKeys: maxValues,
      maxDepth: MAX_DEPTH,
    });
    if (text.includes('*') && !(countValues(documents) <= maxValues))
      return { documents: [], problem: { place: file, message: 'aliases repeat too much, or themselves' } };
    return { documents, problem: null };
  } catch (error) {
    const line = error instanceof YAMLException && error.mark ? `:${error.mark.line + 1 + linesBefore}` : '';
    const message = error instanceof YAMLException ? error.reason : messageOf(error);
    return { documents: [], problem: { place: `${file}${line}`, message } };
  }
}

/**
 * Parses the text of `file`, of one document, which `linesBefore` other lines precede. Never throws: with `problems`, `content` is null.
 */
export function readYaml(text: string, file: string, linesBefore = 0) {
  const { documents, problem } = readYamlDocuments(text, file, SCHEMA, linesBefore);
  const problems =
    problem !== null
      ? [problem]
      : documents.length > 1
        ? [{ place: file, message: 'must be one document, without a line "---" between two' }]
        : [];
  const locate = createYamlLocator(text);
  return {
    content: problems.length === 0 ? (documents[0] ?? null) : null,
    problems,
    /** The line of the value at `path`, or of its nearest ancestor; null: neither is in the file. */
    lineOf(path: readonly string[]): number | null {
      const line = path.length === 0 ? null : locate(0, path);
      return line === null ? null : line + linesBefore;
    },
  };
}

/** A piece of a text that is a scalar, the name of an anchor or alias, or a tag. */
export interface YamlToken {
  readonly kind: 'plain' | 'quoted' | 'anchor' | 'alias' | 'other';
  readonly text: string;
  readonly from: number;
  readonly until: number;
  /** True of a value that stands for itself, letter by letter, and is not a key of a member. */
  readonly isSimple: boolean;
}

/** The tokens of a text between two offsets, in their order. Null: the text cannot be parsed, or a token crosses an offset. */
export function readYamlTokens(text: string, from: number, until: number): readonly YamlToken[] | null {
  try {
    const tokens: YamlToken[] = [];
    const open: { isMapping: boolean; isKey: boolean }[] = [];
    for (const event of parseEvents(text, { maxDepth: MAX_DEPTH })) {
      if (event.type === EVENT_ID.POP) {
        open.pop();
        continue;
      }
      const parent = open.at(-1);
      const isKey = parent?.isMapping === true && parent.isKey;
      if (parent !== undefined) parent.isKey = !parent.isKey;
      tokens.push(...tokensOf(event, text, isKey));
      if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS)
        open.push({ isMapping: event.type === EVENT_ID.MAPPING, isKey: true });
    }
    const inside = tokens.filter((token) => token.until > from && token.from < until);
    if (inside.some((token) => token.from < from || token.until > until)) return null;
    return inside
      .map((token) => ({ ...token, from: token.from - from, until: token.until - from }))
      .sort((a, b) => a.from - b.from);
  } catch {
    return null;
  }
}

function tokensOf(event: Event, text: string, isKey: boolean): YamlToken[] {
  const tokens: YamlToken[] = [];
  const add = (kind: YamlToken['kind'], from: number, until: number, isSimple = false) => {
    if (from >= 0) tokens.push({ kind, text: text.slice(from, until), from, until, isSimple });
  };
  if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return tokens;
  add(event.type === EVENT_ID.ALIAS ? 'alias' : 'anchor', event.anchorStart, event.anchorEnd);
  if (event.type === EVENT_ID.ALIAS) return tokens;
  add('other', event.tagStart, event.tagEnd);
  if (event.type !== EVENT_ID.SCALAR) return tokens;
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  const kind = event.style === SCALAR_STYLE.PLAIN ? 'plain' : isQuoted ? 'quoted' : 'other';
  const isSimple = kind !== 'other' && event.fast && event.tagStart < 0 && !isKey;
  add(kind, event.valueStart, event.valueEnd, isSimple);
  return tokens;
}

/** The document of a text that {@link readYaml} reads, with each value as the text that stands for it; null: it cannot be read. */
export function readYamlTexts(text: string): unknown {
  return readYamlDocuments(text, '', TEXT_SCHEMA).documents[0] ?? null;
}

/**
 * Returns true if a member at the top of a file is none of its format, but holds what aliases in the file stand for, as in
 * files of Compose.
 */
export function isExtension(name: string): boolean {
  return name.startsWith('x-');
}

/** Number of values where each alias stands for all of its own; infinite where a value is part of itself. Each is visited once. */
function countValues(value: unknown, known = new Map<object, number>()): number {
  if (typeof value !== 'object' || value === null) return 1;
  const before = known.get(value);
  if (before !== undefined) return before;
  known.set(value, Number.POSITIVE_INFINITY);
  let count = 1;
  for (const member of Object.values(value)) count += countValues(member, known);
  known.set(value, count);
  return count;
}

/**
 * Finds lines in a text of one or more YAML documents, which is parsed at the first call: the line of the value at `path` in
 * the document with that number, from 0, or of its nearest ancestor. Null: neither is there, or the text is not YAML.
 */
export function createYamlLocator(text: string) {
  let lines: Yaml.LineCounter;
  let documents: readonly Yaml.Document[] | null = null;
  return (document: number, path: readonly (string | number)[]): number | null => {
    const { isNode, LineCounter, parseAllDocuments } = loadYaml();
    lines ??= new LineCounter();
    documents ??= [
      // The parser's warnings quote the text, which may be secret, on standard error. Its search for equal keys is quadratic.
      ...parseAllDocuments(text, {
        lineCounter: lines,
        prettyErrors: false,
        logLevel: 'error',
        uniqueKeys: false,
      }),
    ];
    for (let length = path.length; length >= 0; length--) {
      const keys = path.slice(0, length).map((part) => (/^\d+$/.test(String(part)) ? Number(part) : part));
      const node = length === 0 ? documents[document]?.contents : documents[document]?.getIn(keys, true);
      if (isNode(node) && node.range) return Math.max(1, lines.linePos(node.range[0]).line);
    }
    return null;
  };
}
