/** A hostile server that Node.js 24 answers with an abort of the process, unless the session is held (`grpc.ts`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { listenRaw } from '../support/loopback.ts';

const CALLS = 2_000;
/** Small, so that many collections of garbage come between the end of a session and that of its streams. */
const HEAP = '--max-semi-space-size=1';

/** A frame of HTTP/2, of stream 1 unless it is the settings. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Settings, headers with status 200, and trailers with 200 fields, of which Node.js takes 128. */
const ANSWER = Buffer.concat([
  frame(4, 0, 0),
  frame(1, 4, 1, Buffer.from([0x88])),
  frame(
    1,
    5,
    1,
    Buffer.concat(Array.from({ length: 200 }, (_, n) => Buffer.from([0, 2, 120, 48 + (n % 10), 1, 118]))),
  ),
]);

t.test('a server that sends more fields than Node.js takes does not end the program', async (t) => {
  const server = await listenRaw((socket) => void socket.once('data', () => socket.write(ANSWER)));
  t.teardown(() => server.close());
  const caller = join(import.meta.dirname, 'grpc-caller.ts');
  const child = spawn(process.execPath, [HEAP, caller, String(server.port), String(CALLS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, ended] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  t.same(ended, [0, null], 'it was not aborted');
  t.same(JSON.parse(output || 'null'), { ends: { http2_reset: CALLS }, held: true });
});
