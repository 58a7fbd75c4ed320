/** Reads the configuration file into a tree of plain values that knows the line of each. */
import type { TSchema } from '@sinclair/typebox';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { ConfigProblem } from './config-error.ts';
import { CONFIG_SCHEMA } from './schema.ts';

/** Settings by their names, as a file nests them. */
export type SettingTree = { [name: string]: unknown };

/** A file that was read. */
export interface ConfigFile {
  readonly tree: SettingTree;
  /** `file:line` of the value at `path`, or of what stands nearest above it; null: the file says nothing of it. */
  readonly placeOf: (path: readonly string[]) => string | null;
  readonly problems: readonly ConfigProblem[];
}

/** A configuration without a file. */
export const NO_FILE: ConfigFile = { tree: {}, placeOf: () => null, problems: [] };

/** Reads YAML. Never throws: what is wrong is in `problems`, and the tree is empty then. */
export function readConfigFile(file: string, readFile: (path: string) => string): ConfigFile {
  const failed = (...messages: readonly (readonly [place: string, message: string])[]): ConfigFile => ({
    ...NO_FILE,
    problems: messages.map(([path, message]) => ({ path, message, place: null })),
  });
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    return failed([file, `cannot be read: ${(error as Error).message}`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { uniqueKeys: true, lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => `${file}:${Math.max(1, lines.linePos(offset).line)}`;
  if (document.errors.length > 0)
    return failed(...document.errors.map(({ pos, message }) => [lineAt(pos[0]), message] as const));
  let tree: unknown;
  try {
    tree = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // An alias without its anchor, or one that multiplies itself, shows only here.
    return failed([file, (error as Error).message]);
  }
  if (typeof tree !== 'object' || Array.isArray(tree))
    return failed([file, 'must hold settings by their names']);
  return {
    tree: dropEmptySections(tree as SettingTree, CONFIG_SCHEMA),
    placeOf: (path) => {
      const offset = offsetOf(document, path);
      return offset === null ? null : lineAt(offset);
    },
    problems: [],
  };
}

/** `checks:` with nothing below it is null in YAML and means: all defaults. */
function dropEmptySections(tree: SettingTree, schema: TSchema): SettingTree {
  const kept = Object.entries(tree).flatMap(([name, value]) => {
    const member: TSchema | undefined = Object.hasOwn(schema.properties, name)
      ? schema.properties[name]
      : undefined;
    if (member?.type !== 'object') return [[name, value]];
    if (value === null) return [];
    const isSection = typeof value === 'object' && !Array.isArray(value);
    return [[name, isSection ? dropEmptySections(value as SettingTree, member) : value]];
  });
  return Object.fromEntries(kept);
}

function offsetOf(document: Document, path: readonly string[]): number | null {
  for (let length = path.length; length > 0; length--) {
    const keys = path.slice(0, length).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return null;
}
