/**
 * The bytes of a connection, read into one buffer of the thread. A stream would allocate 64 KiB for each read and pass through
 * its queue what is parsed at once anyway.
 */

/** Size of a read, bytes: that of Node.js. */
const BUFFER_BYTES = 65_536;

/**
 * Takes bytes as they arrive. They are overwritten by the next read, so what is kept must be copied. False: it wants no more, and
 * reading ends.
 */
type Taker = (chunk: Buffer) => boolean;

/** The bytes of one connection. */
export class Inlet {
  /** The option `onread` of the connection's socket, which then emits no `data`. */
  readonly onread: { readonly buffer: Buffer; readonly callback: (bytes: number) => boolean };
  #take: Taker | null = null;
  /** A copy of the bytes that arrived before they were wanted. */
  #early: Buffer | null = null;

  constructor() {
    const callback = (bytes: number) => this.#onBytes(shared.subarray(0, bytes));
    this.onread = { buffer: shared, callback };
  }

  /** Passes all bytes to `take`, first those that have arrived already. Call it once. */
  open(take: Taker): void {
    this.#take = take;
    const early = this.#early;
    this.#early = null;
    if (early !== null) take(early);
  }

  #onBytes(chunk: Buffer): boolean {
    if (this.#take !== null) return this.#take(chunk);
    this.#early = this.#early === null ? Buffer.from(chunk) : Buffer.concat([this.#early, chunk]);
    return true;
  }
}

/** Every read is taken before the next one begins, whatever its connection. */
const shared = Buffer.allocUnsafeSlow(BUFFER_BYTES);
