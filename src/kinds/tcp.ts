/** Kind `tcp`: a connection to a port, and what the server says first. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { failureOf } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { Type } from '../json-schema.ts';
import type { Deadline } from '../outbound/deadline.ts';
import { timeoutFault } from '../outbound/fault.ts';
import { attemptOf, defineKind, PortSetting } from './check-kind.ts';
import { connect, timingOf } from './connect.ts';

/** Maximum number of bytes of a greeting that are searched. */
const MAX_GREETING_BYTES = 4096;

export const tcpCheck = defineKind({
  settings: Type.Object({
    port: PortSetting,
    banner: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  }),
  prepare:
    (tools) =>
    async (run, { port, banner }) => {
      const { clock } = tools;
      const url = `http://${hostInUrl(run.target.domain)}:${port}/`;
      const connected = await connect(tools, run, 'tcp', { url, protocols: [] });
      if ('attempt' in connected) return connected.attempt;
      const { socket, phases, startedAt } = connected;
      const found = { answered: true, fault: null, failure: null, lostMs: run.deadline.lostMs };
      if (banner === undefined) {
        const timing = timingOf(phases, clock.monotonic() - startedAt);
        socket.destroy();
        return attemptOf(run, 'tcp', { ...found, timing });
      }
      const greeting = createGreeting(banner);
      const { end, firstByteMs, endedAt } = await hearOut(clock, socket, run.deadline, greeting.take);
      phases.firstByteMs = firstByteMs;
      const timing = timingOf(phases, firstByteMs === null ? null : endedAt - startedAt);
      const finding = { ...found, timing, lostMs: run.deadline.lostMs };
      if (greeting.found()) return attemptOf(run, 'tcp', finding);
      if (end === 'timeout') {
        const phase = firstByteMs === null ? 'first_byte' : 'body';
        return attemptOf(run, 'tcp', {
          ...finding,
          answered: firstByteMs !== null,
          fault: timeoutFault(phase, run.deadline.timeoutMs, false),
        });
      }
      const failure = failureOf(
        'content',
        'body',
        end === 'taken'
          ? { code: 'greeting_too_long', text: banner, maxBytes: MAX_GREETING_BYTES }
          : { code: 'greeting_missing', text: banner },
      );
      return attemptOf(run, 'tcp', { ...finding, failure });
    },
});

/** Collects a greeting until it contains `wanted` or is too long. Bytes are compared as UTF-8. */
function createGreeting(wanted: string) {
  const needle = Buffer.from(wanted);
  const received = Buffer.alloc(MAX_GREETING_BYTES);
  let length = 0;
  const found = () => received.subarray(0, length).includes(needle);
  return {
    found,
    /** Takes a chunk; returns whether reading ends. */
    take(chunk: Buffer): boolean {
      length += chunk.copy(received, length);
      return found() || length === MAX_GREETING_BYTES;
    },
  };
}

interface Conversation {
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
function hearOut(
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
    if (!deadline.interruptBy(() => settle('timeout'))) return;
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
