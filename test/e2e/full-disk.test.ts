/** The whole program on a disk that is full or read-only: reads and checks go on, writes wait, all is right afterwards. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { install, type RunningProgram } from '../support/program.ts';
import { makeSmallDisk } from '../support/small-disk.ts';

interface Ready {
  readonly status: string;
  readonly degraded: readonly string[];
}

interface Status {
  readonly status: string;
  readonly last_checked: string;
}

interface Incidents {
  readonly incidents: readonly { readonly service: string; readonly status: string }[];
}

t.setTimeout(300_000);
const MIB = 1_048_576;
const PATIENCE_MS = 45_000;
const isStatus = (status: string) => (body: Status) => body.status === status;
const isResolved = ({ incidents }: Incidents) => incidents.every(({ status }) => status === 'resolved');
const isWell = ({ degraded }: Ready) => !degraded.includes('storage');

/** A site whose answer a test sets. */
async function startSite(t: Test) {
  const state = { code: 200 };
  const server = createServer((_request, response) => response.writeHead(state.code).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

async function beat({ siteUrl }: RunningProgram, key: string, domain = 'jobs.example.com') {
  const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain, status: 'ok' }),
  });
  const { status, headers } = response;
  const body = (await response.json()) as Record<string, unknown>;
  return { status, retryAfter: headers.get('retry-after'), code: body.code };
}

