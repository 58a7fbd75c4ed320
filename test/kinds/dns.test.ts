/** `dns` checks against name servers on loopback, hostile ones included. */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { type Answer, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet';
import t, { type Test } from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { judgeRecords } from '../../src/kinds/dns.ts';
import { portOf, validateSettings } from '../../src/kinds/settings.ts';
import type { RecordType } from '../../src/outbound/name-message.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { until } from '../support/loopback.ts';
import { bindBoth } from '../support/name-server.ts';

const NAME = 'shop.example.org';

/** What a server says to a query: datagrams, or nothing; `tcp` to those that come by TCP. */
interface Script {
  readonly udp?: (id: number, query: Buffer, fromPort: number) => readonly Buffer[];
  readonly tcp?: (socket: Socket, id: number) => void;
}

const message = (id: number, type: RecordType, answers: readonly object[], change: Partial<Packet> = {}) =>
  encode({
    type: 'response',
    id,
    questions: [{ name: NAME, type, class: 'IN' }],
    answers: answers.map((data) => ({ type, name: NAME, ttl: 60, ...data }) as Answer),
    ...change,
  });

const REFUSED = 5;
const SERVFAIL = 2;
const NXDOMAIN = 3;

async function serve(t: Test, { udp = () => [], tcp }: Script) {
  const { udp: socket, tcp: server } = await bindBoth(0);
  const { port } = socket.address();
  server.on('connection', (connection) => {
    connection.on('error', () => {});
    connection.once('data', (bytes: Buffer) => tcp?.(connection, bytes.readUInt16BE(2)));
  });
  let queries = 0;
  socket.on('message', (query, from) => {
    queries++;
    for (const packet of udp(query.readUInt16BE(0), query, from.port))
      socket.send(packet, from.port, from.address);
  });
  const open = new Set<Socket>();
  server.on('connection', (one) => {
    open.add(one);
    one.on('close', () => open.delete(one));
  });
  t.teardown(() => {
    for (const one of open) one.destroy();
    server.close();
    socket.close();
  });
  return { port, queries: () => queries, open: () => open.size };
}

const checkOf = (port: number, settings: CheckSettings = {}) =>
  ({ kind: 'dns', settings: { server: '127.0.0.1', port, ...settings } }) as const;
const answerBy = (type: RecordType, answers: readonly object[]): Script => ({
  udp: (id) => [message(id, type, answers)],
});
/** A reply that is cut within its second record. */
const CUT: Script = {
  udp: (id) => [
    message(id, 'TXT', [{ data: ['one'] }, { data: ['two'] }], { flags: TRUNCATED_RESPONSE }).subarray(0, -2),
  ],
};
const MX = answerBy('MX', [{ data: { preference: 10, exchange: 'Mail.Example.org' } }]);
const withLength = (packet: Buffer) =>
  Buffer.concat([Buffer.of(packet.length >> 8, packet.length & 0xff), packet]);
/** A reply whose only record has a name that points to itself. */
function looped(id: number): Buffer {
  const packet = message(id, 'CNAME', [{ data: 'a.example.org' }]);
  const at = packet.length - 'a.example.org'.length - 2;
  packet.writeUInt16BE(0xc000 | at, at);
  return packet;
}

const SLOW: Trial = { timeoutMs: 300 };
const GOOD = { answered: true, failure: null, statusCode: 0, via: 'dns', suspect: null };
const failed = (kind: string, phase: string, detail: string) => ({
  failure: { class: kind, phase, detail },
});

const ROWS: readonly (readonly [string, Script, CheckSettings, object, Trial?])[] = [
  ['an address', answerBy('A', [{ data: '192.0.2.1' }]), {}, GOOD],
  [
    'addresses of IPv6 in another form',
    answerBy('AAAA', [{ data: '2001:db8::1' }]),
    { record: 'AAAA', values: ['2001:0db8:0:0:0:0:0:1'], exact: true },
    GOOD,
  ],
  ['a mail server', MX, { record: 'MX', values: ['10 mail.example.org.'] }, GOOD],
  ['a mail server by its name', MX, { record: 'MX', values: ['mail.example.ORG'] }, GOOD],
  [
    'another mail server',
    MX,
    { record: 'MX', values: ['10 other.example.org'] },
    { answered: true, ...failed('content', 'body', 'no MX record is 10 other.example.org') },
  ],
  [
    'a record too many',
    answerBy('A', [{ data: '192.0.2.1' }, { data: '192.0.2.2' }]),
    { values: ['192.0.2.1'], exact: true },
    failed('content', 'body', 'there is an A record that is not expected'),
  ],
  [
    'a service',
    answerBy('SRV', [{ data: { priority: 0, weight: 5, port: 5060, target: 'sip.example.org' } }]),
    { record: 'SRV', values: ['0 5 5060 sip.example.org'] },
    GOOD,
  ],
  [
    'an authority',
    answerBy('CAA', [{ data: { flags: 0, tag: 'issue', value: 'ca.example' } }]),
    { record: 'CAA', values: ['0 issue "ca.example"'] },
    GOOD,
  ],
  [
    'a zone',
    answerBy('SOA', [{ data: { mname: 'ns1.example.org', rname: 'host.example.org', serial: 7 } }]),
    { record: 'SOA', values: ['ns1.example.org host.example.org'] },
    GOOD,
  ],
  ['another name', answerBy('CNAME', [{ data: 'edge.example.net' }]), { record: 'CNAME' }, GOOD],
  ['a pointer', answerBy('PTR', [{ data: 'a.example' }]), { record: 'PTR', values: ['a.example'] }, GOOD],
  ['no record', answerBy('A', []), {}, failed('content', 'body', 'the name has no A record')],
  [
    'no such name',
    { udp: (id) => [message(id, 'A', [], { flags: NXDOMAIN })] },
    {},
    { answered: true, ...failed('content', 'body', 'the name does not exist') },
  ],
  [
    'REFUSED',
    { udp: (id) => [message(id, 'A', [], { flags: REFUSED })] },
    {},
    { answered: true, ...failed('dns', 'first_byte', 'the name server refuses to answer (REFUSED)') },
  ],
  [
    'SERVFAIL',
    { udp: (id) => [message(id, 'A', [], { flags: SERVFAIL })] },
    {},
    { answered: true, ...failed('dns', 'first_byte', 'the name server fails (SERVFAIL)') },
  ],
  [
    'a truncated reply, and the whole one by TCP',
    {
      udp: (id) => [message(id, 'TXT', [], { flags: TRUNCATED_RESPONSE })],
      tcp: (socket, id) => {
        const bytes = withLength(message(id, 'TXT', [{ data: ['v=', 'x'.repeat(200)] }]));
        socket.write(bytes.subarray(0, 1));
        setImmediate(() => socket.write(bytes.subarray(1)));
      },
    },
    { record: 'TXT', values: [`v=${'x'.repeat(200)}`] },
    GOOD,
  ],
  [
    'TCP with another id',
    {
      udp: (id) => [message(id, 'A', [], { flags: TRUNCATED_RESPONSE })],
      tcp: (socket, id) => socket.write(withLength(message(id ^ 1, 'A', [{ data: '192.0.2.1' }]))),
    },
    {},
    {
      answered: true,
      ...failed(
        'dns',
        'first_byte',
        'the name server truncates its reply and does not send the rest over TCP',
      ),
    },
    SLOW,
  ],
  [
    'TCP that announces more than it sends',
    {
      udp: (id) => [message(id, 'A', [], { flags: TRUNCATED_RESPONSE })],
      tcp: (socket) => socket.write(Buffer.of(0xff, 0xff, 1, 2, 3)),
    },
    {},
    {
      answered: true,
      ...failed(
        'dns',
        'first_byte',
        'the name server truncates its reply and does not send the rest over TCP',
      ),
    },
    SLOW,
  ],
  [
    'a value in a truncated reply',
    { ...CUT, tcp: (socket) => socket.destroy() },
    { record: 'TXT', values: ['one'], exact: true },
    GOOD,
  ],
  [
    'a value that may stand in the rest of one',
    { ...CUT, tcp: (socket) => socket.destroy() },
    { record: 'TXT', values: ['one', 'two'] },
    {
      answered: true,
      ...failed(
        'dns',
        'first_byte',
        'the name server truncates its reply and does not send the rest over TCP',
      ),
    },
  ],
  [
    'wrong ids before the right one',
    { udp: (id) => [1, 2, 0].map((by) => message(id ^ by, 'A', [{ data: `192.0.2.${by}` }])) },
    { values: ['192.0.2.0'] },
    GOOD,
  ],
  [
    'a reply to another question',
    {
      udp: (id) => [
        message(id, 'A', [{ data: '192.0.2.1' }], { questions: [{ name: 'other.example.org', type: 'A' }] }),
      ],
    },
    {},
    { answered: false, ...failed('timeout', 'first_byte', 'no answer within 300 ms') },
    SLOW,
  ],
  [
    'a loop of names',
    { udp: (id) => [looped(id)] },
    { record: 'CNAME' },
    failed('timeout', 'first_byte', 'no answer within 300 ms'),
    SLOW,
  ],
  [
    'a reply that is cut off',
    { udp: (id) => [message(id, 'TXT', [{ data: ['whole'] }]).subarray(0, -3)] },
    { record: 'TXT' },
    failed('timeout', 'first_byte', 'no answer within 300 ms'),
    SLOW,
  ],
  [
    'silence',
    {},
    {},
    { answered: false, ...failed('timeout', 'first_byte', 'no answer within 300 ms') },
    SLOW,
  ],
];

t.test('a dns check judges what the name server says', { jobs: 4 }, async (t) => {
  for (const [name, script, settings, expected, trial] of ROWS)
    t.test(name, { buffered: true }, async (t) => {
      const probe = openProbe(t);
      const { port, open } = await serve(t, script);
      const attempt = await probe(null, { domain: NAME, check: checkOf(port, settings), ...trial });
      t.match(attempt, expected);
      const { firstByteMs, totalMs } = attempt.timing;
      if (attempt.failure === null) t.ok(firstByteMs !== null && totalMs !== null);
      await until(() => open() === 0);
    });
});

t.test('it asks for the name that the owner means, and again until there is an answer', async (t) => {
  const probe = openProbe(t);
  const asked: Buffer[] = [];
  const { port, queries } = await serve(t, {
    udp(id, query) {
      asked.push(query);
      if (asked.length < 2) return [];
      const questions = [{ name: `_dmarc.${NAME}`, type: 'TXT', class: 'IN' } as const];
      return [message(id, 'TXT', [{ data: ['v=DMARC1'] }], { questions })];
    },
  });
  const check = checkOf(port, { record: 'TXT', prefix: '_dmarc', values: ['"v=DMARC1"'] });
  t.match(await probe(null, { domain: NAME, check }), { failure: null });
  t.equal(queries(), 2);
  t.ok(asked[0]?.includes('_dmarc'), 'the labels stand in front of the domain');
});

t.test('a reply from another address counts for nothing', async (t) => {
  const probe = openProbe(t);
  const other = createSocket('udp4');
  t.teardown(() => other.close());
  const { port, queries } = await serve(t, {
    udp(id, _query, from) {
      other.send(message(id, 'A', [{ data: '192.0.2.1' }]), from);
      return [];
    },
  });
  t.match(await probe(null, { domain: NAME, check: checkOf(port), ...SLOW }), {
    answered: false,
    failure: { class: 'timeout' },
  });
  t.equal(queries(), 1);
});

t.test("the system's name servers are asked without a server, and their faults are ours", async (t) => {
  const { port } = await serve(t, answerBy('NS', [{ data: 'ns1.example.org' }]));
  const check = { kind: 'dns', settings: { record: 'NS', values: ['ns1.example.org'] } } as const;
  const probe = openProbe(t, { nameservers: [`127.0.0.1:${port}`] });
  t.match(await probe(null, { domain: NAME, check, origin: 'owner' }), GOOD);
  const refusing = await serve(t, { udp: (id) => [message(id, 'NS', [], { flags: REFUSED })] });
  const refused = openProbe(t, { nameservers: [`127.0.0.1:${refusing.port}`] });
  t.match(await refused(null, { domain: NAME, check }), { answered: false, suspect: 'own_fault' });
  const cutting = await serve(t, { ...CUT, tcp: (socket) => socket.destroy() });
  const cut = openProbe(t, { nameservers: [`127.0.0.1:${cutting.port}`] });
  const wanted = (values: readonly string[]) =>
    cut(null, { domain: NAME, check: { kind: 'dns', settings: { record: 'TXT', values } } });
  t.match(await wanted(['one']), GOOD);
  t.match(await wanted(['two']), {
    answered: false,
    suspect: 'own_fault',
    failure: { cause: { code: 'own_name_server_truncates' } },
  });
  const missing = await serve(t, { udp: (id) => [message(id, 'NS', [], { flags: NXDOMAIN })] });
  const offline = openProbe(t, { nameservers: [`127.0.0.1:${missing.port}`] });
  t.match(await offline(null, { domain: NAME, check }), {
    answered: false,
    suspect: null,
    failure: { cause: { code: 'name_not_found' } },
  });
  const { port: silentPort } = await serve(t, {});
  const silent = openProbe(t, { nameservers: [`127.0.0.1:${silentPort}`] });
  t.match(await silent(null, { domain: NAME, check, timeoutMs: 200 }), {
    answered: false,
    suspect: 'own_fault',
    failure: { class: 'timeout', phase: 'dns' },
  });
});

t.test('the guard judges the address of a name server, and port 53 is open to owners', async (t) => {
  const hostsFile = `${t.testdir({ hosts: '127.0.0.1 inside.demo.test\n' })}/hosts`;
  const { port, queries } = await serve(t, MX);
  const probe = openProbe(t, { hostsFile, allowPrivate: [] });
  const attempt = (server: string, at = port) =>
    probe(null, { domain: NAME, origin: 'owner', check: checkOf(at, { server }) });
  const forbidden = (detail: string) => ({
    answered: false,
    ...failed('forbidden_address', 'connect', detail),
  });
  t.match(await attempt('127.0.0.1'), forbidden('127.0.0.1 is not public (loopback)'));
  t.match(await attempt('inside.demo.test'), forbidden('the name leads to an address that is not public'));
  t.match(await attempt('9.9.9.9', 5353), forbidden('port 5353 may not be probed'));
  t.equal(queries(), 0);
  t.equal(portOf('dns', { server: '9.9.9.9' }), null, 'no entry in checks.ports is needed');
  t.equal(portOf('dns', { server: '9.9.9.9', port: 5353 }), 5353);
});

t.test('it refuses settings that do not go together', async (t) => {
  const rows: readonly (readonly [CheckSettings, setting: string, code: string])[] = [
    [{ port: 5353 }, 'server', 'missing'],
    [{ exact: true }, 'values', 'missing'],
    [{ values: ['2001:db8::1'] }, 'values', 'format'],
    [{ record: 'AAAA', values: ['192.0.2.1'] }, 'values', 'format'],
    [{ record: 'ANY' }, 'record', 'choice'],
    [{ prefix: '.a' }, 'prefix', 'format'],
    [{ server: 'localhost' }, 'server', 'format'],
    [{ server: 'https://a.example' }, 'server', 'format'],
  ];
  for (const [settings, setting, code] of rows)
    t.match(
      validateSettings('dns', settings),
      { ok: false, wrong: [{ setting, problem: { code } }] },
      JSON.stringify(settings),
    );
});

t.test('values are compared in one form', async (t) => {
  const rows: readonly (readonly [RecordType, found: string, wanted: string, good: boolean])[] = [
    ['CNAME', 'Edge.Example.', 'edge.example', true],
    ['PTR', 'a.example', 'b.example', false],
    ['SRV', '0 5 5060 sip.example', '0  5 5060 SIP.example.', true],
    ['SRV', '0 5 5060 sip.example', 'sip.example', true],
    ['CAA', '0 issue ca.example', '0 issue "ca.example"', true],
    ['CAA', '0 issue ca.example', '128 issue "ca.example"', false],
    ['SOA', 'ns1.example host.example', 'ns1.example. host.example.', true],
    ['TXT', 'v=spf1 -all', '"v=spf1 -all"', true],
    ['TXT', 'v=spf1 -all', 'V=spf1 -all', false],
  ];
  for (const [record, found, wanted, good] of rows) {
    const failure = judgeRecords(record, [{ text: found, ttl: 60 }], [wanted], true);
    t.equal(failure === null, good, `${record} ${wanted}`);
  }
});
