/**
 * The shape of an entry: its text with gaps for its simple words. A text that fills the gaps with other simple words means the same entry
 * with these words, in whatever form of YAML it is written, so it need not be parsed. What the gaps are, and where their words stand in
 * the entry, is learned from the parser.
 */
import { isDeepStrictEqual } from 'node:util';
import type { YamlToken } from '../yaml-file.ts';

/** The shape of entries. */
export interface EntryShape {
  /** Names of aliases that mean an anchor of an earlier entry; entries of the shape mean what that one was. */
  readonly aliases: ReadonlySet<string>;
  /** The entry that a text means, and the names of its anchors; null: it has another shape. */
  fit(text: string): { readonly item: unknown; readonly anchors: readonly string[] } | null;
}

/** Words that no form of YAML reads as anything but this text: in a line, and beginning with a letter if they stand without quotes. */
const PLAIN = "[A-Za-z](?:[\\w./()'+=?&%~@;-]|[ :](?=[\\w./(+]))*";
const QUOTED = '[\\w ./:,;?=&#%@()+*!-]*';
const ANCHOR = '[\\w-]+';
const WORDS = { plain: PLAIN, quoted: QUOTED, anchor: ANCHOR } as const;
type Group = keyof typeof WORDS;
const IS_PLAIN = new RegExp(`^${PLAIN}$`);
const IS_QUOTED = new RegExp(`^${QUOTED}$`);
const IS_ANCHOR = new RegExp(`^${ANCHOR}$`);
/** They are no texts, or may be none for another schema. */
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
const WORD = 'wordOfUpbeat';

/** The shape of the entry of `text`, which is `item`; null: it has none. `parse`: the entry of another text in its place. */
export function deriveShape(
  text: string,
  item: unknown,
  tokens: readonly YamlToken[],
  parse: (text: string) => unknown,
): EntryShape | null {
  if (text.includes(WORD)) return null;
  const names = namesIn(tokens);
  let pattern = '';
  let sample = '';
  let at = 0;
  const groups: Group[] = [];
  for (const token of tokens) {
    const gap = text.slice(at, token.from);
    pattern += patternOfGap(gap);
    sample += gap;
    at = token.until;
    const group = groupOf(token, names.aliases);
    pattern += group === null ? RegExp.escape(token.text) : `(${WORDS[group]})`;
    sample += group === null || group === 'anchor' ? token.text : `${WORD}${groups.length}`;
    if (group !== null) groups.push(group);
  }
  const gap = text.slice(at);
  const regex = new RegExp(`^${pattern}${patternOfGap(gap)}$`);
  const build = createBuilder(parse(sample + gap), groups);
  if (build === null) return null;
  const fixed = names.anchors.filter((name) => names.aliases.has(name) || !IS_ANCHOR.test(name));
  const fit: EntryShape['fit'] = (other) => {
    const match = regex.exec(other);
    if (match === null) return null;
    const anchors = [...fixed];
    for (const [index, group] of groups.entries()) {
      const word = match[index + 1] ?? '';
      if (group === 'plain' && RESERVED.test(word)) return null;
      if (group === 'anchor') anchors.push(word);
    }
    return { item: build(match), anchors };
  };
  return isDeepStrictEqual(fit(text)?.item, item) ? { aliases: names.outer, fit } : null;
}

/** The names of anchors and aliases of an entry. `outer`: of aliases that mean no anchor before them in the entry. */
export function namesIn(tokens: readonly YamlToken[]) {
  const anchors: string[] = [];
  const aliases = new Set<string>();
  const outer = new Set<string>();
  for (const { kind, text } of tokens) {
    if (kind === 'anchor') anchors.push(text);
    if (kind !== 'alias') continue;
    aliases.add(text);
    if (!anchors.includes(text)) outer.add(text);
  }
  return { anchors, aliases, outer };
}

/** The pattern of the text between tokens: marks, spaces, and comments of any text. */
function patternOfGap(gap: string): string {
  return gap
    .split(/(#[^\r\n]*)/)
    .map((part) => (part.startsWith('#') ? '#[^\\r\\n\\0]*' : RegExp.escape(part)))
    .join('');
}

/** The kind of words that may stand in the place of a token; null: this one alone. */
function groupOf({ kind, text, isSimple }: YamlToken, aliases: ReadonlySet<string>): Group | null {
  if (kind === 'anchor') return IS_ANCHOR.test(text) && !aliases.has(text) ? 'anchor' : null;
  if (!isSimple) return null;
  if (kind === 'plain') return IS_PLAIN.test(text) && !RESERVED.test(text) ? 'plain' : null;
  return kind === 'quoted' && IS_QUOTED.test(text) ? 'quoted' : null;
}

type Build = (words: readonly string[]) => unknown;

/** Builds what `sample` is, with words in the places of those of the sample. Null: a word of the sample stands nowhere in it. */
function createBuilder(sample: unknown, groups: readonly string[]): Build | null {
  const places = new Map(groups.map((_, index) => [`${WORD}${index}`, index + 1]));
  const found = new Set<number>();
  const builderOf = (value: unknown): Build => {
    const place = typeof value === 'string' ? places.get(value) : undefined;
    if (place !== undefined) {
      found.add(place - 1);
      return (words) => words[place];
    }
    if (Array.isArray(value)) {
      const items = value.map(builderOf);
      return (words) => items.map((build) => build(words));
    }
    if (typeof value !== 'object' || value === null) return () => value;
    const members = Object.entries(value).map(([name, member]) => [name, builderOf(member)] as const);
    return (words) => {
      const built: Record<string, unknown> = {};
      for (const [name, build] of members) built[name] = build(words);
      return built;
    };
  };
  const build = builderOf(sample);
  return groups.every((group, index) => group === 'anchor' || found.has(index)) ? build : null;
}
