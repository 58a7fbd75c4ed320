/** Addresses of e-mail. */
import fc from 'fast-check';
import t from 'tap';
import { readMailAddress, readMailbox } from '../../src/domain/mail-address.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it takes addresses in the form in which they are used', async (t) => {
  const rows: readonly [string, string | null][] = [
    [' Ada.Lovelace+up@Example.COM ', 'Ada.Lovelace+up@example.com'],
    ["o'brien/sales=1@mail.example.co.uk", "o'brien/sales=1@mail.example.co.uk"],
    ['ada@localhost', 'ada@localhost'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
    [`${'a'.repeat(65)}@example.com`, null],
    [`a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}`, null],
    ['', null],
    ['ada', null],
    ['@example.com', null],
    ['ada@', null],
    ['ada@@example.com', null],
    ['"ada l"@example.com', null],
    ['ada..l@example.com', null],
    ['.ada@example.com', null],
    ['ada@example..com', null],
    ['ada@-example.com', null],
    ['ada@[127.0.0.1]', null],
    ['ada@example.com\r\nRCPT TO:<eve@example.com>', null],
    ['ada@example.com, eve@example.com', null],
    ['ada@bücher.example/x', null],
    ['jörg@example.com', null],
    ['Ada <ada@example.com>', null],
  ];
  for (const [text, address] of rows) t.equal(readMailAddress(text), address, JSON.stringify(text));
});

t.test('it takes nothing that could end a header or a command', async (t) => {
  fc.assert(
    fc.property(anyText(), anyText(), (local, domain) => {
      const address = readMailAddress(`${local}@${domain}`);
      return address === null || /^[\x21-\x7e]+@[a-z0-9.-]+$/.test(address);
    }),
    { numRuns: propertyRuns(100) },
  );
  t.pass();
});

t.test('it reads senders with and without a name', async (t) => {
  t.same(readMailbox('ops@example.com'), { name: '', address: 'ops@example.com' });
  t.same(readMailbox('Upbeat <ops@Example.com>'), { name: 'Upbeat', address: 'ops@example.com' });
  t.same(readMailbox('"Status, Example" <ops@example.com>'), {
    name: 'Status, Example',
    address: 'ops@example.com',
  });
  for (const text of ['Upbeat', 'Upbeat <ops>', 'a <b <ops@example.com>', 'a\nb <ops@example.com>'])
    t.equal(readMailbox(text), null, text);
});
