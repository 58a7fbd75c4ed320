/** Texts of catalogues. */
import { createEntrySplitter } from '../../src/catalogue/entry-bytes.ts';

export const entry = (slug: string, more = '') =>
  `  - slug: ${slug}\n    name: Name\n    domain: ${slug}.example\n    category: ai\n${more}`;

/** The texts of the entries of a list; undefined: it holds something else. */
export function splitEntries(text: string, indent = '  '): string[] | undefined {
  const bytes = Buffer.from(text);
  const entries: string[] = [];
  const isSplit = createEntrySplitter(indent).split(bytes, (from, until) => {
    entries.push(bytes.toString('utf8', from, until));
    return true;
  });
  return isSplit ? entries : undefined;
}