/** Sends heartbeats until one is answered with `status`. */
async function beatUntil(program: RunningProgram, key: string, status: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await beat(program, key);
    if (answer.status === status) return;
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(answer)}\n${program.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const REFUSED = { status: 503, retryAfter: /^[1-9]\d*$/, code: 'storage_full' };

async function checkReads(t: Test, program: RunningProgram): Promise<void> {
  for (const path of [
    '/',
    '/status/shop',
    '/api/v1/services',
    '/api/v1/incidents',
    '/api/v1/services/shop/history',
  ])
    t.equal((await program.get(path)).status, 200, path);
  t.match(await program.get('/readyz'), { status: 200, body: { status: 'ready', degraded: ['storage'] } });
}

t.test('a data directory on a disk of 8 MiB', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-disk-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  const disk = await makeSmallDisk(t, dataDir, 8 * MIB);
  if (disk === null) {
    t.comment('SKIPPED: no namespace of mounts can be made here');
    return;
  }
  const site = await startSite(t);
  const installation = await install(
    [{ slug: 'shop', check: { url: site.url } }],
    { storage: { dataDir }, heartbeats: { silence: '4s' } },
    {},
    disk.enter,
  );
  t.teardown(() => installation.remove());
  // A command sees the disk, which this process does not.
  const { stdout, stderr } = await installation.run('keys', 'create', '--account', 'ada', '--name', 'x');
  if (stdout === '') throw new Error(stderr);
  const key = stdout.trim();
  const start = async () => {
    const program = await installation.start();
    t.teardown(() => program.killHard());
    return program;
  };
  let program = await start();

  await t.test('it goes on checking and answering on a full disk, and heals by itself', async (t) => {
    await program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    t.match(await beat(program, key), { status: 200 });

    disk.fill();
    await beatUntil(program, key, 503);
    t.match(await beat(program, key), REFUSED);
    t.match(await beat(program, key, 'new.example.com'), REFUSED, 'of a service that is not known yet');
    await checkReads(t, program);
    t.match(
      (await program.get('/metrics')).body?.toString(),
      /^upbeat_store_connected\{store="storage"\} 0$/m,
    );
    site.code = 503;
    await program.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    site.code = 200;
    await program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    site.code = 503;
    const down = await program.until<Status>('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    // Longer than a lease lasts without its renewal, and than heartbeats may be silent.
    const until = new Date(Date.parse(down.last_checked) + 6_000).toISOString();
    await program.until<Status>(
      '/api/v1/status/shop',
      ({ last_checked }) => last_checked > until,
      PATIENCE_MS,
    );
    t.match(
      (await program.get('/api/v1/status/jobs-example-com')).body,
      { status: 'up' },
      'no heartbeat counts as missed',
    );
    t.match(await beat(program, key), REFUSED);
    t.same(
      ((await program.get('/api/v1/incidents')).body as Incidents).incidents,
      [],
      'none is told that is not written',
    );

    disk.empty();
    await beatUntil(program, key, 200);
    await program.until('/readyz', isWell, PATIENCE_MS);
    await program.until(
      '/api/v1/incidents',
      ({ incidents }: Incidents) => incidents.some(({ status }) => status === 'investigating'),
      PATIENCE_MS,
    );
    const { incidents } = (await program.get('/api/v1/incidents')).body as Incidents;
    t.equal(new Set(incidents.map(({ service }) => service)).size, 1);
    t.equal(incidents.filter(({ status }) => status === 'investigating').length, 1, 'once');
    t.notMatch(program.output(), /starting again|the lease of the registry was lost/);
    const complaints = program.output().match(/^\{"level":"(?:warn|error)".*$/gm) ?? [];
    t.ok(complaints.length < 10, `the log does not fill up: ${complaints.join('\n')}`);
    site.code = 200;
    await program.until('/api/v1/incidents', isResolved, PATIENCE_MS);
    t.match(await beat(program, key), { status: 200 });
    t.equal(await program.stop(), 0);
  });

  await t.test('it starts on a full disk, and serves what it has', async (t) => {
    disk.fill();
    installation.writeCatalogue([
      { slug: 'shop', check: { url: site.url } },
      { slug: 'later', check: { url: site.url } },
    ]);
    site.code = 503;
    const second = await start();
    await second.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    await checkReads(t, second);
    t.match(await beat(second, key), REFUSED);
    await second.killHard();
    program = await start();
    await program.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    t.match(await beat(program, key), REFUSED);

    disk.empty();
    await beatUntil(program, key, 200);
    await program.until('/readyz', isWell, PATIENCE_MS);
    await program.until('/api/v1/status/later', isStatus('down'), PATIENCE_MS);
    for (const [slug, statuses] of [
      ['later', ['investigating']],
      ['shop', ['investigating', 'resolved']],
    ] as const)
      await program.until(
        `/api/v1/incidents/${slug}`,
        ({ incidents }: Incidents) => incidents.map(({ status }) => status).join() === statuses.join(),
        PATIENCE_MS,
      );
    site.code = 200;
    await program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    t.match(await beat(program, key), { status: 200 });
    t.equal(await program.stop(), 0);
  });

  /** Starts the program on the read-only disk, and lets it be written again. */
  const startReadOnly = async (t: Test) => {
    await disk.setReadOnly(true);
    program = await start();
    await program.until('/api/v1/status/jobs-example-com', isStatus('up'), PATIENCE_MS);
    await checkReads(t, program);
    t.match(await beat(program, key), REFUSED);
    await disk.setReadOnly(false);
    await beatUntil(program, key, 200);
    await program.until('/readyz', isWell, PATIENCE_MS);
  };

  await t.test('it starts on a read-only disk, and writes when it can', async (t) => {
    await startReadOnly(t);
    t.match(await beat(program, key), { status: 200 });
    await program.killHard();
  });

  await t.test('it starts on a read-only disk after a kill that left a log', async (t) => {
    const files = readdirSync(join(disk.seenAt)).sort();
    t.ok(statSync(join(disk.seenAt, 'registry.sqlite-wal')).size > 0, 'what was written last is in the log');
    // As a copy, a snapshot or a restart of the machine leaves the files: SQLite makes this one anew.
    for (const name of files) if (name.endsWith('-shm')) rmSync(join(disk.seenAt, name));
    await startReadOnly(t);
    t.equal(await program.stop(), 0);
  });
});
