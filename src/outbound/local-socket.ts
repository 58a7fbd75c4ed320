/** One HTTP/1.1 request and its response at a socket of this machine, for checks. */
import { createConnection, type Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Timing } from '../domain/result.ts';
import type { Deadline } from './deadline.ts';
import { type Exchanged, type ExchangeOrder, exchange } from './exchange.ts';
import { connectFault, type Fault, targetFault, timeoutFault } from './fault.ts';
import { Inlet } from './inlet.ts';

/** The response, or the fault that prevented it. */
export interface SocketAnswer extends Pick<Exchanged, 'statusCode' | 'headers' | 'body' | 'overlong'> {
  readonly timing: Timing;
  readonly fault: Fault | null;
}

/** Sends the request to the socket at `path`. Resolves for every outcome. */
export async function askSocket(
  clock: Clock,
  path: string,
  order: ExchangeOrder,
  deadline: Deadline,
): Promise<SocketAnswer> {
  const startedAt = clock.monotonic();
  const inlet = new Inlet();
  const opened = await openSocket(path, inlet, deadline);
  const connectMs = clock.monotonic() - startedAt;
  const timing = { dnsMs: null, connectMs, tlsMs: null, firstByteMs: null, totalMs: null };
  if ('failure' in opened)
    return { statusCode: 0, headers: {}, body: null, overlong: false, timing, fault: opened };
  const { statusCode, headers, body, overlong, fault, firstByteMs, headersAt } = await exchange(
    clock,
    { socket: opened, inlet },
    order,
    deadline,
  );
  const totalMs = headersAt === null ? null : headersAt - startedAt;
  return { statusCode, headers, body, overlong, fault, timing: { ...timing, firstByteMs, totalMs } };
}

/** A socket that is not there, or that we may not use, says nothing of the container. */
function openSocket(path: string, inlet: Inlet, deadline: Deadline): Promise<Socket | Fault> {
  return new Promise((resolve) => {
    const socket = createConnection({ path, onread: inlet.onread });
    const settle = (result: Socket | Fault) => {
      deadline.interrupt = null;
      socket.removeAllListeners('error').on('error', () => {});
      if (result !== socket) socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => settle(socket));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(
        error.code === 'ECONNREFUSED'
          ? connectFault(error)
          : {
              ...targetFault('unreachable', 'connect', {
                code: 'socket_unusable',
                path,
                error: error.code ?? error.message,
              }),
              suspect: 'own_fault',
            },
      ),
    );
    deadline.interruptBy(() => settle(timeoutFault('connect', deadline.timeoutMs, true)));
  });
}
