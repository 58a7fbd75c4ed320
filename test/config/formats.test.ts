/** The forms of values of settings. */
import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { FORMATS, readBlock } from '../../src/config/formats.ts';

t.test('it reads each form into one canonical value, and refuses everything else', async (t) => {
  const table: readonly (readonly [format: string, text: string, value: string | number | null])[] = [
    ['duration', '250ms', 250],
    ['duration', '1.5s', 1_500],
    ['duration', '5m', 300_000],
    ['duration', '2y', 63_072_000_000],
    ['duration', '5', null],
    ['duration', '-5s', null],
    ['duration', '5 min', null],
    ['duration', '0.1ms', null],
    ['block', '10.1.2.3', '10.1.2.3/32'],
    ['block', '10.1.2.3/8', '10.0.0.0/8'],
    ['block', '0.0.0.0/0', '0.0.0.0/0'],
    ['block', '::1', '::1/128'],
    ['block', 'FD00:0::1/8', 'fd00::/8'],
    ['block', '::ffff:10.1.2.3', '10.1.2.3/32'],
    ['block', '::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['block', '::/0', '::/0'],
    ['block', '::1.2.3.4', '::102:304/128'],
    ['block', '10/8', null],
    ['block', '0x0a.0.0.0/8', null],
    ['block', '010.0.0.0/8', null],
    ['block', '10.0.0.0/08', null],
    ['block', '10.0.0.0/33', null],
    ['block', '::/129', null],
    ['block', '10.0.0.0/', null],
    ['block', '10.0.0.0/8/8', null],
    ['block', 'fe80::1%eth0', null],
    ['block', 'fe80::%eth0/64', null],
    ['block', 'example.org', null],
    ['block', '', null],
    ['ip-port', '9.9.9.9', '9.9.9.9'],
    ['ip-port', '127.0.0.1:5353', '127.0.0.1:5353'],
    ['ip-port', '::1', '::1'],
    ['ip-port', '[::1]:5353', '[::1]:5353'],
    ['ip-port', '[::1]', '[::1]'],
    ['ip-port', '9.9.9.9:0', null],
    ['ip-port', '9.9.9.9:65536', null],
    ['ip-port', '[9.9.9.9]:53', null],
    ['ip-port', 'dns.example:53', null],
    ['http-url', 'https://example.org/x?y', 'https://example.org/x?y'],
    ['http-url', 'example.org', null],
    ['http-url', 'ftp://example.org', null],
    ['http-url', 'http://[', null],
    ['site-url', 'https://up.example/', 'https://up.example'],
    ['site-url', 'HTTP://Up.Example:8080//', 'http://up.example:8080'],
    ['site-url', 'https://up.example/status/', 'https://up.example/status'],
    ['site-url', 'https://up.example/?a', null],
    ['site-url', 'https://up.example/#a', null],
    ['site-url', 'https://me:pw@up.example/', null],
    ['site-url', 'localhost:8080', null],
    ['site-url', 'ftp://up.example', null],
    ['site-url', 'https://up.example:0', null],
    ['site-url', 'https://up.example/a b', null],
    ['site-url', 'https://up.example//a', null],
    ['server-url', 'http://samples.example/influx', 'http://samples.example/influx'],
    ['server-url', 'http://samples.example/?db=a', null],
    ['redis-url', 'rediss://:pw@cache:6380/1', 'rediss://:pw@cache:6380/1'],
    ['redis-url', 'cache:6379', null],
  ];
  for (const [format, text, value] of table)
    t.equal(FORMATS[format]?.read(text) ?? null, value, `${format} ${text}`);
});

t.test(
  'it makes blocks that every matcher takes, that hold their address, and that stay as they are',
  async () => {
    const block = fc.oneof(
      fc.tuple(fc.ipV4(), fc.nat({ max: 32 })),
      fc.tuple(fc.ipV6(), fc.nat({ max: 128 })),
    );
    fc.assert(
      fc.property(block, ([address, bits]) => {
        const canonical = readBlock(`${address}/${bits}`);
        if (canonical === null || readBlock(canonical) !== canonical) return false;
        const [base, length] = ipaddr.parseCIDR(canonical);
        const list = new BlockList();
        list.addSubnet(base.toString(), length, base.kind());
        return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
      }),
    );
  },
);
