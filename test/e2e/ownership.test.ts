/** Attacks on names and domains from the outside: what strangers leave behind for others (decisions, Ownership). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';

interface Shown {
  readonly name: string;
  readonly domain: string;
  readonly status: string;
  readonly self_reported: boolean;
  readonly latest_check: { readonly source: string } | null;
}

t.setTimeout(300_000);
/** An installation, and how the services of its catalogue are checked: at a site that is well. */
async function setUp(settings: object = {}) {
  const site = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.teardown(() => site.close());
  const check = { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` };
  const installation = await install([{ slug: 'other', check }], {
    ...settings,
    checks: { interval: '1h', firstSpread: '1h' },
  });
  t.teardown(() => installation.remove());
  return { installation, check };
}

async function start(installation: Installation, port?: number): Promise<RunningProgram> {
  const program = await installation.start(port);
  t.teardown(() => program.killHard());
  return program;
}

/** What the first test leaves running for the second one. */
let started: Awaited<ReturnType<typeof setUpAndStart>> | null = null;

async function setUpAndStart() {
  const { installation, check } = await setUp();
  return { installation, check, program: await start(installation) };
}

/** Makes a key of the account; returns how heartbeats are sent with it. */
async function createSender(installation: Installation, account: string) {
  const key = await installation.makeKey(account);
  return async (program: RunningProgram, domain: string, more: object = {}) => {
    const response = await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain, status: 'ok', ...more }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

const isCatalogues = ({ self_reported }: Shown) => self_reported === false;

/** How pages and feeds tell of a heartbeat that said "down". */
const OUTAGE = /reports a failure|reports that it is down/;

/** That nothing of a stranger's past is shown anywhere under this slug. */
async function seesNothing(t: Test, program: RunningProgram, slug: string, page: string) {
  const { status, latest_check: latest } = (await program.get(`/api/v1/status/${slug}`)).body as Shown;
  t.match(status, /^(?:unknown|up)$/);
  t.match(latest?.source ?? 'root', 'root', 'what its own checks found');
  t.match((await program.get(`/api/v1/incidents/${slug}`)).body, { incidents: [] });
  const history = (await program.get(`/api/v1/services/${slug}/history`)).body as {
    buckets: readonly { readonly down: number }[];
  };
  t.same(
    history.buckets.filter(({ down }) => down > 0),
    [],
  );
  for (const path of ['/', '/incidents.atom', `/status/${page}`, `/status/${page}/incidents.atom`]) {
    const { status, body } = await program.get(path);
    t.equal(status, 200, path);
    t.notMatch(String(body), OUTAGE, path);
  }
  const { incidents } = (await program.get('/api/v1/incidents')).body as {
    incidents: readonly { readonly service: { readonly slug: string } }[];
  };
  t.notOk(
    incidents.some(({ service }) => service.slug === slug),
    'nor in the list of all incidents',
  );
}

/** What the stream of events tells from its beginning on, up to the second event of `slug`. */
async function replay({ siteUrl }: RunningProgram, slug: string): Promise<string> {
  const response = await fetch(`${siteUrl}/api/v1/events`, { headers: { 'Last-Event-ID': '0' } });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.split(`"slug":"${slug}"`).length > 2) break;
  }
  return text;
}

t.test(
  'an entry of the catalogue takes its slug and begins empty, also at a process that serves',
  NEEDS_REDIS,
  async (t) => {
    const redis = await startRedis(t);
    const { installation, check } = await setUp({
      storage: { redis: { url: `redis://127.0.0.1:${redis.port}` } },
    });
    const program = await start(installation);
    const serving = await start(installation, await freePort());
    const mallory = await createSender(installation, 'mallory');
    for (const domain of ['taken.com', 'api.taken.com', 'tak-en.org']) {
      t.match(await mallory(serving, domain), { status: 200 }, domain);
      t.match(await mallory(program, domain, { status: 'down' }), { status: 200 }, domain);
    }
    t.match((await program.get('/api/v1/incidents/taken-com')).body, { incidents: [{}] });

    // The list is read again while all of that runs.
    const other = { slug: 'other', check };
    installation.writeCatalogue([
      other,
      { slug: 'taken-com', domain: 'taken.com', check },
      { slug: 'tak-en-org', domain: 'elsewhere.net', check },
    ]);
    for (const one of [program, serving]) {
      await one.until('/api/v1/status/taken-com', isCatalogues);
      await one.until('/api/v1/status/tak-en-org', isCatalogues);
      await seesNothing(t, one, 'taken-com', 'taken-com');
      await seesNothing(t, one, 'tak-en-org', 'elsewhere-net');
      t.match((await one.get('/api/v1/status/api-taken-com')).status, 404, 'its subdomain is displaced too');
      t.notMatch(
        await replay(one, 'tak-en-org-2'),
        /"slug":"(?:taken-com|tak-en-org)"[^\n]*"down"|"slug":"api-taken-com/,
      );

      // Its former owner may not report for it any more; the service of a domain of its own goes on elsewhere.
      for (const domain of ['taken.com', 'api.taken.com', 'new.taken.com'])
        t.match(await mallory(one, domain), { status: 403, body: { code: 'forbidden_domain' } }, domain);
      t.match(await mallory(one, 'tak-en.org', { status: 'down' }), {
        status: 200,
        body: { slug: 'tak-en-org-2' },
      });
      t.match((await one.get('/api/v1/incidents/tak-en-org-2')).body, {
        incidents: [{ status: 'investigating' }],
      });
      const feed = String((await one.get('/status/tak-en-org-2/incidents.atom')).body);
      t.match(feed, OUTAGE, 'and its feed tells of it');
    }

    // And once more from disk.
    t.equal(await serving.stop(), 0);
    t.equal(await program.stop(), 0);
    const again = await start(installation);
    await seesNothing(t, again, 'taken-com', 'taken-com');
    t.match((await again.get('/api/v1/status/tak-en-org-2')).body, { status: 'down', domain: 'tak-en.org' });
    started = { installation, check, program: again };
  },
);

