/** `upbeat backup` and `upbeat restore` beside the running program: what a copy contains, what is refused, what a crash leaves. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { applyRestore } from '../../src/store/backup/apply-restore.ts';
import { COPIED_TABLES } from '../../src/store/backup/copy-registry.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { usePostgres } from '../support/run-servers.ts';

t.setTimeout(300_000);

interface Status {
  readonly status: string;
}
interface Buckets {
  readonly buckets: readonly { readonly count: number }[];
}

const database = (folder: string, name = 'registry') =>
  new DatabaseSync(join(folder, `${name}.sqlite`), { readOnly: true });

function rowsOf(folder: string): Record<string, unknown[]> {
  const open = database(folder);
  const found = COPIED_TABLES.map(
    ([table]) => [table, open.prepare(`SELECT * FROM ${table}`).all()] as const,
  );
  open.close();
  return Object.fromEntries(found);
}

/** A site that is up, an installation that checks it, and a service of an account that sends heartbeats. */
async function setUp(t: Test): Promise<Installation> {
  const site = createServer((_request, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { port } = site.address() as AddressInfo;
  const installation = await install([
    { slug: 'github', check: { kind: 'root', url: `http://127.0.0.1:${port}/` } },
    { slug: 'gitlab', check: { kind: 'root', url: `http://127.0.0.1:${port}/` } },
  ]);
  t.teardown(() => {
    site.close();
    site.closeAllConnections();
    installation.remove();
  });
  return installation;
}

async function beat({ siteUrl }: RunningProgram, key: string, domain: string): Promise<number> {
  const { status } = await fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain, status: 'ok' }),
  });
  return status;
}

async function checksOf(program: RunningProgram): Promise<number> {
  const { body } = await program.get('/api/v1/services/github/history');
  return (body as Buckets).buckets?.reduce((sum, { count }) => sum + count, 0) ?? 0;
}

t.test('a backup of a running program is whole, and restored it answers as before', async (t) => {
  const installation = await setUp(t);
  const data = join(installation.folder, 'data');
  const key = await installation.makeKey('ada');
  let program = await installation.start();
  t.teardown(() => program.killHard());
  await program.until<Status>('/api/v1/status/github', ({ status }) => status === 'up');
  t.equal(await beat(program, key, 'jobs.example.com'), 200);
  // Samples are on disk within a second: the first one is when there are some of two seconds later.
  while ((await checksOf(program)) < 3) await new Promise((resolve) => setTimeout(resolve, 100));

  const folder = join(installation.folder, 'backup');
  // Heartbeats arrive while the copy is made: each that was answered before it is in it.
  let isOver = false;
  const beats = (async () => {
    for (let n = 0; !isOver && n < 30; n++) await beat(program, key, `during-${n % 20}.example.com`);
  })();
  const made = await installation.run('backup', folder, '--json');
  isOver = true;
  await beats;
  t.equal(made.status, 0, made.stderr);
  t.match(made.stderr, /The key of secrets is not in it/);
  t.same(
    (JSON.parse(made.stdout) as { file: string }[]).map(({ file }) => file),
    ['registry.sqlite', 'samples.sqlite'],
  );
  t.same(
    readdirSync(folder).sort(),
    ['backup.json', 'registry.sqlite', 'samples.sqlite'],
    'no logs, no temporary files',
  );
  for (const name of [folder, ...readdirSync(folder).map((file) => join(folder, file))])
    t.equal(statSync(name).mode & 0o077, 0, `only its owner can read ${name}`);
  const copied = rowsOf(folder);
  t.ok(copied.heartbeats?.length, 'the heartbeat from before is in it');
  const again = await installation.runHere('backup', folder);
  t.match([again.status, again.stderr], [1, /is not empty\. Name a folder of its own for each backup/]);

  // The same settings with a data directory that was lost.
  const other = await install([]);
  t.teardown(() => other.remove());
  const fresh = await other.runHere('restore', folder);
  t.equal(fresh.status, 0, fresh.stderr);
  t.match(fresh.stderr, /is in place\. Start the program/);
  const restored = join(other.folder, 'data');
  t.same(rowsOf(restored), copied, 'row by row what was backed up');
  for (const name of ['registry.sqlite', 'samples.sqlite'])
    t.equal(statSync(join(restored, name)).mode & 0o077, 0, `only its owner can read ${name}`);

  // Restored while the program runs: verified at once, in place after the next start.
  t.equal(await beat(program, key, 'later.example.com'), 200);
  const refused = await installation.runHere('restore', folder);
  t.match([refused.status, refused.stderr], [1, /has an installation\. With --replace it is moved/]);
  const waits = await installation.runHere('restore', folder, '--replace');
  t.match(
    [waits.status, waits.stderr],
    [0, /is verified and waits in .* Stop all processes .* then start one/],
  );
  t.equal(
    (await program.get('/api/v1/status/later-example-com')).status,
    200,
    'the program runs on meanwhile',
  );
  await program.stop();
  program = await installation.start();
  t.match(program.output(), /the stores were replaced by those of a backup/);
  t.equal((await program.get('/api/v1/status/later-example-com')).status, 404);
  t.equal(await beat(program, key, 'jobs.example.com'), 200, 'the key works as before');
  t.ok((await checksOf(program)) > 0, 'the history is there');
  t.equal((await program.get('/api/v1/status/jobs-example-com')).status, 200);
  const [replaced = ''] = readdirSync(data).filter((name) => name.startsWith('replaced-'));
  const kept = rowsOf(join(data, replaced));
  t.match(JSON.stringify(kept.services), /later\.example\.com/, 'what was replaced is kept');
  t.notOk(existsSync(join(data, 'restored')));
});

