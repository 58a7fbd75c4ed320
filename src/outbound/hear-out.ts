/** Reads what the other side of an open connection says until the caller has enough, for checks that are not HTTP. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Deadline } from './deadline.ts';

/** The end of a conversation. */
export interface Conversation {
  /** `taken`: the caller had enough. `closed`: the connection ended before. `timeout`: the deadline ended, or an abort. */
  readonly end: 'taken' | 'closed' | 'timeout';
  /** System code of the error that ended the connection; null: the other side closed it, or it did not end. */
  readonly errorCode: string | null;
  /** Milliseconds from the start to the first byte; null: none arrived. */
  readonly firstByteMs: number | null;
  /** The time at which it ended, monotonic milliseconds. */
  readonly endedAt: number;
}

/**
 * Passes each chunk that the other side sends to `take`, until it returns true. The socket is closed afterwards, whatever the end.
 * Never rejects.
 */
export function hearOut(
  clock: Clock,
  socket: Socket,
  deadline: Deadline,
  take: (chunk: Buffer) => boolean,
): Promise<Conversation> {
  return new Promise((resolve) => {
    const openedAt = clock.monotonic();
    let firstByteMs: number | null = null;
    let settled = false;
    const settle = (end: Conversation['end'], errorCode: string | null = null) => {
      if (settled) return;
      settled = true;
      deadline.interrupt = null;
      socket.on('close', dropListeners);
      socket.destroy();
      resolve({ end, errorCode, firstByteMs, endedAt: clock.monotonic() });
    };
    const interrupt = () => settle('timeout');
    if (deadline.over !== null) {
      interrupt();
      return;
    }
    deadline.interrupt = interrupt;
    socket.on('error', (error: NodeJS.ErrnoException) => settle('closed', error.code ?? 'unknown error'));
    socket.on('end', () => settle('closed'));
    socket.on('close', () => settle('closed'));
    if (socket.destroyed) {
      settle('closed');
      return;
    }
    socket.on('data', (chunk: Buffer) => {
      if (settled) return;
      deadline.step();
      firstByteMs ??= clock.monotonic() - openedAt;
      if (take(chunk)) settle('taken');
    });
  });
}

/** A closed socket stays in memory until the next full garbage collection; what its listeners reference need not. */
function dropListeners(this: Socket): void {
  this.removeAllListeners();
}
