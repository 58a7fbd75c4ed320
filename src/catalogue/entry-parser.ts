/**
 * Parses the entries of a list, some at a time. An alias means the nearest anchor before it, which may be in an entry that was parsed
 * long ago: such entries are kept, and parsed again before those that refer to them. An entry that differs from an earlier one in simple
 * words alone is read without the parser (`entry-shape.ts`).
 */
import { readYaml, readYamlTokens } from '../yaml-file.ts';
import { deriveShape, type EntryShape, namesIn } from './entry-shape.ts';
import type { EntryList } from './split-catalogue.ts';

/** An entry with anchors. */
interface Anchored {
  readonly order: number;
  readonly text: string;
  /** Entries that it refers to. */
  readonly needs: readonly Anchored[];
}

/** A shape, and the entries that entries of it refer to. */
interface KnownShape {
  readonly shape: EntryShape;
  readonly needs: readonly Anchored[];
}

/** The length of all texts that are kept for aliases. */
const MAX_KEPT = 33_554_432;
const MAX_SHAPES = 8;
/** A shape is derived from an entry for each so many that had one of those before. */
const ENTRIES_PER_SHAPE = 32;
const FIRST_SHAPES = 16;

export type EntryParser = ReturnType<typeof createEntryParser>;

/** Creates the parser of a list. Entries are given in their order. */
export function createEntryParser({ head, separator, foot }: EntryList) {
  const anchored = new Map<string, Anchored>();
  let order = 0;
  let kept = 0;
  let shapes: readonly KnownShape[] = [];
  let derived = 0;
  let fitted = 0;

  const mayDerive = () => derived < FIRST_SHAPES + fitted / ENTRIES_PER_SHAPE;

  const define = (names: readonly string[], text: string, needs: readonly Anchored[]): void => {
    if (names.length === 0) return;
    if (names.some((name) => shapes.some(({ shape }) => shape.aliases.has(name))))
      shapes = shapes.filter(({ shape }) => !names.some((name) => shape.aliases.has(name)));
    kept += text.length;
    if (kept > MAX_KEPT) {
      anchored.clear();
      return;
    }
    const entry: Anchored = { order: order++, text, needs };
    for (const name of names) anchored.set(name, entry);
  };

  /** The items of entries that are parsed after others; null: the parser has found a problem, or something other than entries. */
  const read = (before: readonly Anchored[], texts: readonly string[]): readonly unknown[] | null => {
    const all = [...before.map(({ text }) => text), ...texts];
    const { content } = readYaml(head + all.join(separator) + foot, 'entries');
    const items = (content as { readonly services?: unknown } | null)?.services;
    return Array.isArray(items) && items.length === all.length ? items.slice(before.length) : null;
  };

  /** The entries that an alias of one of these names leads to, with those that they lead to, in their order; null: not all are known. */
  const reach = (names: Iterable<string>): Anchored[] | null => {
    if (kept > MAX_KEPT) return null;
    const found = new Set<Anchored>();
    const visit = (entry: Anchored) => {
      if (found.has(entry)) return;
      found.add(entry);
      for (const one of entry.needs) visit(one);
    };
    for (const name of names) {
      const entry = anchored.get(name);
      if (entry !== undefined) visit(entry);
    }
    return [...found].sort((a, b) => a.order - b.order);
  };

  const parseOne = (text: string): unknown => {
    const tokens = readYamlTokens(head + text + foot, head.length, head.length + text.length);
    if (tokens === null) return null;
    const { anchors, outer } = namesIn(tokens);
    const needs = outer.size === 0 ? [] : reach(outer);
    if (needs === null) return null;
    const item = read(needs, [text])?.[0] ?? null;
    if (item === null) return null;
    if (mayDerive()) {
      derived++;
      const shape = deriveShape(text, item, tokens, (other) => read(needs, [other])?.[0] ?? null);
      if (shape !== null) shapes = [{ shape, needs }, ...shapes.slice(0, MAX_SHAPES - 1)];
    }
    define(anchors, text, needs);
    return item;
  };

  const fit = (text: string): unknown => {
    for (const [index, known] of shapes.entries()) {
      const fitting = known.shape.fit(text);
      if (fitting === null) continue;
      if (index > 0) shapes = [known, ...shapes.filter((one) => one !== known)];
      define(fitting.anchors, text, known.needs);
      fitted++;
      return fitting.item;
    }
    return null;
  };

  return {
    /** Null: the parser has found a problem, or something other than entries. */
    parse(texts: readonly string[]): readonly unknown[] | null {
      const items: unknown[] = [];
      /** Entries without anchors that wait to be parsed together. */
      let waiting: string[] = [];
      const flush = (): boolean => {
        if (waiting.length === 0) return true;
        const parsed = read([], waiting);
        waiting = [];
        if (parsed === null) return false;
        items.push(...parsed);
        return true;
      };
      for (const text of texts) {
        const fitting = fit(text);
        if (fitting === null && !mayDerive() && !/[&*]/.test(text)) {
          waiting.push(text);
          continue;
        }
        if (!flush()) return null;
        const item = fitting ?? parseOne(text);
        if (item === null) return null;
        items.push(item);
      }
      return flush() ? items : null;
    },
  };
}
