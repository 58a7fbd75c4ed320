/** The data directory of the whole program: who may read it, and what is said where something of it is missing. */
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { install } from '../support/program.ts';

t.setTimeout(300_000);

/** Permissions of the folder and of everything in it, in octal digits. */
function modesOf(dataDir: string): string[] {
  return [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))]
    .map((path) => (statSync(path).mode & 0o777).toString(8))
    .filter((mode, index, all) => all.indexOf(mode) === index);
}

t.test('the data directory of one installation', async (t) => {
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const dataDir = join(installation.folder, 'data');
  const [registry, key, samples] = ['registry.sqlite', 'secret.key', 'samples.sqlite'].map((name) =>
    join(dataDir, name),
  ) as [string, string, string];
  const away = join(installation.folder, 'away');
  const start = async (t: Test) => {
    const program = await installation.start();
    t.teardown(() => program.killHard());
    return program;
  };

  await t.test('it keeps the data directory to itself', async (t) => {
    await installation.run('keys', 'create', '--account', 'ada', '--name', 'x');
    t.same(modesOf(dataDir), ['700', '600'], 'made by a command');
    const program = await start(t);
    t.same(modesOf(dataDir), ['700', '600'], 'with the files that SQLite has beside its own');
    t.ok(readdirSync(dataDir).includes('registry.sqlite-wal'));
    t.equal(await program.stop(), 0);
  });

  await t.test('it names the file and the remedy where a store or its key is missing', async (t) => {
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
  });

  await t.test('it closes a directory that was open, and sets damaged samples aside', async (t) => {
    writeFileSync(samples, 'no database at all'.repeat(500));
    chmodSync(dataDir, 0o755);
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644);
    const { stdout } = await installation.run('doctor', '--json');
    const rows = JSON.parse(stdout) as { what: string; state: string; found: string }[];
    t.match(
      rows.find(({ what }) => what === 'files'),
      { state: 'FIX', found: /data is 755.*registry\.sqlite is 644/ },
    );
    const program = await start(t);
    t.match((await program.get('/readyz')).body, { status: 'ready', degraded: ['history'] });
    t.equal(await program.stop(), 0);
    t.match(
      program.output(),
      /data: 755 to 700.*registry\.sqlite: 644 to 600.*the data directory was accessible to other users/,
    );
    t.match(program.output(), /samples\.sqlite was damaged and is set aside/);
    t.same(modesOf(dataDir), ['700', '600']);
  });

  await t.test('it does not start with a damaged log of the registry, and names the remedies', async (t) => {
    const program = await start(t);
    await program.killHard();
    const log = `${registry}-wal`;
    const whole = readFileSync(log);
    const torn = Buffer.from(whole);
    torn[Math.floor(whole.length / 2)] = ~(whole[Math.floor(whole.length / 2)] ?? 0);
    writeFileSync(log, torn);
    t.match(await installation.run('start'), {
      status: 1,
      stdout: /registry\.sqlite-wal is damaged after \d+ bytes.*restore a backup.*truncate -s/,
    });
    const doctor = await installation.runHere('doctor', '--json');
    t.match(
      (JSON.parse(doctor.stdout) as { what: string }[]).find(({ what }) => what === 'registry'),
      { state: 'FIX', advice: /registry\.sqlite-wal is damaged/ },
    );
    t.ok(readFileSync(log).equals(torn), 'nothing is changed');
    writeFileSync(log, whole);
    t.equal(await (await start(t)).stop(), 0);
  });

  await t.test('it names the file and the remedy where the registry is damaged', async (t) => {
    truncateSync(registry, 8_192);
    t.match(await installation.run('start'), { status: 1, stdout: /registry\.sqlite is damaged .*backup/ });
  });
});
