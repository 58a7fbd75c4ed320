/** What all commands share: filters of lists, tables on terminals and in pipes, exit statuses. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
