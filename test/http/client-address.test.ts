/** Who asks, as limits count them (decisions, Keys and limits). */
import fc from 'fast-check';
import t from 'tap';
import { createClientCounts, createClientReader, createPeerReader } from '../../src/http/client-address.ts';

t.test(
  'it believes X-Forwarded-For from trusted proxies only, and takes the right-most address that is none',
  (t) => {
    const table: readonly [string[], string | undefined, string | undefined, string][] = [
      [[], '203.0.113.1', undefined, '203.0.113.1'],
      [[], '203.0.113.1', '198.51.100.9', '203.0.113.1'],
      [[], '::ffff:203.0.113.1', '198.51.100.9', '203.0.113.1'],
      [['10.0.0.1'], '10.0.0.2', '198.51.100.9', '10.0.0.2'],
      [['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
      [['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
      [['10.0.0.1'], '10.0.0.1', '198.51.100.9', '198.51.100.9'],
      [['10.0.0.1'], '::ffff:10.0.0.1', '198.51.100.9', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 198.51.100.9, 10.9.9.9', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, garbage, 10.2.2.2', '10.2.2.2'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
      [['10.0.0.0/8'], '10.0.0.1', '198.51.100.9:4711', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '[2001:db8::7]:443', '2001:db8:0:0::/64'],
      [['2001:db8:9::/48'], '2001:db8:9::1', '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
      [[], '2001:db8:1:2:ffff:ffff:ffff:ffff', undefined, '2001:db8:1:2::/64'],
      [[], 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
      [[], undefined, '198.51.100.9', 'unknown'],
    ];
    for (const [trusted, remote, forwarded, client] of table) {
      t.equal(createClientReader(trusted)(remote, forwarded), client, `${trusted} ${remote} ${forwarded}`);
    }
    t.end();
  },
);

t.test('a connection is that of its address, or of nobody where a trusted proxy opened it', async (t) => {
  const table: readonly [string[], string | undefined, string | null][] = [
    [[], '203.0.113.1', '203.0.113.1'],
    [[], '::ffff:203.0.113.1', '203.0.113.1'],
    [[], '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    [[], undefined, 'unknown'],
    [['10.0.0.0/8'], '10.0.0.1', null],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', null],
    [['10.0.0.0/8'], '11.0.0.1', '11.0.0.1'],
    [['2001:db8:9::1'], '2001:db8:9::1', null],
    [['2001:db8:9::1'], '2001:db8:9::2', '2001:db8:9:0::/64'],
  ];
  for (const [trusted, address, client] of table)
    t.equal(createPeerReader(trusted)(address), client, `${trusted} ${address}`);
});

t.test('it ignores the addresses before the first untrusted hop', (t) => {
  const read = createClientReader(['10.0.0.0/8', 'fd00::/8']);
  fc.assert(
    fc.property(fc.string(), fc.ipV4(), (forged, real) => {
      fc.pre(!real.startsWith('10.'));
      return read('10.0.0.1', `${forged}, ${real}, 10.3.3.3`) === real;
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => typeof read('10.0.0.1', text) === 'string'));
  t.end();
});

t.test('it refuses a block that it cannot read', (t) => {
  t.throws(() => createClientReader(['10.0.0.0/33']));
  t.throws(() => createClientReader(['proxy.example']));
  t.end();
});

t.test('it counts what each client holds', async (t) => {
  const counts = createClientCounts();
  counts.add('a');
  counts.add('a');
  counts.add('b');
  t.same([counts.of('a'), counts.of('b'), counts.of('c')], [2, 1, 0]);
  counts.remove('a');
  counts.remove('b');
  t.same([counts.of('a'), counts.of('b')], [1, 0]);
});
