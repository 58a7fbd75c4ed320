/** Which hosts of owners' addresses are refused before anything connects to them. */
import t from 'tap';
import { refuseUrl } from '../../src/domain/allowed-destinations.ts';
import { createOwnerDestinations, ownerPolicy } from '../../src/outbound/owner-destinations.ts';
import { PUBLIC_ONLY } from '../support/destinations.ts';

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
