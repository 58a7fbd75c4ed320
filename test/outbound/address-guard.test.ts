import fc from 'fast-check';
import t from 'tap';
import { describeCause } from '../../src/domain/failure.ts';
import { PRIVATE_RANGES } from '../../src/domain/special-address.ts';
import {
  type AddressGuard,
  createAddressGuard,
  openGuard,
  ownerPolicy,
  readDestination,
} from '../../src/outbound/address-guard.ts';
import { USUAL_REACH } from '../support/destinations.ts';

/** Why the guard refuses an address, in English; null: it does not. */
const judge = (guard: AddressGuard, address: string, port: number) => {
  const cause = guard.judge(address, port);
  return cause === null ? null : describeCause({ cause });
};

const strict = createAddressGuard({ allowPrivate: [], ports: [80, 443] });

t.test('it accepts public addresses on the allowed ports alone', async (t) => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '198.17.255.255',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    // Translated to a public IPv4 address.
    '64:ff9b::808:808',
    '2002:808:808::1',
    '::ffff:8.8.8.8',
  ]) {
    t.equal(judge(strict, address, 443), null, address);
    t.equal(judge(strict, address, 80), null, address);
    t.match(judge(strict, address, 22), 'port 22 may not be probed', address);
  }
});

const PRIVATE = ['private', 'shared', 'unique-local'];
/** Guards of trusted accounts, by default and with every range that the operator can add. */
const trusted = createAddressGuard(ownerPolicy({ ...USUAL_REACH, trustedPrivate: PRIVATE }, true));
const widest = createAddressGuard(
  ownerPolicy({ ...USUAL_REACH, trustedPrivate: Object.keys(PRIVATE_RANGES) }, true),
);
/** One whose operator has opened everything. */
const open = createAddressGuard({ allowPrivate: ['0.0.0.0/0', '::/0'], ports: null });

