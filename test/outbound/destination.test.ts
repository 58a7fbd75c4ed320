import t from 'tap';
import { describeAddressProblem } from '../../src/domain/failure.ts';
import { createDestinationCache, readDestination } from '../../src/outbound/destination.ts';

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
