/** What the world's requests come back with. */

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; null where it is none. */
  readonly json: unknown;
}
