import fc from 'fast-check';
import t from 'tap';
import { readHostName } from '../../src/domain/host-name.ts';
import { describeHostNameProblem } from '../../src/domain/input-problem.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it stores a host name as lower-case ASCII', async (t) => {
  for (const [given, stored] of [
    ['example.com', 'example.com'],
    ['Shop.Example.COM', 'shop.example.com'],
    ['example.com.', 'example.com'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['例え.jp', 'xn--r8jz45g.jp'],
    ['a-b.example', 'a-b.example'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
  ] as const) {
    t.same(readHostName(given), { ok: true, domain: stored }, given);
  }
});

t.test('it refuses names that are no public host names, with the reason', async (t) => {
  for (const [given, problem] of [
    ['', /empty/],
    ['https://example.com', /without scheme, port or path/],
    ['example.com:443', /without scheme, port or path/],
    ['example.com/', /without scheme, port or path/],
    ['user@example.com', /without scheme, port or path/],
    ['a b.com', /without scheme, port or path/],
    ['localhost', /two labels/],
    ['shop', /two labels/],
    ['127.0.0.1', /IP address/],
    ['0x7f.1', /IP address/],
    ['[::1]', /IP address/],
    ['a..b', /label|not a host name/],
    ['-a.com', /label/],
    ['a-.com', /label/],
    [`${'a'.repeat(64)}.com`, /label|not a host name/],
    [`${'abcdefgh.'.repeat(30)}com`, /253|not a host name/],
    ['db.local', /private suffix \.local/],
    ['x.internal', /private suffix \.internal/],
    ['a.localhost', /private suffix \.localhost/],
    ['nas.home.arpa', /private suffix \.home\.arpa/],
  ] as const) {
    const reading = readHostName(given);
    t.equal(reading.ok, false, given);
    t.match(reading.ok ? '' : describeHostNameProblem(reading.problem), problem, given);
  }
});

t.test('it never throws, and reading a stored name again does not change it', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.domain(), anyText()), (text) => {
      const reading = readHostName(text);
      if (!reading.ok) return;
      const again = readHostName(reading.domain);
      if (!again.ok || again.domain !== reading.domain) throw new Error(`${text} -> ${reading.domain}`);
    }),
    { numRuns: propertyRuns(150) },
  );
});
