/** A conversation with a server whose protocol is no HTTP: both sides speak in turn over one connection, which may turn to TLS. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';
import { certificateProblem, type DialOrder, type PhaseTimings, startTls, tlsStateOf } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { type Fault, isOwnCode, responseFault, targetFault, timeoutFault, tlsFault } from './fault.ts';

/** Maximum number of bytes that a server may send in a conversation. */
const MAX_DIALOGUE_BYTES = 262_144;
/** Size of the first buffer; it doubles when it is full. */
const FIRST_BUFFER_BYTES = 4_096;
/** Time for the last words to leave, milliseconds. */
const LEAVE_TIMEOUT_MS = 1_000;

/** A conversation that has ended before it was over. */
export class DialogueBroken extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.failure.cause.code);
    this.name = 'DialogueBroken';
    this.fault = fault;
  }
}

/** A part of the conversation that has not arrived yet. */
interface Awaited {
  readonly isThere: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: DialogueBroken) => void;
}

/**
 * A conversation. Methods that wait reject with {@link DialogueBroken} if the connection or the deadline ends, or if the server has sent
 * more than {@link MAX_DIALOGUE_BYTES}. Always call `leave` or `close`.
 */
export class Dialogue {
  /** Milliseconds from the first sent bytes, or from the connection, to the first byte of the server; null: none arrived. */
  firstByteMs: number | null = null;
  readonly #clock: Clock;
  readonly #deadline: Deadline;
  readonly #openedAt: number;
  /** True if the server gets a client certificate if it asks for one. */
  #offersCertificate: boolean;
  #socket: Socket;
  #buffer: Buffer = Buffer.alloc(FIRST_BUFFER_BYTES);
  #start = 0;
  #end = 0;
  #received = 0;
  #awaited: Awaited | null = null;
  #broken: Fault | null = null;

  constructor(clock: Clock, socket: Socket, deadline: Deadline, offersCertificate: boolean) {
    this.#clock = clock;
    this.#socket = socket;
    this.#deadline = deadline;
    this.#offersCertificate = offersCertificate;
    this.#openedAt = clock.monotonic();
    this.#listen();
  }

  /** True if the server has sent anything. */
  get answered(): boolean {
    return this.firstByteMs !== null;
  }

