/** What all commands share: filters of lists, tables on terminals and in pipes, progress, completion, exit statuses. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatTable, tableOf } from '../../src/cli/output.ts';
import { startProgress, whileWaiting } from '../../src/cli/progress.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { install } from '../support/program.ts';

t.setTimeout(300_000);
const ROOT = join(import.meta.dirname, '../..');
const UPBEAT = `'${process.execPath}' '${join(ROOT, 'src/cli/main.ts')}'`;

const installation = await install([]);
t.teardown(() => installation.remove());
const config = join(installation.folder, 'upbeat.yaml');
const run = installation.runHere;
const services = join(installation.folder, 'services.yaml');
writeFileSync(
  services,
  `services:
  - { domain: shop.example.com, name: The shop, category: finance }
  - { domain: forge.example.com, name: Forge, category: developer }
  - { domain: job.example.com, name: Nightly job, category: developer, check: { kind: heartbeat } }
`,
);
t.equal((await run('services', 'import', services, '--account', 'ada')).status, 0);
const slugsOf = (stdout: string) => (JSON.parse(stdout) as { slug: string }[]).map(({ slug }) => slug);

t.test('it filters lists by text and by the words of columns, also as JSON', async (t) => {
  const table: readonly (readonly [string[], string[]])[] = [
    [[], ['forge-example-com', 'job-example-com', 'shop-example-com']],
    [['--q', 'SHOP'], ['shop-example-com']],
    [['--q', 'nightly'], ['job-example-com']],
    [
      ['--category', 'developer'],
      ['forge-example-com', 'job-example-com'],
    ],
    [
      ['--category', 'developer', '--category', 'finance', '--q', 'o'],
      ['forge-example-com', 'job-example-com', 'shop-example-com'],
    ],
    [['--kind', 'heartbeat', '--status', 'unknown', 'down', '--origin', 'owner'], ['job-example-com']],
    [['--status', 'up'], []],
  ];
  for (const [filters, slugs] of table) {
    const { status, stdout } = await run('services', 'list', '--json', ...filters);
    t.same([status, slugsOf(stdout)], [0, slugs], filters.join(' '));
  }
  t.same(await run('services', 'list', '--status', 'up'), {
    ...{ status: 0, stdout: '', stderr: 'Nothing matches.\n' },
  });
  t.match(await run('services', 'list', '--status', 'fine'), {
    status: 2,
    stderr: /Allowed choices are up, slow, down, unknown/,
  });

  await run('keys', 'create', '--account', 'ada', '--name', 'laptop');
  await run('keys', 'create', '--account', 'bob', '--name', 'server');
  await run('pages', 'add', 'ours', '--account', 'ada', '--title', 'Our things');
  const opened = await run(
    ...['incidents', 'open', '--account', 'ada', '--title', 'Disk is full'],
    '--text',
    'It is.',
    '--service',
    'shop.example.com',
  );
  t.equal(opened.status, 0, opened.stderr);
  const counts: readonly (readonly [string[], number])[] = [
    [['keys', 'list', '--q', 'lap'], 1],
    [['keys', 'list', '--q', 'BOB', '--state', 'valid'], 1],
    [['keys', 'list', '--state', 'revoked'], 0],
    [['accounts', 'list', '--q', 'ad'], 1],
    [['pages', 'list', '--q', 'thing'], 1],
    [['pages', 'list', '--q', 'x'], 0],
    [['incidents', 'list', '--account', 'ada', '--status', 'investigating', '--q', 'disk'], 1],
    [['incidents', 'list', '--account', 'ada', '--status', 'resolved'], 0],
    [['channels', 'list', '--account', 'ada', '--kind', 'ntfy'], 0],
    [['rules', 'list', '--account', 'ada', '--q', 'x'], 0],
    [['maintenances', 'list', '--account', 'ada', '--state', 'planned'], 0],
  ];
  for (const [words, count] of counts) {
    const { status, stdout } = await run(...words, '--json');
    t.same([status, (JSON.parse(stdout) as unknown[]).length], [0, count], words.join(' '));
  }
});

t.test('it prints plain tables in a pipe, and on a terminal colours in its width', async (t) => {
  const plain = await run('services', 'list', '--q', 'shop');
  t.equal(
    plain.stdout,
    [
      'SLUG              DOMAIN            CATEGORY  KIND  ORIGIN  STATUS   PAUSED',
      'shop-example-com  shop.example.com  finance   root  owner   unknown  false',
      '',
    ].join('\n'),
  );
  const list = `${UPBEAT} services list --q shop --config '${config}' 2>/dev/null`;
  const commands = [list, `FORCE_COLOR=1 ${list} --no-color`];
  const { stdout } = spawnSync(
    'script',
    ['-qec', `stty cols 70; ${commands.join('; echo ==; ')}`, '/dev/null'],
    {
      encoding: 'utf8',
      // Node shows no colours where a CI system runs it, or where it is told so.
      env: {
        ...process.env,
        TERM: 'xterm-256color',
        ...{ CI: undefined, NODE_DISABLE_COLORS: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined },
      },
    },
  );
  const [colours = '', switchedOff = ''] = stdout
    .replaceAll('\r', '')
    .replaceAll('\u001b', '^')
    .split('==\n');
  const lines = switchedOff.trimEnd().split('\n');
  t.same(
    lines.map((line) => [
      line.length <= 70,
      line.startsWith('SLUG  ') || line.startsWith('shop-example-com  '),
    ]),
    [
      [true, true],
      [true, true],
    ],
    'cut, with the whole slug',
  );
  t.notOk(switchedOff.includes('^'), 'no colour');
  t.match(colours, /^\^\[1mSLUG {12}\^\[22m/);
  t.match(colours, /\^\[90munknown *\^\[39m/);
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

t.test('it completes commands, options and their values in bash', async (t) => {
  const words = ['services list --status d', 'services export --fo'];
  const script = `
    upbeat() { ${UPBEAT} "$@"; }
    # The function of the package bash-completion, for words without = and :.
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur="\${words[cword]}"; prev="\${words[cword-1]}"; }
    compopt() { :; }
    source <(upbeat completion bash)
    complete -p upbeat
    for line in ${words.map((line) => `'${line}'`).join(' ')}; do
      COMP_WORDS=(upbeat $line); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(); __upbeat_complete; echo "\${COMPREPLY[*]}"
    done`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  t.same([status, stderr], [0, '']);
  t.same(stdout.trimEnd().split('\n'), ['complete -F __upbeat_complete upbeat', 'down', '--format']);
});

t.test('it ends with the statuses that the documentation lists', async (t) => {
  const documented = [
    ...readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8').matchAll(/^\| `(\d+)` \|/gm),
  ];
  t.same(
    documented.map((match) => Number(match[1])),
    [0, 1, 2, 3, 70, 130, 143],
  );
  const applied = join(installation.folder, 'apply.yaml');
  writeFileSync(applied, 'services:\n  - { domain: new.example.com }\n');
  const bad = join(installation.folder, 'bad.yaml');
  writeFileSync(bad, 'http: { port: many }\n');
  const table: readonly (readonly [number, string[]])[] = [
    [0, ['--version']],
    [0, ['services', 'list', '--help']],
    [0, ['services', 'list']],
    [1, ['services', 'remove', 'nothing']],
    [1, ['keys', 'revoke', '999']],
    [2, ['services', 'list', '--colour']],
    [2, ['nothing']],
    [2, ['services', 'list', '--config', bad]],
    [3, ['apply', '--account', 'ada', '-f', applied, '--dry-run']],
  ];
  for (const [expected, words] of table) {
    const { runCommandHere } = await import('./run-command.ts');
    const own = words.includes('--config') || words[0] === '--version' || words[0] === 'nothing';
    const { status, stderr } = own ? await runCommandHere(words) : await run(...words);
    t.equal(status, expected, `${words.join(' ')}: ${stderr}`);
  }
});
