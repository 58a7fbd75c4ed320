/** Texts of catalogues. */
import { createLineSplitter, splitFlow } from '../../src/catalogue/entry-bytes.ts';

export const entry = (slug: string, more = '') =>
  `  - slug: ${slug}\n    name: Name\n    domain: ${slug}.example\n    category: ai\n${more}`;

/** The texts of the entries of a list, and what follows it; undefined: it has not ended. */
export function splitEntries(text: string, indent: string | null = '  ') {
  const bytes = Buffer.from(text);
  const split = indent === null ? splitFlow : createLineSplitter(indent);
  const { entries, end, isListEnd } = split(bytes, true);
  return {
    entries: entries.map(({ from, until }) => bytes.toString('utf8', from, until)),
    after: isListEnd ? bytes.toString('utf8', end) : undefined,
  };
}
