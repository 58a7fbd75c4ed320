import { isIP } from 'node:net';
import { type Answer, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet';
import fc from 'fast-check';
import t from 'tap';
import {
  decodeReply,
  encodeQuery,
  isQueryableName,
  normalRecordText,
  type RecordType,
} from '../../src/outbound/name-message.ts';
import { propertyRuns } from '../support/property-runs.ts';

const QUERY = { name: 'shop.example', type: 'A' } as const;
const reply = (answers: readonly Answer[], change: Partial<Packet> = {}) =>
  encode({
    type: 'response',
    id: 7,
    questions: [{ name: 'Shop.Example', type: 'A', class: 'IN' }],
    answers: [...answers],
    ...change,
  });
const a = (data: string, name = 'shop.example'): Answer => ({ type: 'A', name, ttl: 60, data });

t.test('it reads the records of the type that was asked for', async (t) => {
  const answers: Answer[] = [
    { type: 'CNAME', name: 'shop.example', ttl: 5, data: 'edge.example' },
    a('192.0.2.1', 'edge.example'),
    { type: 'AAAA', name: 'edge.example', ttl: 60, data: '2001:db8::1' },
    a('192.0.2.2', 'edge.example'),
  ];
  t.same(decodeReply(reply(answers), QUERY), {
    code: 'NOERROR',
    truncated: false,
    records: [
      { text: '192.0.2.1', ttl: 60 },
      { text: '192.0.2.2', ttl: 60 },
    ],
  });
  const texts = reply([{ type: 'TXT', name: 'shop.example', ttl: 60, data: ['one ', 'two'] }], {
    questions: [{ name: 'shop.example', type: 'TXT' }],
  });
  t.match(decodeReply(texts, { ...QUERY, type: 'TXT' }), { records: [{ text: 'one two' }] });
});

t.test('it reads the records before the end of a truncated reply', async (t) => {
  const whole = reply([a('192.0.2.1'), a('192.0.2.2'), a('192.0.2.3')], { flags: TRUNCATED_RESPONSE });
  const questionEnd = whole.indexOf(0, 12) + 5;
  const recordBytes = (whole.length - questionEnd) / 3;
  for (let length = 12; length <= whole.length; length++) {
    const count = Math.max(0, Math.floor((length - questionEnd) / recordBytes));
    const found = decodeReply(whole.subarray(0, length), QUERY);
    t.match(found, { code: 'NOERROR', truncated: true }, `${length} bytes`);
    t.equal(found?.records.length, count, `${length} bytes`);
  }
  t.equal(
    decodeReply(reply([a('192.0.2.1')]).subarray(0, -1), QUERY),
    null,
    'one that is not truncated is ignored',
  );
});

t.test('it takes no reply to another question for one', async (t) => {
  const message = reply([a('192.0.2.1')]);
  t.equal(decodeReply(message, { ...QUERY, name: 'other.example' }), null);
  t.equal(decodeReply(message, { ...QUERY, type: 'AAAA' }), null);
  t.equal(decodeReply(encodeQuery(7, QUERY, true), QUERY), null);
  t.equal(decodeReply(reply([], { questions: [] }), QUERY), null);
  t.equal(decodeReply(Buffer.alloc(0), QUERY), null);
});

t.test('it reads whatever comes without a fault, and takes nothing for an address that is none', async () => {
  const message = reply([a('192.0.2.1'), a('192.0.2.2')]);
  const mutated = fc
    .array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 8 })
    .chain((changes) => fc.nat(message.length).map((length) => ({ changes, length })))
    .map(({ changes, length }) => {
      const copy = Buffer.from(message);
      for (const [at, value] of changes) copy[at] = value;
      return copy.subarray(0, length);
    });
  const garbage = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(mutated, garbage), (packet) => {
      const { records = [] } = decodeReply(packet, QUERY) ?? {};
      return records.every(({ text }) => isIP(text) === 4);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

t.test('it reads replies of every type whatever has become of them', async (t) => {
  const data = { type: 'SRV', name: 'shop.example', ttl: 60 } as const;
  const whole: readonly (readonly [RecordType, Answer, text: string])[] = [
    ['CNAME', { ...data, type: 'CNAME', data: 'edge.example' }, 'edge.example'],
    ['MX', { ...data, type: 'MX', data: { preference: 5, exchange: 'mail.example' } }, '5 mail.example'],
    [
      'SRV',
      { ...data, data: { priority: 1, weight: 2, port: 3, target: 'sip.example' } },
      '1 2 3 sip.example',
    ],
    [
      'CAA',
      { ...data, type: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.example' } },
      '0 issue ca.example',
    ],
    [
      'SOA',
      { ...data, type: 'SOA', data: { mname: 'ns.example', rname: 'a.example' } },
      'ns.example a.example',
    ],
    ['TXT', { ...data, type: 'TXT', data: ['one', 'two'] }, 'onetwo'],
  ];
  for (const [type, answer, text] of whole) {
    const query = { name: 'shop.example', type };
    const message = reply([answer], { questions: [{ name: 'shop.example', type, class: 'IN' }] });
    t.match(decodeReply(message, query), { code: 'NOERROR', records: [{ text }] }, type);
    const changes = fc.array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 6 });
    fc.assert(
      fc.property(changes, fc.nat(message.length), (list, length) => {
        const copy = Buffer.from(message);
        for (const [at, value] of list) copy[at] = value;
        const { records = [] } = decodeReply(copy.subarray(0, length), query) ?? {};
        return records.every((one) => typeof normalRecordText(type, one.text) === 'string');
      }),
      { numRuns: propertyRuns(100) },
    );
  }
});

t.test('it writes only names that can be asked for', async (t) => {
  for (const name of ['a.example', 'a.example.', '_acme.a.example', 'xn--bcher-kva.example', 'localhost'])
    t.equal(isQueryableName(name), true, name);
  for (const name of ['', '.', '.a', 'a..b', 'a..', `${'a'.repeat(64)}.b`, `${'abc.'.repeat(63)}abcd`])
    t.equal(isQueryableName(name), false, name);
});

t.test('a few bytes that count thousands of records are refused at once', async (t) => {
  for (const section of [4, 6, 8, 10]) {
    const packet = Buffer.from(reply([a('192.0.2.1')]));
    t.not(decodeReply(packet, QUERY), null);
    packet.writeUInt16BE(packet.readUInt16BE(section) + 3, section);
    t.equal(decodeReply(packet, QUERY), null);
  }
  // Found by fuzzing: 47 bytes that took a quarter of a second.
  const hostile =
    '000701000000000000473686f70076578616d706c650000100001c3800c001000010000003c0009046f6e65200374776f';
  const started = performance.now();
  for (let times = 0; times < 300; times++) decodeReply(Buffer.from(hostile, 'hex'), QUERY);
  t.ok(performance.now() - started < 15_000);
});
