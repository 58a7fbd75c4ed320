/** Reads YAML files and reports their problems with line numbers. */
import { type Document, isNode, LineCounter, parseAllDocuments, parseDocument } from 'yaml';
import { messageOf } from './error.ts';

/** The parser's warnings quote the text, which may be secret, on standard error. */
const LOG_LEVEL = 'error';

/** Parses the text of `file`. Never throws: with `problems`, `content` is null. `place`: `file:line`, or `file` alone. */
export function readYaml(text: string, file: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: LOG_LEVEL,
  });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const problems = document.errors.map(({ pos, message }) => ({
    place: `${file}:${lineAt(pos[0])}`,
    message,
  }));
  let content: unknown = null;
  try {
    if (problems.length === 0) content = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Unresolved and recursive aliases are only detected here.
    problems.push({ place: file, message: messageOf(error) });
  }
  return {
    content,
    problems,
    /** The line of the value at `path`, or of its nearest ancestor; null: neither is in the file. */
    lineOf(path: readonly string[]): number | null {
      for (let length = path.length; length > 0; length--) {
        const keys = path.slice(0, length).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
        const node = document.getIn(keys, true);
        if (isNode(node) && node.range) return lineAt(node.range[0]);
      }
      return null;
    },
  };
}

/**
 * Finds lines in a text of one or more YAML documents, which is parsed at the first call: the line of the value at `path` in
 * the document with that number, from 0, or of its nearest ancestor. Null: neither is there, or the text is not YAML.
 */
export function createYamlLocator(text: string) {
  const lines = new LineCounter();
  let documents: readonly Document[] | null = null;
  return (document: number, path: readonly (string | number)[]): number | null => {
    documents ??= [
      ...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: LOG_LEVEL }),
    ];
    for (let length = path.length; length >= 0; length--) {
      const keys = path.slice(0, length).map((part) => (/^\d+$/.test(String(part)) ? Number(part) : part));
      const node = length === 0 ? documents[document]?.contents : documents[document]?.getIn(keys, true);
      if (isNode(node) && node.range) return Math.max(1, lines.linePos(node.range[0]).line);
    }
    return null;
  };
}
