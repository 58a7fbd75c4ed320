import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createHostsLookup, parseHosts } from '../../src/outbound/hosts-file.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it reads names, aliases and both families, and passes over what it cannot read', async (t) => {
  const table = parseHosts(
    [
      '# comment',
      '127.0.0.1 a.test A2.test # end',
      '\t::1   a.test',
      'fe80::1%lo0 zone.test',
      'rubbish x',
      '',
    ].join('\n'),
  );
  t.same(Object.fromEntries(table), {
    'a.test': [
      { family: 4, text: '127.0.0.1' },
      { family: 6, text: '::1' },
    ],
    'a2.test': [{ family: 4, text: '127.0.0.1' }],
  });
});

t.test('it follows changes of the file', async (t) => {
  const file = join(t.testdir({ hosts: '127.0.0.1 one.test\n' }), 'hosts');
  const clock = createFakeClock();
  const lookup = createHostsLookup(file, clock);
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.1' }]);
  writeFileSync(file, '127.0.0.2 one.test\n');
  utimesSync(file, new Date(), new Date(Date.now() + 60_000));
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.1' }]);
  await clock.advance(5000);
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.2' }]);
});

t.test('it knows localhost without a file, and nothing else', async (t) => {
  const lookup = createHostsLookup('/nowhere/hosts', createFakeClock());
  const loopback = [
    { family: 4, text: '127.0.0.1' },
    { family: 6, text: '::1' },
  ];
  t.same(lookup('localhost'), loopback);
  t.same(lookup('app.localhost'), loopback);
  t.equal(lookup('example.com'), null);
});
