/** Templates say nothing by themselves: every word of theirs comes from the language of the reader. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const FOLDER = join(import.meta.dirname, '../../../src/web/templates');
/** Names, which are the same in every language. */
const NAMES = /\b(?:Upbeat|OpenAPI|JSON|Markdown|HTML|Standard Webhooks|Atom|SHA-256)\b/g;
/** The reference of the API, and what developers read of the design, are in one language. */
const IN_ENGLISH = ['docs.eta', 'design.eta'];

/** What a template says between its elements, and in the attributes that are read out. */
function wordsOf(template: string): string[] {
  const written = template
    // Programs read these, or people who write programs.
    .replace(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, ' ')
    .replace(/<%[\s\S]*?%>/g, '\u0000');
  const attributes = [...written.matchAll(/ (?:aria-label|title|alt|placeholder|data-copy)="([^"]*)"/g)];
  const texts = [
    written.replace(/<[^>]*>/g, '\n'),
    ...attributes.map(([, text = '']) => text).filter((text) => !/example|^acme$/.test(text)),
  ];
  return texts.flatMap((text) => text.replace(NAMES, ' ').match(/[A-Za-z]{3,}[A-Za-z ]*/g) ?? []);
}

t.test('it has no words of its own in any template', async (t) => {
  for (const name of readdirSync(FOLDER)) {
    if (IN_ENGLISH.includes(name)) continue;
    t.strictSame(wordsOf(readFileSync(join(FOLDER, name), 'utf8')), [], name);
  }
});
