import t from 'tap';
import { refuseUrl } from '../../src/domain/allowed-destinations.ts';
import { describeAddressProblem } from '../../src/domain/failure.ts';
import {
  createDestinationCache,
  createOwnerDestinations,
  ownerPolicy,
  readDestination,
} from '../../src/outbound/address-guard.ts';
import { PUBLIC_ONLY } from '../support/destinations.ts';

t.test('it reads what a request needs of an address', async (t) => {
  t.same(readDestination('https://user:pass@Example.COM/a/../b?q=ü#part'), {
    url: 'https://example.com/b?q=%C3%BC',
    origin: 'https://example.com',
    secure: true,
    host: 'example.com',
    literal: false,
    port: 443,
    path: '/b?q=%C3%BC',
    hostHeader: 'example.com',
  });
  t.same(readDestination('http://[::1]:8080'), {
    url: 'http://[::1]:8080/',
    origin: 'http://[::1]:8080',
    secure: false,
    host: '::1',
    literal: true,
    port: 8080,
    path: '/',
    hostHeader: '[::1]:8080',
  });
});

t.test('it reads every written form of an IPv4 address as that address', async (t) => {
  for (const host of [
    '127.1',
    '0x7f.1',
    '017700000001',
    '2130706433',
    '0x7f000001',
    '127.0.0.1.',
    '１２７.1',
  ]) {
    t.match(readDestination(`http://${host}/`), { host: '127.0.0.1', literal: true }, host);
  }
});

t.test('it says why an address is none', async (t) => {
  const problems: readonly (readonly [string, string])[] = [
    ['', 'an address that cannot be read'],
    ['http://', 'an address that cannot be read'],
    ['http://256.1.1.1/', 'an address that cannot be read'],
    ['http://[fe80::1%25eth0]/', 'an address that cannot be read'],
    ['ftp://example.com/', 'an address with the scheme ftp:'],
    ['file:///etc/passwd', 'an address with the scheme file:'],
    ['javascript:alert(1)', 'an address with the scheme javascript:'],
    [`http://example.com/${'a'.repeat(8192)}`, 'an address of over 8,192 characters'],
  ];
  for (const [text, problem] of problems) {
    const reading = readDestination(text);
    t.equal('problem' in reading && describeAddressProblem(reading.problem), problem, text.slice(0, 40));
  }
});

t.test('it reads a redirect against where it came from', async (t) => {
  t.match(readDestination('../c?d', 'https://example.com/a/b'), { url: 'https://example.com/c?d' });
  t.match(readDestination('//other.example/x', 'https://example.com/'), { url: 'https://other.example/x' });
});

t.test('it remembers a bounded number of destinations', async (t) => {
  const read = createDestinationCache(2);
  const first = read('http://a.example/');
  t.equal(read('http://a.example/'), first);
  read('http://b.example/');
  read('http://c.example/');
  t.not(read('http://a.example/'), first);
  t.same(read('http://a.example/'), first);
});

const PRIVATE: readonly (readonly [host: string, shown: string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0x7f.0.0.1', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['%31%32%37.0.0.1', '127.0.0.1'],
  ['①②⑦.0.0.1', '127.0.0.1'],
  ['0', '0.0.0.0'],
  ['10.1.2.3', '10.1.2.3'],
  ['100.64.0.1', '100.64.0.1'],
  ['169.254.169.254', '169.254.169.254'],
  ['172.16.0.1', '172.16.0.1'],
  ['192.168.0.1', '192.168.0.1'],
  ['224.0.0.1', '224.0.0.1'],
  ['[::1]', '::1'],
  ['[::]', '::'],
  ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ['[fe80::1]', 'fe80::1'],
  ['[fd00::1]', 'fd00::1'],
  ['[64:ff9b::10.0.0.1]', '64:ff9b::a00:1'],
  ['localhost', 'localhost'],
  ['LOCALHOST.', 'localhost.'],
  ['printer', 'printer'],
  ['db.internal', 'db.internal'],
  ['nas.local', 'nas.local'],
  ['a.localhost', 'a.localhost'],
  ['router.home.arpa', 'router.home.arpa'],
];

t.test('it refuses hosts that are not public, in whatever form they are written', async (t) => {
  for (const [host, shown] of PRIVATE)
    for (const url of [`http://${host}/`, `https://${host}:8443/hook?x=1`])
      t.strictSame(refuseUrl(PUBLIC_ONLY, url), { code: 'not_public', host: shown }, url);
  for (const host of ['10.0.0.1', '::1', '0x7f.1', 'localhost', 'ns1.internal'])
    t.match(PUBLIC_ONLY.refuseHost(host), { code: 'not_public' }, host);
});

t.test('it leaves names and public addresses to the guard of connections', async (t) => {
  for (const url of [
    ...['https://example.com/', 'https://93.184.215.14/', 'https://[2606:2800:21f:cb07::1]/'],
    ...['http://127.0.0.1.nip.io/', 'https://internal.example.com/', 'no URL', 'http://[fe80::1%25eth0]/'],
  ])
    t.equal(refuseUrl(PUBLIC_ONLY, url), null, url);
});

t.test('it accepts private blocks where owners may have them, and names that may lead to them', async (t) => {
  const checks = { ports: [80], allowPrivate: ['127.0.0.0/8'], ownersMayProbePrivate: true };
  const destinations = createOwnerDestinations(checks);
  t.equal(destinations.ports, null);
  t.equal(destinations.refuseHost('127.0.0.1'), null);
  t.equal(destinations.refuseHost('localhost'), null);
  t.match(destinations.refuseHost('10.0.0.1'), { code: 'not_public' });
  t.strictSame(ownerPolicy(checks, false).allowPrivate, ['127.0.0.0/8']);
  const ofOperator = { ...checks, ownersMayProbePrivate: false };
  t.match(createOwnerDestinations(ofOperator).refuseHost('127.0.0.1'), { code: 'not_public' });
  t.strictSame(ownerPolicy(ofOperator, false).allowPrivate, [], 'the blocks are for the catalogue alone');
});
