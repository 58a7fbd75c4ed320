/** The word that a service says of itself, from its health body or heartbeat to every process's answers and pages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';
import { useRedis } from '../support/run-servers.ts';

t.setTimeout(240_000);

interface Status {
  readonly status: string;
  readonly latest_check: { readonly reported: string | null; readonly source: string } | null;
}

/** Starts a program over a service with a health endpoint, one without, and one that reports by itself. */
async function setUp(t: Test, storage: object) {
  let word = 'Degraded';
  const site = createServer((request, response) => {
    if (request.url === '/health') response.end(JSON.stringify({ status: word }));
    else response.end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const installation = await install(
    [
      { slug: 'health', name: 'Health', check: { kind: 'health', url: `${base}/health` } },
      { slug: 'root', name: 'Root', check: { url: `${base}/` } },
    ],
    { storage, checks: { controlTargets: [base] } },
  );
  t.teardown(() => installation.remove());
  const { stdout } = await installation.run('keys', 'create', '--account', 'ada', '--name', 'laptop');
  const start = async (port?: number) => {
    const program = await installation.start(port);
    t.teardown(() => program.killHard());
    return program;
  };
  const say = (next: string) => {
    word = next;
  };
  return { start, say, key: stdout.trim() };
}

async function beat({ siteUrl }: RunningProgram, key: string, body: object) {
  const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'jobs.example.org', ...body }),
  });
  return response.status;
}

/** What a program answers once a service has the status. */
async function told(
  program: RunningProgram,
  slug: string,
  page: string,
  status: string,
  word: string | null,
) {
  const { latest_check: check } = await program.until<Status>(
    `/api/v1/status/${slug}`,
    (body) => body.status === status && body.latest_check?.reported === word,
  );
  const html = String((await program.get(`/status/${page}`)).body);
  const [, verdict = ''] = /<p class="verdict"[^>]*>([\s\S]*?)<\/p>/.exec(html) ?? [];
  const reason = /\): ([^<]*)\./.exec(verdict.replaceAll(/<[^>]*>/g, ''))?.[1] ?? null;
  return { reported: check?.reported, reason: reason?.replaceAll('&quot;', '"') ?? null };
}

t.test('it is told as it was said, and is the reason where it decided', async (t) => {
  const { start, say, key } = await setUp(t, {});
  const program = await start();
  t.same(await told(program, 'health', 'health-example', 'slow', 'Degraded'), {
    reported: 'Degraded',
    reason: 'it reports "Degraded"',
  });
  t.same(await told(program, 'root', 'root-example', 'up', null), { reported: null, reason: null });
  say('OK');
  t.same(await told(program, 'health', 'health-example', 'up', 'OK'), { reported: 'OK', reason: null });
  say('on fire');
  t.same(await told(program, 'health', 'health-example', 'down', 'on fire'), {
    reported: 'on fire',
    reason: 'the service reports an unknown status "on fire"',
  });
  const jobs = ['jobs-example-org', 'jobs-example-org'] as const;
  t.equal(await beat(program, key, { status: 'WARN', checks: { db: { status: 'ok', latency: 12 } } }), 200);
  t.same(await told(program, ...jobs, 'slow', 'WARN'), { reported: 'WARN', reason: 'it reports "WARN"' });
  t.equal(await beat(program, key, { status: 'ok', checks: { db: { status: 'ok', latency: 3_400 } } }), 200);
  t.same(await told(program, ...jobs, 'slow', 'ok'), {
    reported: 'ok',
    reason: 'by its own report, with answers in 3,400 ms',
  });
  t.equal(await beat(program, key, { status: 'Critical' }), 200);
  t.same(await told(program, ...jobs, 'down', 'Critical'), {
    reported: 'Critical',
    reason: 'it reports "Critical"',
  });
  t.equal(await program.stop(), 0);
  const again = await start();
  t.same(
    await told(again, ...jobs, 'down', 'Critical'),
    { reported: 'Critical', reason: 'it reports "Critical"' },
    'a restart forgets no word',
  );
  t.equal(await again.stop(), 0);
});

t.test('it is told alike by a process that only serves', NEEDS_REDIS, async (t) => {
  const redis = await useRedis(t);
  const { start, key } = await setUp(t, { redis: { url: `${redis.url}?prefix=${redis.prefix}` } });
  const monitor = await start();
  const serving = await start(await freePort());
  t.match((await serving.get('/readyz')).body, { role: 'serving' });
  t.equal(await beat(serving, key, { status: 'partial' }), 200);
  for (const program of [monitor, serving]) {
    t.same(await told(program, 'health', 'health-example', 'slow', 'Degraded'), {
      reported: 'Degraded',
      reason: 'it reports "Degraded"',
    });
    t.same(await told(program, 'jobs-example-org', 'jobs-example-org', 'slow', 'partial'), {
      reported: 'partial',
      reason: 'it reports "partial"',
    });
  }
  t.equal(await serving.stop(), 0);
  t.equal(await monitor.stop(), 0);
});
