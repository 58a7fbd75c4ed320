/** A site that redirects, and notes what it was asked. */
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { listenRaw } from '../support/loopback.ts';

/** A request as the server saw it, one character for each byte. */
export interface Seen {
  readonly line: string;
  readonly cookie: string | null;
  readonly authorization: string | null;
  readonly body: string;
}

/** Serves what `answer` returns for each request, bytes as Latin-1. */
export async function serve(t: Test, answer: (seen: Seen, port: number) => string) {
  const seen: Seen[] = [];
  const { port, close } = await listenRaw((socket: Socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
      if (end === -1 || text.length < end + 4 + length) return;
      const request = {
        line: text.slice(0, text.indexOf(' HTTP/1.1')),
        cookie: /^cookie: (.*)\r$/im.exec(text)?.[1] ?? null,
        authorization: /^authorization: (.*)\r$/im.exec(text)?.[1] ?? null,
        body: text.slice(end + 4),
      };
      seen.push(request);
      socket.end(answer(request, port), 'latin1');
    });
  });
  t.teardown(close);
  return { port, seen, lines: () => seen.map(({ line }) => line) };
}

export const redirect = (location: string, more: readonly string[] = [], status = 302) =>
  [`HTTP/1.1 ${status} Found`, `location: ${location}`, ...more, 'content-length: 0', '', ''].join('\r\n');
