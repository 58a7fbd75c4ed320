/** Reads JSON by paths of RFC 9535 that have names, indices, slices and wildcards only. Pure. */
import { createRequire } from 'node:module';
import type parseJsonPath from 'jsonpath-rfc9535/parser';
import type { JsonPathQuery } from 'jsonpath-rfc9535/parser';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';

/** Loaded with the first assertion that needs it, because it takes memory in every thread. */
const load = createRequire(import.meta.url);

/** Maximum number of parsed paths of a thread. */
const MAX_PATHS = 1_000;

type Selector =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | {
      readonly type: 'slice';
      readonly start: number | null;
      readonly end: number | null;
      readonly step: number;
    }
  | { readonly type: 'all' };

const paths = new BoundedMap<string, { readonly selectors: readonly Selector[] | null }>(MAX_PATHS);

/** Returns true if a path is valid, and has no other segments: filters and descendants can take more than linear time. */
export function isPlainPath(path: string): boolean {
  return selectorsOf(path) !== null;
}

/**
 * Walks to the values that a path leads to. Calls `visit` before each value, also of those on the way, and `take` for those at
 * its end. The walk ends where one of them returns false.
 */
export function queryJson(
  document: unknown,
  path: string,
  visit: () => boolean,
  take: (value: unknown) => boolean,
): void {
  walk(document, selectorsOf(path) ?? [], 0, { visit, take });
}

interface Walk {
  readonly visit: () => boolean;
  readonly take: (value: unknown) => boolean;
}

/** Returns whether the walk goes on. */
function walk(value: unknown, selectors: readonly Selector[], at: number, calls: Walk): boolean {
  if (!calls.visit()) return false;
  const selector = selectors[at];
  if (selector === undefined) return calls.take(value);
  for (const child of select(value, selector)) if (!walk(child, selectors, at + 1, calls)) return false;
  return true;
}

function select(value: unknown, selector: Selector): Iterable<unknown> {
  if (typeof value !== 'object' || value === null) return [];
  if (!Array.isArray(value)) {
    if (selector.type === 'all') return Object.values(value);
    const { name = '' } = selector.type === 'name' ? selector : {};
    return selector.type === 'name' && Object.hasOwn(value, name) ? [Reflect.get(value, name)] : [];
  }
  switch (selector.type) {
    case 'all':
      return value;
    case 'index': {
      const index = selector.index < 0 ? value.length + selector.index : selector.index;
      return index in value ? [value[index]] : [];
    }
    case 'slice':
      return slice(value, selector);
    case 'name':
      return [];
  }
}

/** The elements of a slice (RFC 9535, 2.3.4.2.2). */
function* slice(
  list: readonly unknown[],
  { start, end, step }: Extract<Selector, { type: 'slice' }>,
): Generator<unknown> {
  const { length } = list;
  const place = (index: number, least: number, most: number) =>
    Math.min(Math.max(index < 0 ? length + index : index, least), most);
  if (step > 0) {
    const last = place(end ?? length, 0, length);
    for (let at = place(start ?? 0, 0, length); at < last; at += step) yield list[at];
  } else if (step < 0) {
    const last = end === null ? -1 : place(end, -1, length - 1);
    for (let at = place(start ?? length - 1, -1, length - 1); at > last; at += step) yield list[at];
  }
}

function selectorsOf(path: string): readonly Selector[] | null {
  return getOrInsert(paths, path, () => ({ selectors: parse(path) })).selectors;
}

function parse(path: string): readonly Selector[] | null {
  // Nested functions of a filter take the parser a time that is exponential in their depth.
  if (/[[,]\?/.test(path)) return null;
  try {
    const { default: parsePath }: { default: typeof parseJsonPath } = load('jsonpath-rfc9535/parser');
    const selectors = parsePath(path).segments.map(selectorOf);
    return selectors.every((selector) => selector !== null) ? selectors : null;
  } catch {
    return null;
  }
}

function selectorOf({ type, node }: JsonPathQuery['segments'][number]): Selector | null {
  if (type !== 'ChildSegment') return null;
  const one = node.type === 'BracketedSelection' ? node.selectors : [node];
  const [selector] = one;
  if (selector === undefined || one.length > 1) return null;
  switch (selector.type) {
    case 'WildcardSelector':
      return { type: 'all' };
    case 'MemberNameShorthand':
    case 'NameSelector':
      return { type: 'name', name: selector.value };
    case 'IndexSelector':
      return { type: 'index', index: selector.value };
    case 'SliceSelector':
      return { type: 'slice', start: selector.start, end: selector.end, step: selector.step ?? 1 };
    default:
      return null;
  }
}
