/** The members of a caught error: any value can be thrown, so all of it is `unknown` at first. */

/** The message of a thrown value; of what is no `Error`, its text. */
export function messageOf(thrown: unknown): string {
  return toError(thrown).message;
}

/**
 * The code of a thrown value: of Node.js (`ENOENT`), a server (PostgreSQL's `42P01`) or this program (`lease_held`). Null:
 * it has none, or one that is no text, such as that of a `DOMException`.
 */
export function errorCodeOf(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null;
  return typeof thrown.code === 'string' ? thrown.code : null;
}

/** The thrown value itself if it is an `Error`, else an error with its text as the message. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Maximum length of the text of an error, characters. */
const MAX_PROBLEM = 2_000;

/** The stack of an error, or its message where there is no stack. */
export function problemOf(error: unknown): string {
  const { stack, message } = toError(error);
  return (stack ?? message).slice(0, MAX_PROBLEM);
}
