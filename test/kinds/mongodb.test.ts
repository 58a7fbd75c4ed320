/** Checks of MongoDB against a double of the published wire protocol (OP_MSG, BSON): Debian has no package of the server. */

import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { readMembers } from '../../src/kinds/mongodb.ts';
import { openProbe } from '../probe/try-probe.ts';
import { makeCertificate } from '../support/certificates.ts';
import { listenOn, listenRaw } from '../support/loopback.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'mongodb', suspect: null, blocked: false };

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
const double = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};

/** A document of BSON. Whole numbers become doubles, as in the server's `ok`. */
function bson(members: Readonly<Record<string, string | number | boolean | object>>): Buffer {
  const parts = Object.entries(members).map(([name, value]) => {
    const member = (type: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([type]), Buffer.from(`${name}\0`), bytes]);
    if (typeof value === 'string')
      return member(2, Buffer.concat([int32(value.length + 1), Buffer.from(`${value}\0`)]));
    if (typeof value === 'number') return member(1, double(value));
    if (typeof value === 'boolean') return member(8, Buffer.from([value ? 1 : 0]));
    return member(3, bson({ ...value }));
  });
  const body = Buffer.concat([...parts, Buffer.from([0])]);
  return Buffer.concat([int32(body.length + 4), body]);
}

/** Answers each message by a document; `ask` notes what was asked. */
function answer(document: Buffer, asked: unknown[] = []) {
  return (socket: Socket) => {
    socket.on('data', (bytes) => {
      const [length, id, , operation] = [0, 4, 8, 12].map((at) => bytes.readInt32LE(at));
      asked.push([length === bytes.length, operation, readMembers(bytes.subarray(21))]);
      const body = Buffer.concat([int32(0), Buffer.from([0]), document]);
      socket.write(Buffer.concat([int32(body.length + 16), int32(9), int32(id ?? 0), int32(2013), body]));
    });
  };
}

t.test('it says hello, and judges what the member is', async (t) => {
  const probe = openProbe(t);
  const time = { topologyVersion: { counter: 6 }, maxBsonObjectSize: 16_777_216 };
  const rows = [
    [{ isWritablePrimary: true, ...time, ok: 1 }, GOOD],
    [{ isWritablePrimary: false, secondary: true, setName: 'rs0', ok: 1 }, GOOD],
    [{ isWritablePrimary: false, arbiterOnly: true, ok: 1 }, GOOD],
    [{ msg: 'isdbgrid', ok: 1 }, GOOD],
    [
      { isWritablePrimary: false, secondary: false, ok: 1 },
      {
        answered: true,
        failure: {
          class: 'content',
          detail: 'the member is neither primary nor secondary: it starts or recovers',
        },
      },
    ],
    [
      { ok: 0, errmsg: 'shutdown in progress', code: 91 },
      { failure: { class: 'content', detail: 'the server answers with an error: shutdown in progress' } },
    ],
  ] as const;
  for (const [members, expected] of rows) {
    const asked: unknown[] = [];
    const { port, close } = await listenRaw(answer(bson(members), asked));
    t.teardown(close);
    t.match(
      await probe(null, { check: { kind: 'mongodb', settings: { port } } }),
      expected,
      JSON.stringify(members),
    );
    t.same(asked, [
      [
        true,
        2013,
        new Map<string, unknown>([
          ['hello', 1],
          ['$db', 'admin'],
        ]),
      ],
    ]);
  }
});

t.test('it speaks TLS, and judges the certificate', async (t) => {
  const server = createTlsServer(
    makeCertificate({ names: ['127.0.0.1'] }),
    answer(bson({ isWritablePrimary: true, ok: 1 })),
  );
  const { port, close } = await listenOn(server);
  t.teardown(close);
  const settings = { port, security: 'tls' };
  t.match(await openProbe(t)(null, { check: { kind: 'mongodb', settings } }), {
    ...GOOD,
    certificateExpiresAt: Number,
  });
});

t.test('it reads no document that is damaged', async (t) => {
  const whole = bson({ ok: 1, name: 'a', inner: { b: 1 } });
  t.same(
    readMembers(whole),
    new Map<string, unknown>([
      ['ok', 1],
      ['name', 'a'],
    ]),
  );
  for (let length = 0; length < whole.length; length++) readMembers(whole.subarray(0, length));
  for (const at of whole.keys()) {
    const bytes = Buffer.from(whole);
    for (const value of [0, 0x7f, 0xff]) {
      bytes[at] = value;
      t.doesNotThrow(() => readMembers(bytes));
    }
  }
  t.equal(readMembers(Buffer.alloc(0)), null);
});
