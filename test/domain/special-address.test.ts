/** Addresses that are not public, in every form that leads to one. */
import t from 'tap';
import {
  blockListOf,
  blocksOfRanges,
  embeddedIpv4,
  isPrivateRange,
  isPublicHost,
  metadataPurposeOf,
  PRIVATE_RANGES,
  readAddress,
  specialPurposeOf,
  usualVisibility,
} from '../../src/domain/special-address.ts';

const purposeOf = (text: string) => {
  const address = readAddress(text);
  return address === null ? 'no address' : specialPurposeOf(address);
};

t.test('it reads addresses in one form, and none with a zone', async (t) => {
  for (const [text, canonical] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['::1.2.3.4', '::102:304'],
  ] as const)
    t.equal(readAddress(text)?.text, canonical, text);
  for (const text of ['', '1.2.3', '0x7f.0.0.1', '127.1', 'fe80::1%eth0', '[::1]', 'a.example'])
    t.equal(readAddress(text), null, text);
});

t.test('it names the purpose of an address, also of one that is carried inside another', async (t) => {
  for (const [text, purpose] of [
    ['8.8.8.8', null],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', null],
    ['100.64.0.1', 'shared by carriers'],
    ['100.128.0.1', null],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', null],
    ['255.255.255.255', 'reserved'],
    ['169.254.169.254', 'cloud metadata'],
    ['168.63.129.16', 'cloud metadata'],
    ['2606:4700::1111', null],
    ['::', 'reserved'],
    ['::1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fd00::1', 'private'],
    ['ff02::1', 'multicast'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['64:ff9b::10.0.0.1', 'private inside IPv6'],
    ['64:ff9b::8.8.8.8', null],
    ['2002:7f00:1::', 'loopback inside IPv6'],
    ['64:ff9b:1::a9fe:a9fe', 'cloud metadata inside IPv6'],
    ['fd00:ec2::254', 'cloud metadata'],
  ] as const)
    t.equal(purposeOf(text), purpose, text);
});

t.test('it finds the IPv4 address to which a translator would forward', async (t) => {
  t.equal(embeddedIpv4('64:ff9b::c000:201'), '192.0.2.1');
  t.equal(embeddedIpv4('2002:c000:201::1'), '192.0.2.1');
  t.equal(embeddedIpv4('2a00::5efe:c000:201'), '192.0.2.1');
  t.equal(embeddedIpv4('2a00::1'), null);
  // Teredo has the address of the client with each bit turned.
  const teredo = readAddress('2001:0:4136:e378:8000:63bf:5601:5601');
  t.equal(teredo === null ? null : metadataPurposeOf(teredo), 'cloud metadata inside IPv6');
});

t.test('it says which hosts everybody can reach', (t) => {
  for (const host of [
    'example.com',
    'a.b.example',
    'xn--bcher-kva.de',
    '8.8.8.8',
    '2606:4700::1',
    '[2606:4700::1]',
  ])
    t.ok(isPublicHost(host), host);
  for (const host of [
    ...['nas', 'localhost', 'printer.local', 'grafana.internal', 'router.home.arpa', 'fritz.box', 'a.lan'],
    ...['10.0.0.1', '172.16.3.4', '192.168.1.5', '100.64.0.1', '127.0.0.1', '169.254.1.1', '203.0.113.7'],
    ...['::1', 'fd12::1', '[fe80::1]', '::ffff:192.168.1.5', '64:ff9b::c0a8:105'],
  ])
    t.notOk(isPublicHost(host), host);
  t.equal(usualVisibility('example.com'), 'public');
  t.equal(usualVisibility('nas'), 'private');
  t.end();
});

t.test('a name stands for its blocks, and a block for itself', async (t) => {
  t.same(blocksOfRanges(['loopback', '203.0.113.0/24', 'shared']), [
    ...['127.0.0.0/8', '::1/128', '203.0.113.0/24', '100.64.0.0/10'],
  ]);
  t.ok(isPrivateRange('unique-local'));
  for (const word of ['', 'public', 'constructor', '10.0.0.0/8']) t.notOk(isPrivateRange(word), word);
});

t.test('no named range has a public address', async (t) => {
  for (const block of blocksOfRanges(Object.keys(PRIVATE_RANGES))) {
    t.doesNotThrow(() => blockListOf([block]), block);
    const address = readAddress(block.split('/')[0] ?? '');
    t.not(address === null ? null : specialPurposeOf(address), null, block);
  }
});
