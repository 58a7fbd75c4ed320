/**
 * Reads the plain form of a catalogue, in which nearly all are written: a list of groups of members, each member in a line
 * of its own. It does so without the tree of nodes that a YAML parser makes, which takes ten kilobytes an entry. What it
 * does not know for certain, it leaves to the parser.
 */

/** A text without its entries, or the entries themselves, is not in the plain form. */
const NOT_PLAIN = undefined;

/** The line that begins the list; comments and empty lines may stand before it. */
const HEADER = /^(?:[ ]*(?:#.*)?\r?\n)*services:[ ]*\r?\n/;
/** A comment or an empty line. */
const EMPTY_LINE = /^[ ]*(?:#.*)?$/;
const ITEM = /^( *)- [A-Za-z]/m;
const MEMBER = /^( +)(- )?([A-Za-z]+):(?: +(\S.*))?$/;
/** Words that are no text in YAML, and what may be a number or a date in another notation. */
const WORD_OF_YAML = /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE)$/;
const PLAIN_TEXT = /^[A-Za-z](?:[ -"$-9;-~\u00a1-\u2027\u202a-\ud7ff]|:(?=\S)|(?<=\S)#)*$/;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const QUOTED = /^(?:"([ !#-[\]-~]*)"|'([ -&(-~]*)')$/;

/** The list of a catalogue, as text. */
export interface PlainList {
  /** Offset of the first entry. */
  readonly start: number;
  /** What stands before the dash of each entry. */
  readonly indent: string;
}

/** Finds the list at the beginning of a text; undefined: the text does not begin with a list in the plain form. */
export function findList(text: string): PlainList | undefined {
  const header = HEADER.exec(text);
  if (header === null) return NOT_PLAIN;
  const rest = text.slice(header[0].length);
  const item = ITEM.exec(rest);
  if (
    item === null ||
    rest
      .slice(0, item.index)
      .split('\n')
      .some((line) => !EMPTY_LINE.test(line.trimEnd()))
  )
    return NOT_PLAIN;
  return { start: header[0].length + item.index, indent: item[1] ?? '' };
}

/** Reads the text of an entry; undefined: it is not in the plain form. */
export function readPlainEntry(text: string): Readonly<Record<string, unknown>> | undefined {
  const root: Record<string, unknown> = {};
  const open: { readonly column: number; readonly group: Record<string, unknown> }[] = [];
  /** The member in the line before, if its value is in the lines that follow. */
  let pending: {
    readonly group: Record<string, unknown>;
    readonly name: string;
    readonly column: number;
  } | null = null;
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (EMPTY_LINE.test(line)) continue;
    const found = MEMBER.exec(line);
    if (found === null) return NOT_PLAIN;
    const [, spaces = '', dash, name = '', value] = found;
    // Only the first line has the dash, and a dash is as wide as the indentation of two spaces that replaces it.
    if ((dash !== undefined) !== (open.length === 0)) return NOT_PLAIN;
    const column = spaces.length + (dash === undefined ? 0 : 2);
    if (open.length === 0) open.push({ column, group: root });
    else if (pending !== null) {
      if (column <= pending.column) return NOT_PLAIN;
      const group = {};
      pending.group[pending.name] = group;
      open.push({ column, group });
    }
    pending = null;
    while (open.length > 1 && column < (open.at(-1)?.column ?? 0)) open.pop();
    const top = open.at(-1);
    if (top === undefined || column !== top.column || Object.hasOwn(top.group, name)) return NOT_PLAIN;
    if (value === undefined) {
      pending = { group: top.group, name, column };
      top.group[name] = null;
      continue;
    }
    const read = readValue(value);
    if (read === NOT_PLAIN) return NOT_PLAIN;
    top.group[name] = read;
  }
  return pending === null && open.length > 0 ? root : NOT_PLAIN;
}

function readValue(value: string): string | number | undefined {
  const last = value.charCodeAt(value.length - 1);
  if (last === 0x20 || last === 0x3a) return NOT_PLAIN;
  if (PLAIN_TEXT.test(value) || IPV4.test(value)) return WORD_OF_YAML.test(value) ? NOT_PLAIN : value;
  if (WHOLE_NUMBER.test(value)) return Number(value);
  const quoted = QUOTED.exec(value);
  return quoted?.[1] ?? quoted?.[2] ?? NOT_PLAIN;
}