  send(bytes: Uint8Array | string): void {
    if (this.#broken === null) this.#socket.write(bytes);
  }

  /** The next `count` bytes. They are valid until the next call. */
  async read(count: number): Promise<Buffer> {
    if (count > MAX_DIALOGUE_BYTES) throw this.#tooLong();
    await this.#until(() => this.#end - this.#start >= count);
    const bytes = this.#buffer.subarray(this.#start, this.#start + count);
    this.#start += count;
    return bytes;
  }

  /** The next line without its end, as Latin-1; null: it is longer than `maxLength`. */
  async readLine(maxLength: number): Promise<string | null> {
    let searched = 0;
    let at = -1;
    await this.#until(() => {
      const waiting = this.#buffer.subarray(this.#start, this.#end);
      at = waiting.indexOf(0x0a, searched);
      searched = waiting.length;
      return at !== -1 || searched > maxLength;
    });
    if (at === -1 || at > maxLength) return null;
    const line = this.#buffer.toString('latin1', this.#start, this.#start + at);
    this.#start += at + 1;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  /** The beginning of what has arrived and was not read, at most `count` bytes. */
  preview(count: number): Buffer {
    return this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + count));
  }

  /**
   * Makes the handshake of TLS, after which everything is encrypted. What the server has sent ahead is dropped, since nobody has vouched
   * for it.
   */
  async secure(order: DialOrder, timings: PhaseTimings): Promise<void> {
    if (this.#broken !== null) throw new DialogueBroken(this.#broken);
    const beganAt = this.#clock.monotonic();
    this.#start = this.#end;
    this.#socket.removeAllListeners('data');
    const socket = startTls(this.#socket, order, timings);
    this.#socket = socket;
    this.#deadline.step(true);
    const fault = await this.#handshake(socket, order, timings);
    timings.tlsMs = (timings.tlsMs ?? 0) + (this.#clock.monotonic() - beganAt);
    if (fault !== null) throw this.#breakOff(fault);
    this.#offersCertificate = order.trust?.offersCertificate === true;
    this.#listen();
  }

  #handshake(socket: TLSSocket, order: DialOrder, timings: PhaseTimings): Promise<Fault | null> {
    return new Promise((resolve) => {
      const settle = (fault: Fault | null) => {
        this.#deadline.interrupt = null;
        resolve(fault);
      };
      if (!this.#deadline.interruptBy(() => settle(timeoutFault('tls', this.#deadline.timeoutMs, false))))
        return;
      const onError = (error: Error) => settle(tlsFault(error, tlsStateOf(socket, order)));
      socket.on('error', onError);
      socket.on('close', () => onError(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
      socket.on('secureConnect', () => {
        this.#deadline.step();
        settle(certificateProblem(socket, order, timings));
      });
    });
  }

  /** Sends the last words and closes the connection. */
  leave(bytes: Uint8Array | string): void {
    const socket = this.#socket;
    if (this.#broken !== null || socket.destroyed) {
      this.close();
      return;
    }
    this.#deadline.interrupt = null;
    socket.write(bytes);
    const cancel = this.#clock.after(LEAVE_TIMEOUT_MS, () => socket.destroy());
    socket.once('close', cancel);
    socket.destroySoon();
  }

  close(): void {
    this.#deadline.interrupt = null;
    this.#socket.destroy();
  }

  #listen(): void {
    const socket = this.#socket;
    // The connection below TLS ends with it.
    const onLoss = (code: string | null) => {
      if (this.#socket === socket) this.#onLoss(code);
    };
    socket.on('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => onLoss(code));
    socket.on('end', () => onLoss(null));
    socket.on('close', () => onLoss(null));
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
  }

  #onData(chunk: Buffer): void {
    if (this.#broken !== null) return;
    this.firstByteMs ??= this.#clock.monotonic() - this.#openedAt;
    this.#received += chunk.length;
    if (this.#received > MAX_DIALOGUE_BYTES) {
      this.#tooLong();
      return;
    }
    if (this.#start === this.#end) this.#start = this.#end = 0;
    if (this.#end + chunk.length > this.#buffer.length) {
      const size = Math.max(this.#buffer.length * 2, this.#end - this.#start + chunk.length);
      const grown = Buffer.alloc(size);
      this.#buffer.copy(grown, 0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
    if (this.#awaited?.isThere() !== true) return;
    this.#deadline.step();
    this.#settle()?.resolve();
  }

  #until(isThere: () => boolean): Promise<void> {
    if (isThere()) return Promise.resolve();
    if (this.#broken !== null) return Promise.reject(new DialogueBroken(this.#broken));
    return new Promise((resolve, reject) => {
      this.#awaited = { isThere, resolve, reject };
      this.#deadline.interruptBy(() => void this.#breakOff(this.#lateFault()));
    });
  }

  #settle(): Awaited | null {
    const awaited = this.#awaited;
    this.#awaited = null;
    this.#deadline.interrupt = null;
    return awaited;
  }

  #lateFault(): Fault {
    const { timeoutMs } = this.#deadline;
    return this.answered
      ? targetFault('timeout', 'body', { code: 'answer_incomplete', timeoutMs })
      : timeoutFault('first_byte', timeoutMs, false);
  }

  #tooLong(): DialogueBroken {
    return this.#breakOff(
      targetFault('protocol', 'body', { code: 'answer_too_long', maxBytes: MAX_DIALOGUE_BYTES }),
    );
  }

  /** Called for the end of the connection; `code` null: the server has closed it. What has arrived may still be read. */
  #onLoss(code: string | null): void {
    if (this.#broken !== null) return;
    const fault = this.answered
      ? targetFault('protocol', 'body', { code: 'cut_in_talk' })
      : responseFault(code, 'nothing', this.#offersCertificate);
    this.#breakOff(code !== null && isOwnCode(code) ? { ...fault, suspect: 'own_fault' } : fault);
  }

  #breakOff(fault: Fault): DialogueBroken {
    const broken = new DialogueBroken(fault);
    this.#broken ??= fault;
    this.#settle()?.reject(broken);
    this.#socket.destroy();
    return broken;
  }
}
