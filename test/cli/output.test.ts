/** What strangers wrote, as a terminal shows it. */
import t from 'tap';
import { formatTable, startProgress, tableOf, whileWaiting } from '../../src/cli/output.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { setUp } from './command-world.ts';
import type { CommandResult } from './run-command.ts';

t.setTimeout(300_000);

/** Writes the clipboard, begins a row of its own, and turns the text around. */
const EVIL = '=HYPERLINK("x")\u001b]52;c;aGk=\u0007\nforged\u202e\u009b31m';

const OBEYED = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

t.test('it shows names of strangers without what a terminal obeys', async (t) => {
  const { run, withRegistry, write } = await setUp(t);
  await withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount(EVIL, 1);
    await registry.createKey({
      ...{ accountId, name: EVIL, prefix: 'upb_abcd', sha256: new Uint8Array(32) },
      ...{ createdAt: 1, expiresAt: null },
    });
    const [service] = await registry.addServices([
      {
        ...{ name: EVIL, domain: 'shop.example.com', category: 'developer', origin: 'owner', accountId },
        ...{ verified: true, paused: false, check: DEFAULT_CHECK, statusPage: null },
      },
    ]);
    t.match(service, { slug: 'shop-example-com' });
    await registry.addPage({ accountId, slug: 'acme', title: EVIL, text: EVIL, groups: [], now: 1 });
  });
  const file = write('evil.json', JSON.stringify([{ domain: EVIL, name: EVIL }]));
  const outputs: CommandResult[] = [];
  for (const words of [
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['accounts', 'list'],
    ['services', 'list', '--json'],
    ['services', 'export', '--format', 'csv'],
    ['services', 'export', '--format', 'yaml'],
    ['services', 'export', '--format', 'json'],
    ['pages', 'list'],
    ['services', 'import', file],
    ['services', 'remove', EVIL],
    ['services', 'set', 'x', '--kind', EVIL],
    [EVIL],
  ])
    outputs.push(await run(...words));
  for (const [index, { stdout, stderr }] of outputs.entries()) {
    t.notMatch(stdout, OBEYED, `standard output of ${index}`);
    t.notMatch(stderr, OBEYED, `standard error of ${index}`);
    // The last two repeat the operator's own words.
    if (index < 10) t.notMatch(stdout + stderr, /^forged/m, `no line is forged in ${index}`);
  }
  const [keys, keysJson, accounts, services, csv, yaml, json] = outputs.map(({ stdout }) => stdout);
  t.equal(keys?.trim().split('\n').length, 2, 'a row is a line');
  t.match(accounts, 'forged');
  for (const text of [keysJson, services]) t.match(JSON.parse(text ?? ''), [{ name: EVIL }]);
  t.match(csv, `,"'=HYPERLINK(""x"")`, 'a spreadsheet computes nothing');
  for (const [name, text] of [
    ['list.csv', csv],
    ['list.yaml', yaml],
    ['list.json', json],
  ] as const) {
    const { stdout } = await run(
      'services',
      'import',
      write(name, text ?? ''),
      '--account-id',
      '1',
      '--json',
    );
    t.match(JSON.parse(stdout), { added: [], unchanged: ['shop-example-com'], skipped: [] }, name);
  }
});

t.test('it cuts the widest columns, and never the first', async (t) => {
  const table = tableOf(
    ['slug', 'name', 'found'],
    [{ slug: 's'.repeat(30), name: 'short', found: 'x'.repeat(40) }],
  );
  const lines = (width: number) =>
    formatTable(table, width, (_, text) => text)
      .split('\n')
      .map(({ length }) => length);
  t.same(lines(Number.POSITIVE_INFINITY), [44, 79]);
  t.same(lines(60), [44, 60]);
  t.same(lines(20), [44, 47], 'no narrower than it can be read');
});

t.test('it reports progress after a second: a bar on a terminal, lines elsewhere', async (t) => {
  for (const isTTY of [false, true]) {
    const clock = createFakeClock();
    let written = '';
    const stream = {
      isTTY,
      write(text: string) {
        written += text;
        return true;
      },
    };
    const progress = startProgress(4_000, 'services', clock, stream);
    progress.note(1_000);
    await clock.advance(1_000);
    progress.note(2_500);
    await clock.advance(100);
    progress.note(3_000);
    progress.end();
    t.equal(
      written,
      isTTY
        ? `\r\u001b[K${'█'.repeat(15)}${'░'.repeat(9)}  62 %  2,500 of 4,000 services\r\u001b[K${'█'.repeat(18)}${'░'.repeat(6)}  75 %  3,000 of 4,000 services\r\u001b[K`
        : '2,500 of 4,000 services\n',
    );
    written = '';
    const work = async () => {
      await clock.advance(2_000);
      return 7;
    };
    t.equal(await whileWaiting('examining', work, clock, stream), 7);
    t.equal(written, isTTY ? '\r\u001b[Kexamining … 1 s\r\u001b[Kexamining … 2 s\r\u001b[K' : '');
    written = '';
    const early = { ...clock, every: (_: number, task: () => void) => clock.every(400, task) };
    const short = () => clock.advance(900);
    await whileWaiting('examining', short, early, stream);
    t.equal(written, '', 'nothing before a second is over, even if the first look is early');
    await t.rejects(
      whileWaiting('examining', () => Promise.reject(new Error('no')), clock, stream),
      { message: 'no' },
    );
    await clock.advance(5_000);
    t.equal(written, '', 'nothing is said of what is over');
  }
});