t.test('it refuses what is no whole backup, and changes nothing', async (t) => {
  const installation = await setUp(t);
  const data = join(installation.folder, 'data');
  const folder = join(installation.folder, 'backup');
  const none = await installation.runHere('backup', folder);
  t.match([none.status, none.stderr], [1, /There is no registry at .*Start the program once/]);
  t.notOk(existsSync(folder));
  await installation.makeKey('ada');
  writeFileSync(join(data, 'secret.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  const made = await installation.runHere('backup', folder, '--with-key');
  t.equal(made.status, 0, made.stderr);
  t.match(made.stdout, /secret\.key/);
  const manifest = readFileSync(join(folder, 'backup.json'), 'utf8');
  const registry = readFileSync(join(folder, 'registry.sqlite'));
  const target = join(installation.folder, 'data');
  const listing = () => readdirSync(target).sort();
  const before = listing();

  const cases: readonly (readonly [what: string, spoil: () => void, said: RegExp])[] = [
    [
      'no manifest',
      () => renameSync(join(folder, 'backup.json'), join(folder, 'x')),
      /has no backup\.json: it is not a backup, or one that was interrupted/,
    ],
    [
      'no JSON',
      () => writeFileSync(join(folder, 'backup.json'), manifest.slice(0, 40)),
      /backup\.json cannot be read/,
    ],
    [
      'a later form',
      () => writeFileSync(join(folder, 'backup.json'), manifest.replace('"format": 1', '"format": 2')),
      /has a form that this version does not know/,
    ],
    [
      'a name that leads elsewhere',
      () =>
        writeFileSync(join(folder, 'backup.json'), manifest.replace('"secret.key"', '"../../secret.key"')),
      /has a form that this version does not know/,
    ],
    [
      'a file that is cut off',
      () => writeFileSync(join(folder, 'registry.sqlite'), registry.subarray(0, -1)),
      /registry\.sqlite is not the file that was backed up/,
    ],
    [
      'a file with another byte',
      () => {
        const changed = Buffer.from(registry);
        changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
        writeFileSync(join(folder, 'registry.sqlite'), changed);
      },
      /registry\.sqlite is not the file that was backed up/,
    ],
    [
      'a link in place of a file',
      () => {
        rmSync(join(folder, 'registry.sqlite'));
        symlinkSync(join(data, 'registry.sqlite'), join(folder, 'registry.sqlite'));
      },
      /registry\.sqlite is a link or no file at all/,
    ],
    [
      'a link in place of the manifest',
      () => {
        renameSync(join(folder, 'backup.json'), join(folder, 'z'));
        symlinkSync('z', join(folder, 'backup.json'));
      },
      /backup\.json is a link or no file at all/,
    ],
    [
      'a missing file',
      () => renameSync(join(folder, 'secret.key'), join(folder, 'y')),
      /The backup lacks secret\.key/,
    ],
  ];
  for (const [what, spoil, said] of cases) {
    spoil();
    const refused = await installation.runHere('restore', folder, '--replace');
    t.match([refused.status, refused.stderr], [1, said], what);
    t.same(listing(), before, `${what}: nothing is changed`);
    for (const name of ['backup.json', 'registry.sqlite']) rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, 'backup.json'), manifest);
    writeFileSync(join(folder, 'registry.sqlite'), registry);
  }
});

