/** Heartbeats from the outside: what an owner with a key and curl sees (contract 4.5; decisions, Heartbeats). */
import t, { type Test } from 'tap';
import { type Installation, install, type RunningProgram } from '../support/program.ts';

interface Status {
  readonly status: string;
  readonly since: string;
  readonly last_checked: string;
  readonly response_time: number | null;
  readonly latest_check: { readonly status_code: number; readonly source: string } | null;
}

const DOMAIN = 'shop.example.com';
const SLUG = 'shop-example-com';
const STATUS = `/api/v1/status/${SLUG}`;
/** Longer than a busy machine needs between a heartbeat and the look at what it brought. */
const SILENCE_MS = 8_000;
const SILENCE = `${SILENCE_MS / 1_000}s`;

t.setTimeout(300_000);

async function start(t: Test, installation: Installation): Promise<RunningProgram> {
  const program = await installation.start();
  t.teardown(() => program.killHard());
  return program;
}

function sender({ siteUrl }: Installation, key: string, domain = DOMAIN) {
  return async (more: object = {}, path = '') => {
    const response = await fetch(`${siteUrl}/api/v1/heartbeat${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain, status: 'ok', ...more }),
    });
    const body = (await response.json()) as { readonly checked_at: string; readonly [name: string]: unknown };
    return { status: response.status, body };
  };
}

const statusOf = async (program: RunningProgram, slug = SLUG) =>
  (await program.get(`/api/v1/status/${slug}`)).body as Status;
const incidentsOf = async (program: RunningProgram, slug = SLUG) => {
  const { body } = await program.get(`/api/v1/incidents/${slug}`);
  return (body as { incidents: { title: string; status: string }[] }).incidents;
};

t.test('one program, and those that follow it', async (t) => {
  // Nothing listens at the address of the catalogue's one service; it is there for its domain.
  const entry = { slug: 'big', domain: 'big.example', check: { url: 'http://127.0.0.1:9/' } };
  const installation = await install([entry], { heartbeats: { silence: SILENCE } });
  t.teardown(() => installation.remove());
  const program = await start(t, installation);
  const key = await installation.makeKey('ada');

  await t.test(
    'it shows a service from its first heartbeat on, down by silence, and up by the next one',
    async (t) => {
      const send = sender(installation, key);

      const first = await send({ checks: { database: { status: 'ok', latency: 42 } } });
      t.match(first, {
        status: 200,
        body: { ok: true, service: DOMAIN, status: 'up', response_time: 42, checked_at: /Z$/ },
      });
      t.match((await program.get(STATUS)).body, {
        slug: 'shop-example-com',
        domain: DOMAIN,
        category: 'developer',
        status: 'up',
        response_time: 42,
        last_checked: first.body.checked_at,
        self_reported: true,
        latest_check: { status: 'up', response_time: 42, status_code: 200, source: 'heartbeat' },
      });
      t.equal((await program.get('/api/badge/shop-example-com')).status, 200);

      const { body } = await send();
      const down = await program.until<Status>(STATUS, ({ status }) => status === 'down');
      t.equal(Date.parse(down.last_checked) - Date.parse(body.checked_at), SILENCE_MS, 'at the deadline');
      t.match(down, {
        since: down.last_checked,
        response_time: null,
        latest_check: { status_code: 0, source: 'silence' },
      });
      t.match(await incidentsOf(program), [{ title: `${DOMAIN} has gone silent`, status: 'investigating' }]);

      t.match(await send({ run: 'r1' }, '/start'), { body: { status: 'down', run: { duration_ms: null } } });
      const ended = await send({ run: 'r1', status: 'degraded' });
      t.match(ended, { body: { status: 'slow', run: { id: 'r1' } } });
      t.type((ended.body.run as { duration_ms: unknown }).duration_ms, 'number');
      t.match(await send({ run: 'r2' }, '/fail'), { body: { status: 'down' } });
      t.match(await send(), { body: { status: 'up' } });
      t.equal((await incidentsOf(program)).length, 1);
    },
  );

  await t.test('it keeps domains to their accounts', async (t) => {
    const [domain, slug] = ['mall.example.com', 'mall-example-com'];
    const add = ['services', 'add', domain, '--account', 'ada', '--kind', 'heartbeat'];
    t.match(await installation.runHere(...add), { status: 0, stdout: `${slug}\n` });
    const [ada, bob] = [key, await installation.makeKey('bob')];
    t.match(await sender(installation, bob, domain)(), { status: 403, body: { code: 'forbidden_domain' } });
    t.match(await sender(installation, ada, domain)({ status: 'warn' }), {
      status: 200,
      body: { status: 'slow' },
    });
    t.match(await statusOf(program, slug), { self_reported: false }, 'the word of the operator verifies');
    for (const taken of ['big.example', 'api.big.example'])
      t.match(await sender(installation, ada, taken)(), { status: 403, body: { code: 'forbidden_domain' } });
    t.match(await sender(installation, 'upb_nothing', domain)(), {
      status: 401,
      body: { code: 'invalid_key' },
    });

    const shown = `/api/v1/services/${slug}/dependencies`;
    t.equal((await program.get(shown)).status, 403);
    const set = ['services', 'set', slug, '--public-dependencies', '--period', '5s', '--grace', '1s'];
    t.match(await installation.runHere(...set), { status: 0 });
    await program.until(shown, (body: object) => 'dependencies' in body);
    const { body: last } = await sender(
      installation,
      ada,
      domain,
    )({ checks: { Stripe: { status: 'down' } } });
    t.match((await program.get(shown)).body, { dependencies: [{ name: 'Stripe', status: 'down' }] });
    t.match((await program.get('/api/v1/dependencies')).body, {
      dependencies: [{ name: 'stripe', services: 1 }],
    });
    const silent = await program.until<Status>(
      `/api/v1/status/${slug}`,
      ({ latest_check }) => latest_check?.source === 'silence',
    );
    t.match(silent, { status: 'down' });
    t.equal(Date.parse(silent.last_checked) - Date.parse(last.checked_at), 6_000, 'by a period of its own');
    t.match(
      (await program.get('/api/v1/dependencies')).body,
      { dependencies: [] },
      'silence says nothing now',
    );
    t.match(await installation.runHere('services', 'set', 'big', '--paused'), {
      status: 1,
      stderr: /catalogue/,
    });

    // What was probed is probed no more, once it speaks for itself.
    const probed = ['services', 'add', 'other.example.com', '--account', 'ada'];
    t.match(await installation.runHere(...probed), { status: 0 });
    await program.until('/api/v1/status/other-example-com', (body: Status) => body.status !== undefined);
    t.match(await sender(installation, ada, 'other.example.com')(), { status: 200, body: { status: 'up' } });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const other = (await program.get('/api/v1/status/other-example-com')).body;
    t.match(other, { status: 'up', latest_check: { source: 'heartbeat' } });
  });

  await t.test(
    'it keeps what it answered through kill -9, and tells silence once across restarts',
    async (t) => {
      const [domain, slug] = ['jobs.example.com', 'jobs-example-com'];
      const send = sender(installation, key, domain);
      let last = await send({ checks: { db: { status: 'ok', latency: 7 } } });
      for (let n = 0; n < 10; n++) last = await send({ checks: { db: { status: 'ok', latency: n } } });
      await program.killHard();
      t.equal(last.status, 200);

      const second = await start(t, installation);
      const startedAt = Date.now();
      t.match(await statusOf(second, slug), {
        status: 'up',
        response_time: 9,
        last_checked: last.body.checked_at,
      });
      const down = await second.until<Status>(`/api/v1/status/${slug}`, ({ status }) => status === 'down');
      t.ok(
        Date.parse(down.last_checked) > Date.parse(last.body.checked_at) + SILENCE_MS,
        'after a full period',
      );
      t.ok(
        Date.parse(down.last_checked) <= startedAt + SILENCE_MS,
        'which began when it could be heard again',
      );
      await second.killHard();

      const third = await start(t, installation);
      t.match(await statusOf(third, slug), {
        status: 'down',
        since: down.since,
        last_checked: down.last_checked,
      });
      t.equal((await incidentsOf(third, slug)).length, 1);
      t.match(await send(), { status: 200, body: { status: 'up' } });
      t.equal(await third.stop(), 0);
    },
  );
});