t.test(
  'it refuses every address that is not public, but to trusted accounts what the operator opens',
  async (t) => {
    /** `reach`: who reaches it, trusted accounts by default, with all ranges, or nobody however much is open. */
    const refused: readonly (readonly [
      address: string,
      why: string,
      reach?: 'trusted' | 'widest' | 'nobody',
    ])[] = [
      ['0.0.0.0', 'this network'],
      ['0.1.2.3', 'this network'],
      ['10.0.0.1', 'private', 'trusted'],
      ['10.255.255.255', 'private', 'trusted'],
      ['100.64.0.1', 'shared by carriers', 'trusted'],
      ['100.127.255.255', 'shared by carriers', 'trusted'],
      ['100.100.100.200', 'cloud metadata', 'nobody'],
      ['127.0.0.1', 'loopback', 'widest'],
      ['127.255.255.254', 'loopback', 'widest'],
      ['168.63.129.16', 'cloud metadata', 'nobody'],
      ['169.254.0.1', 'link-local', 'widest'],
      ['169.254.169.254', 'cloud metadata', 'nobody'],
      ['169.254.170.2', 'cloud metadata', 'nobody'],
      ['172.16.0.1', 'private', 'trusted'],
      ['172.31.255.255', 'private', 'trusted'],
      ['192.0.0.1', 'protocol assignments'],
      ['192.0.0.192', 'cloud metadata', 'nobody'],
      ['192.0.2.1', 'documentation'],
      ['192.88.99.1', '6to4 relay'],
      ['192.168.1.1', 'private', 'trusted'],
      ['198.18.0.1', 'benchmarks'],
      ['198.19.255.255', 'benchmarks'],
      ['198.51.100.1', 'documentation'],
      ['203.0.113.1', 'documentation'],
      ['224.0.0.1', 'multicast'],
      ['239.255.255.255', 'multicast'],
      ['240.0.0.1', 'reserved'],
      ['255.255.255.255', 'reserved'],
      ['::', 'reserved'],
      ['::1', 'loopback', 'widest'],
      ['fe80::1', 'link-local', 'widest'],
      ['fc00::1', 'private', 'trusted'],
      ['fd00:ec2::254', 'cloud metadata', 'nobody'],
      ['fd12:3456::1', 'private', 'trusted'],
      ['fec0::1', 'reserved'],
      ['ff02::1', 'multicast'],
      ['100::1', 'reserved'],
      ['2001:db8::1', 'documentation'],
      ['3fff::1', 'documentation'],
      ['2001::1', 'Teredo'],
      ['2001:10::1', 'protocol assignments'],
      ['5f00::1', 'reserved'],
      // IPv4 in the forms of IPv6: mapped, compatible, translated, NAT64 both ways, 6to4, Teredo, ISATAP.
      ['::ffff:127.0.0.1', 'loopback', 'widest'],
      ['::ffff:a9fe:a9fe', 'cloud metadata', 'nobody'],
      ['::127.0.0.1', 'reserved'],
      ['::8.8.8.8', 'reserved'],
      ['::ffff:0:127.0.0.1', 'reserved'],
      ['64:ff9b::10.0.0.1', 'private inside IPv6'],
      ['64:ff9b::a9fe:a9fe', 'cloud metadata inside IPv6', 'nobody'],
      ['64:ff9b:1::808:808', 'reserved'],
      ['2002:7f00:1::', 'loopback inside IPv6'],
      ['2002:c0a8:101::1', 'private inside IPv6'],
      ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
      ['2606:4700::5efe:10.0.0.1', 'private inside IPv6'],
      ['2606:4700::200:5efe:a00:1', 'private inside IPv6'],
      ['::ffff:192.168.1.1', 'private', 'trusted'],
      ['::ffff:a00:1', 'private', 'trusted'],
      ['fd00:ec2::23', 'cloud metadata', 'nobody'],
      ['169.254.170.23', 'cloud metadata', 'nobody'],
      ['64:ff9b:1::a9fe:a9fe', 'cloud metadata inside IPv6', 'nobody'],
      ['fd64::a9fe:a9fe', 'cloud metadata inside IPv6', 'nobody'],
      ['fe80::a9fe:a9fe', 'cloud metadata inside IPv6', 'nobody'],
      ['::a9fe:a9fe', 'cloud metadata inside IPv6', 'nobody'],
      ['2002:a9fe:a9fe::1', 'cloud metadata inside IPv6', 'nobody'],
      ['2001:0:4136:e378:8000:63bf:5601:5601', 'cloud metadata inside IPv6', 'nobody'],
    ];
    for (const [address, why, reach] of refused) {
      const refusal = `${address} is not public (${why})`;
      t.equal(judge(strict, address, 443), refusal);
      t.equal(judge(trusted, address, 5000), reach === 'trusted' ? null : refusal, `trusted: ${address}`);
      const isWide = reach === 'trusted' || reach === 'widest';
      t.equal(judge(widest, address, 5000), isWide ? null : refusal, `trusted, all ranges: ${address}`);
      t.equal(
        judge(open, address, 443),
        reach === 'nobody' ? refusal : null,
        `everything is open: ${address}`,
      );
    }
    t.equal(judge(trusted, '1.1.1.1', 5000), null, 'any port of a public address');
  },
);

t.test('it dials literals only', async (t) => {
  for (const text of [
    '',
    'localhost',
    'example.com',
    'fe80::1%eth0',
    '127.1',
    '0x7f000001',
    '[::1]',
    '1.2.3.4.5',
  ]) {
    t.equal(judge(strict, text, 443), `${text} is not an address`.trim());
    t.equal(judge(openGuard, text, 443), `${text} is not an address`.trim());
  }
});