t.test('a restore that ends at any step is finished by the next start', async (t) => {
  const folder = t.testdir();
  const files = ['registry.sqlite', 'samples.sqlite', 'secret.key'];
  /** A data directory as a crash leaves it: what is present, staged, and half moved. */
  const rows = [
    { present: files, staged: files, moving: [], expected: files },
    { present: ['samples.sqlite', 'secret.key'], staged: files, moving: [], expected: files },
    { present: [], staged: files, moving: [], expected: files },
    {
      present: ['secret.key'],
      staged: [],
      moving: ['registry.sqlite', 'samples.sqlite'],
      expected: ['registry.sqlite', 'samples.sqlite'],
    },
    {
      present: ['samples.sqlite'],
      staged: [],
      moving: ['registry.sqlite'],
      expected: ['registry.sqlite', 'samples.sqlite'],
      restored: true,
    },
    {
      present: ['registry.sqlite', 'samples.sqlite'],
      staged: [],
      moving: [],
      expected: ['registry.sqlite', 'samples.sqlite'],
      restored: true,
      hasMoving: true,
    },
  ];
  for (const [
    index,
    { present, staged, moving, expected, restored = false, hasMoving = false },
  ] of rows.entries()) {
    const data = join(folder, String(index));
    mkdirSync(data);
    for (const name of present)
      writeFileSync(join(data, name), restored ? `restored ${name}` : `old ${name}`);
    for (const [place, names] of [
      ['restored', staged],
      ['restored.moving', moving],
    ] as const) {
      if (names.length > 0 || (hasMoving && place === 'restored.moving')) mkdirSync(join(data, place));
      for (const name of names) writeFileSync(join(data, place, name), `restored ${name}`);
    }
    t.match(await applyRestore(data, systemClock), { kind: 'applied' }, `row ${index}`);
    for (const name of expected)
      t.equal(readFileSync(join(data, name), 'utf8'), `restored ${name}`, `row ${index}: ${name}`);
    t.same(
      readdirSync(data).filter((name) => name.startsWith('restored')),
      [],
      `row ${index}: nothing is left over`,
    );
    t.same(await applyRestore(data, systemClock), { kind: 'none' });
  }
});

t.test(
  'a registry in PostgreSQL is backed up, and restored into an empty database',
  NEEDS_POSTGRES,
  async (t) => {
    const server = await usePostgres(t);
    const names = ['from', 'to'].map((word) => `backup_${word}_${process.pid}_${Date.now()}`);
    for (const name of names) await createDatabase(server.url('postgres'), name);
    const [first, second] = await Promise.all(
      names.map((name) => install([], { storage: { postgres: { url: server.url(name) } } })),
    );
    if (first === undefined || second === undefined) throw new Error('two installations are needed');
    t.teardown(() => {
      first.remove();
      second.remove();
    });
    const program = await first.start();
    t.teardown(() => program.killHard());
    const key = await first.runHere('keys', 'create', '--account', 'ada', '--name', 'laptop');
    t.equal(key.status, 0, key.stderr);
    const text = /upb?_?[\w-]{20,}/.exec(key.stdout)?.[0] ?? key.stdout.trim();
    t.equal(await beat(program, text, 'jobs.example.com'), 200);

    const folder = join(first.folder, 'backup');
    const made = await first.runHere('backup', folder, '--with-key');
    t.equal(made.status, 0, made.stderr);
    const back = await second.runHere('restore', folder);
    t.equal(back.status, 0, back.stderr);
    t.match(back.stderr, /[\d,]+ rows were copied into PostgreSQL/);
    const full = await second.runHere('restore', folder, '--replace');
    t.match([full.status, full.stderr], [1, /is not empty: accounts has 1 rows/]);
    const keys = await second.runHere('keys', 'list', '--json');
    t.match(JSON.parse(keys.stdout), [{ account: 'ada', name: 'laptop' }]);
    t.ok(existsSync(join(second.folder, 'data/secret.key')), 'with the key of its secrets');
  },
);