t.test('neither a slug of a removed service nor a similar name harms other accounts', async (t) => {
  const { installation, check, program } = started ?? (await setUpAndStart());
  const [mallory, ada] = [
    await createSender(installation, 'mallory'),
    await createSender(installation, 'ada'),
  ];

  // Registered and deleted: nothing stays reserved.
  t.match(await mallory(program, 'shop.example.com'), { status: 200 });
  t.match(await installation.runHere('services', 'remove', 'shop-example-com'), { status: 0 });
  await program.until('/api/v1/status/shop-example-com', ({ status }: { status: unknown }) => status === 404);
  t.match(await ada(program, 'shop.example.com'), { status: 200, body: { slug: undefined } });
  t.match((await program.get('/api/v1/status/shop-example-com')).body, { status: 'up' });
  const incidents = await program.get('/api/v1/incidents/shop-example-com');
  t.match(incidents.body, { incidents: [] });

  // Names on the command line, over the API, and when the catalogue gains one.
  t.match(await installation.runHere('services', 'set', 'shop-example-com', '--name', 'Οther'), {
    status: 1,
    stderr: /equals or resembles other of the public catalogue/,
  });
  t.match(await installation.runHere('services', 'set', 'shop-example-com', '--name', 'a\u001b]52;c;ZXY='), {
    status: 2,
    stderr: /must not contain U\+001B/,
  });
  t.match(await ada(program, 'shop.example.com', { checks: { 'db\u001b[2J': { status: 'ok' } } }), {
    status: 400,
    body: { code: 'invalid_body', detail: /must not contain U\+001B/ },
  });
  t.match(await installation.runHere('services', 'set', 'shop-example-com', '--name', 'Brand New'), {
    status: 0,
  });
  await program.until('/api/v1/status/shop-example-com', ({ name }: Shown) => name === 'Brand New');
  installation.writeCatalogue([
    { slug: 'other', check },
    { slug: 'brand', name: 'Вrand-New', check },
  ]);
  await program.until('/api/v1/status/shop-example-com', ({ name }: Shown) => name === 'shop.example.com');
  t.equal(await program.stop(), 0);
});