t.test('it accepts the blocks of allowPrivate on any port, in every form of the address', async (t) => {
  const guard = createAddressGuard({ allowPrivate: ['127.0.0.0/8', 'fd00:1::/32'], ports: [443] });
  t.equal(judge(guard, '127.0.0.1', 9001), null);
  t.equal(judge(guard, '::ffff:127.0.0.1', 9001), null);
  t.equal(judge(guard, 'fd00:1::5', 25), null);
  t.match(judge(guard, 'fd00:2::5', 443), 'private');
  t.match(judge(guard, '::1', 443), 'loopback');
  t.match(judge(guard, '10.0.0.1', 443), 'private');
  t.equal(judge(guard, '1.1.1.1', 443), null);
  t.match(judge(guard, '1.1.1.1', 9001), 'port');
});

t.test('it opens the address of a metadata service to nobody', async (t) => {
  const policies = [['169.254.0.0/16', 'fd00::/8'], ['169.254.169.254/32'], ['fd00:ec2::254/128']];
  for (const allowPrivate of policies) {
    const guard = createAddressGuard({ allowPrivate, ports: null });
    for (const address of ['169.254.169.254', 'fd00:ec2::254'])
      t.match(judge(guard, address, 80), 'cloud metadata', `${allowPrivate}: ${address}`);
  }
  const linkLocal = createAddressGuard({ allowPrivate: ['169.254.0.0/16'], ports: [] });
  t.equal(judge(linkLocal, '169.254.1.1', 80), null);
});

t.test('it forgets old judgements without changing them', async (t) => {
  for (let n = 0; n < 5000; n++) judge(strict, `8.8.${n >> 8}.${n & 255}`, 443);
  t.equal(judge(strict, '8.8.0.0', 443), null);
  t.match(judge(strict, '10.0.0.0', 443), 'private');
});

const octet = fc.integer({ min: 0, max: 255 });
const privateIpv4 = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
);

/** One number of an address in decimal, octal or hexadecimal, with zeros in front where they do not matter. */
const written = (value: number) =>
  fc.constantFrom(
    `${value}`,
    `0${value.toString(8)}`,
    `0x${value.toString(16)}`,
    `0X000${value.toString(16)}`,
  );

/** An IPv4 address as inet_aton would take it: one to four numbers, the last filling what is left. */
const anyForm = privateIpv4.chain((bytes) => {
  const tail = (from: number) => bytes.slice(from).reduce((sum, byte) => sum * 256 + byte, 0);
  return fc
    .integer({ min: 0, max: 3 })
    .chain((dots) =>
      fc
        .tuple(...bytes.slice(0, dots).map(written), written(tail(dots)))
        .chain((parts) => fc.constantFrom(parts.join('.'), `${parts.join('.')}.`)),
    );
});

t.test('it refuses a private address in whatever form its host is written', async (t) => {
  const check = () =>
    fc.assert(
      fc.property(anyForm, (host) => {
        const destination = readDestination(`http://${host}/`);
        if ('problem' in destination) return true;
        return destination.literal && judge(strict, destination.host, 80) !== null;
      }),
      { numRuns: 500 },
    );
  t.doesNotThrow(check);
});

t.test('it refuses a private IPv4 address in every IPv6 form that carries one', async (t) => {
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const forms = privateIpv4.chain(([a, b, c, d]) => {
    const words = `${hex(a, b)}:${hex(c, d)}`;
    return fc.constantFrom(
      `::ffff:${words}`,
      `::ffff:${a}.${b}.${c}.${d}`,
      `0:0:0:0:0:ffff:${words}`,
      `::${words}`,
      `::ffff:0:${words}`,
      `64:ff9b::${words}`,
      `64:ff9b:1::${words}`,
      `2002:${words}::1`,
      `2001:0:${words}::1`,
      `2a00::5efe:${words}`,
    );
  });
  const check = () =>
    fc.assert(
      fc.property(forms, (text) => {
        const destination = readDestination(`http://[${text}]/`);
        return (
          !('problem' in destination) && destination.literal && judge(strict, destination.host, 80) !== null
        );
      }),
      { numRuns: 500 },
    );
  t.doesNotThrow(check);
});
