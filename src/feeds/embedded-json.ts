/** JSON within a page for people. */
import { readJson } from './json-shape.ts';

/**
 * The list in `text` that begins with `start`, whose first sign is its bracket; null: there is none. Throws FeedFormatError if it is not
 * JSON. Takes linear time.
 */
export function listAt(text: string, start: string): unknown[] | null {
  const from = text.indexOf(start);
  if (from === -1) return null;
  let depth = 0;
  let isQuoted = false;
  for (let index = from; index < text.length; index++) {
    const sign = text[index];
    if (isQuoted) {
      if (sign === '\\') index++;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === '[' || sign === '{') depth++;
    else if ((sign === ']' || sign === '}') && --depth === 0) {
      const list = readJson(Buffer.from(text.slice(from, index + 1)));
      return Array.isArray(list) ? list : null;
    }
  }
  return null;
}
