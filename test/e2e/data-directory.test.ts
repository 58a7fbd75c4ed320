/** The data directory of the whole program: who may read it, and what is said where something of it is missing. */
import { chmodSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Installation, install } from '../support/program.ts';

t.setTimeout(300_000);
t.jobs = 2;

async function setUp(t: Test) {
  const installation = await install([]);
  t.teardown(() => installation.remove());
  return { installation, dataDir: join(installation.folder, 'data') };
}

async function startAndStop(t: Test, installation: Installation): Promise<string> {
  const program = await installation.start();
  t.teardown(() => program.killHard());
  t.equal(await program.stop(), 0);
  return program.output();
}

/** Permissions of the folder and of everything in it, in octal digits. */
function modesOf(dataDir: string): string[] {
  return [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))]
    .map((path) => (statSync(path).mode & 0o777).toString(8))
    .filter((mode, index, all) => all.indexOf(mode) === index);
}

t.test(
  'it keeps the data directory to itself, and closes one that was open',
  { buffered: true },
  async (t) => {
    const { installation, dataDir } = await setUp(t);
    await installation.run('keys', 'create', '--account', 'ada', '--name', 'x');
    t.same(modesOf(dataDir), ['700', '600'], 'made by a command');
    const program = await installation.start();
    t.teardown(() => program.killHard());
    t.same(modesOf(dataDir), ['700', '600'], 'with the files that SQLite has beside its own');
    t.ok(readdirSync(dataDir).includes('registry.sqlite-wal'));
    await program.stop();

    chmodSync(dataDir, 0o755);
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644);
    const { stdout } = await installation.run('doctor', '--json');
    const rows = JSON.parse(stdout) as { what: string; state: string; found: string }[];
    t.match(
      rows.find(({ what }) => what === 'files'),
      { state: 'MEND', found: /data is 755.*registry\.sqlite is 644/ },
    );
    const output = await startAndStop(t, installation);
    t.match(
      output,
      /data: 755 to 700.*registry\.sqlite: 644 to 600.*the data directory was accessible to other users/,
    );
    t.same(modesOf(dataDir), ['700', '600']);
  },
);

t.test(
  'it names the file and the remedy where a store or its key is missing or damaged',
  { buffered: true },
  async (t) => {
    const { installation, dataDir } = await setUp(t);
    await startAndStop(t, installation);
    const [registry, key, samples] = ['registry.sqlite', 'secret.key', 'samples.sqlite'].map((name) =>
      join(dataDir, name),
    ) as [string, string, string];
    const away = join(installation.folder, 'away');

    renameSync(registry, away);
    t.match(await installation.run('start'), {
      status: 1,
      stdout:
        /registry\.sqlite is missing or empty, but .*samples\.sqlite.*backup.*To begin a new installation/,
    });
    renameSync(away, registry);

    renameSync(key, away);
    t.match(await installation.run('start'), {
      status: 1,
      stdout: /key of the secrets of webhooks is missing.*secrets reset/,
    });
    renameSync(away, key);

    writeFileSync(samples, 'no database at all'.repeat(500));
    const program = await installation.start();
    t.teardown(() => program.killHard());
    t.match((await program.get('/readyz')).body, { status: 'ready', degraded: ['history'] });
    t.match(program.output(), /samples\.sqlite was damaged and is set aside/);
    await program.stop();

    truncateSync(registry, 8_192);
    t.match(await installation.run('start'), { status: 1, stdout: /registry\.sqlite is damaged .*backup/ });
  },
);
