/** The whole program from the outside: what an operator and a client of the API see. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { until } from '../support/loopback.ts';
import { type CatalogueEntry, install } from '../support/program.ts';
import { reasonOn } from './contract/reported-words.ts';

interface Status {
  readonly slug: string;
  readonly status: string;
  readonly since: string | null;
  readonly response_time: number | null;
  readonly last_checked: string | null;
  readonly latest_check: {
    readonly status: string;
    readonly status_code: number;
    readonly checked_at: string;
  } | null;
}

/** A server whose answer a test can change. */
async function serve(): Promise<{
  url: string;
  port: number;
  answer: (status: number) => void;
  server: Server;
}> {
  let code = 200;
  const server = createServer((_request, response) => response.writeHead(code).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, server, answer: (status) => (code = status) };
}

// They mostly wait.
t.jobs = 3;
t.setTimeout(300_000);
const sideBySide = () => ({ buffered: true });

const isStatus = (status: string) => (body: Status) => body.status === status;

t.test('one program', sideBySide(), async (t) => {
  const [shop, site] = await Promise.all([serve(), serve()]);
  const one = { slug: 'one', domain: 'one.example', check: { url: site.url } };
  const shopEntry = { slug: 'shop', name: 'Shop', check: { url: shop.url } };
  const installation = await install([one, shopEntry]);
  t.teardown(() => {
    shop.server.close();
    site.server.close();
    installation.remove();
  });
  const early = await installation.run('services', 'add', 'api.one.example', '--account', 'ada');
  t.match(early, { status: 1, stderr: /catalogue/ }, 'the list counts before the first start too');
  const program = await installation.start();
  t.teardown(() => program.killHard());
  t.jobs = 3;

  const first = t.test(
    'it follows a service up, down and up again, with its incident',
    sideBySide(),
    async (t) => {
      const up = await program.until<Status>('/api/v1/status/shop', isStatus('up'));
      t.match(up, {
        slug: 'shop',
        name: 'Shop',
        domain: 'shop.example',
        category: 'developer',
        status: 'up',
        stale: false,
        latest_check: { status: 'up', status_code: 200 },
      });
      t.type(up.response_time, 'number');

      shop.answer(503);
      const down = await program.until<Status>('/api/v1/status/shop', isStatus('down'));
      t.equal(down.latest_check?.status_code, 503);
      t.ok(
        Date.parse(down.since ?? '') > Date.parse(up.last_checked ?? ''),
        'down is dated to the first failed attempt',
      );
      t.ok(
        Date.parse(down.since ?? '') < Date.parse(down.last_checked ?? ''),
        'which came before the last one',
      );

      interface List {
        readonly incidents: readonly {
          readonly status: string;
          readonly started_at: string;
          readonly resolved_at: string | null;
        }[];
      }
      const open = await program.until<List>('/api/v1/incidents/shop', (body) => body.incidents.length === 1);
      t.match(open, {
        service: { name: 'Shop', slug: 'shop' },
        incidents: [
          { severity: 'major', status: 'investigating', started_at: down.since, resolved_at: null },
        ],
      });

      shop.answer(204);
      await program.until<Status>('/api/v1/status/shop', isStatus('up'));
      const resolved = await program.until<List>(
        '/api/v1/incidents',
        (body) => body.incidents[0]?.status === 'resolved',
      );
      t.match(resolved, { incidents: [{ service: { name: 'Shop', slug: 'shop' }, status: 'resolved' }] });
      t.not(resolved.incidents[0]?.resolved_at, null);
    },
  );

  const second = t.test(
    'it takes keys from the command line at once, and forgets revoked ones within a second',
    sideBySide(),
    async (t) => {
      const made = await installation.run(
        ...['keys', 'create', '--account', 'ada', '--name', 'laptop', '--expires', '90d'],
      );
      t.match(made.stdout, /^upb_[0-9A-Za-z]{38}\n$/, made.stderr);
      const headers = { authorization: `Bearer ${made.stdout.trim()}` };
      const answer = await program.get('/api/v1/status/one', headers);
      t.equal(answer.status, 200);
      t.equal(answer.headers.get('x-ratelimit-limit'), '60');

      const listed = await installation.runHere('keys', 'list', '--json');
      const [key] = JSON.parse(listed.stdout) as { id: number; name: string; account: string }[];
      t.match(key, { name: 'laptop', account: 'ada' });
      t.notMatch(listed.stdout, made.stdout.trim(), 'the list never shows the key');

      t.equal((await installation.runHere('keys', 'revoke', String(key?.id))).status, 0);
      // Within a second by the rule; later by what a busy machine adds.
      while ((await program.get('/api/v1/status/one', headers)).status !== 401)
        await new Promise((resolve) => setTimeout(resolve, 50));
      const again = await installation.runHere(
        'keys',
        'create',
        '--account',
        'ada',
        '--name',
        ' laptop ',
        '--json',
      );
      t.match(JSON.parse(again.stdout), { account: 'ada', name: 'laptop', expires: null, key: /^upb_/ });
    },
  );

  const third = t.test(
    'it allows an operator to add, list, export and remove services',
    sideBySide(),
    async (t) => {
      const added = await installation.runHere(
        ...['services', 'add', 'Shop.Test.Example', '--account', 'ada', '--kind', 'heartbeat'],
      );
      t.equal(added.status, 0, added.stderr);
      await program.until<Status>('/api/v1/status/shop-test-example', isStatus('unknown'));
      const listed = JSON.parse((await installation.runHere('services', 'list', '--json')).stdout) as {
        slug: string;
      }[];
      t.same(
        listed.map(({ slug }) => slug),
        ['one', 'shop', 'shop-test-example'],
      );
      t.match((await installation.runHere('services', 'export')).stdout, /shop\.test\.example/);
      const page = await installation.runHere(
        ...['pages', 'add', 'acme', '--account', 'ada', '--title', 'Acme', '--json'],
      );
      const url = `${installation.siteUrl}/p/acme`;
      t.same(JSON.parse(page.stdout), { slug: 'acme', title: 'Acme', account: 'ada', url });
      t.equal((await installation.runHere('services', 'remove', 'shop-test-example')).status, 0);
      await program.until<{ total: number }>('/api/v1/services', (body) => body.total === 2);
    },
  );

  await Promise.all([first, second, third]);

  await t.test('it says how to configure sign-in if no provider is configured', async (t) => {
    const page = await fetch(`${installation.siteUrl}/dashboard`);
    t.match(await page.text(), /no provider is configured/);
  });

  await t.test('it applies a changed catalogue without a restart, and leaves a bad one alone', async (t) => {
    installation.writeCatalogue([{ slug: 'two', check: { url: site.url } }, shopEntry]);
    await program.until<Status>('/api/v1/status/two', isStatus('up'));
    t.equal((await program.get('/api/v1/status/one')).status, 404, 'a service that left the list is gone');

    installation.writeCatalogue([{ slug: 'BAD SLUG', check: { url: site.url } }]);
    program.process.kill('SIGHUP');
    await until(() => /BAD SLUG/.test(program.output()), 45_000);
    t.equal((await program.get('/api/v1/status/two')).status, 200);
    installation.writeCatalogue([{ slug: 'two', check: { url: site.url } }, shopEntry]);
  });

  await t.test(
    'it takes changed channels of the operator at SIGHUP, and names what is wrong with one',
    async (t) => {
      const file = join(installation.folder, 'upbeat.yaml');
      const before = readFileSync(file, 'utf8');
      const configure = (settings: object) => {
        const operator = { alerts: { operator: [{ kind: 'ntfy', settings }] } };
        writeFileSync(file, stringify({ ...parse(before), ...operator }));
        program.process.kill('SIGHUP');
      };
      const { length } = program.output();
      const said = () => program.output().slice(length);
      configure({ nothing: 'known' });
      await until(() => /alerts\.operator\.0\./.test(said()), 45_000);
      // A reload that began before may be told of first.
      const reloads = () => said().split('the configuration was reloaded').length - 1;
      t.notMatch(said().split('configuration_invalid')[1] ?? '', 'the configuration was reloaded');
      const earlier = reloads();
      configure({ server: 'https://push.test.example', topic: 'upbeat' });
      await until(() => reloads() > earlier, 45_000);
      t.notMatch(said(), 'changed settings need a restart');
      writeFileSync(file, before);
    },
  );

  await t.test('it keeps status, since and phase through kill -9', async (t) => {
    shop.answer(500);
    const before = await program.until<Status>('/api/v1/status/shop', isStatus('down'));
    const beat = await fetch(`${installation.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await installation.makeKey('ada')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ domain: 'jobs.example.org', status: 'Critical' }),
    });
    t.equal(beat.status, 200);
    await program.killHard();

    const restarted = await installation.start();
    t.teardown(() => restarted.killHard());
    const after = (await restarted.get('/api/v1/status/shop')).body as Status;
    t.same([after.status, after.since], [before.status, before.since]);
    const { incidents } = (await restarted.get('/api/v1/incidents/shop')).body as {
      incidents: { status: string }[];
    };
    t.same(
      incidents.map(({ status }) => status),
      ['investigating', 'resolved'],
    );
    const jobs = (await restarted.get('/api/v1/status/jobs-example-org')).body;
    t.match(jobs, { status: 'down', latest_check: { reported: 'Critical' } }, 'a restart forgets no word');
    const page = String((await restarted.get('/status/jobs-example-org')).body);
    t.equal(reasonOn(page), 'it reports "Critical"');
    t.equal(await restarted.stop('SIGINT'), 0);
  });
});

t.test('it leaves everything unknown where the prober is offline, and says so', sideBySide(), async (t) => {
  const gone = await serve();
  await new Promise((resolve) => gone.server.close(resolve));
  const entries: CatalogueEntry[] = Array.from({ length: 12 }, (_, index) => ({
    slug: `gone-${index}`,
    check: { url: gone.url },
  }));
  const installation = await install(entries, { checks: { controlTargets: [gone.url] } });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  await program.until<{ degraded: readonly unknown[] }>('/readyz', (body) => body.degraded.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const list = (await program.get('/api/v1/services')).body as { services: Status[] };
  t.same(
    list.services.map(({ status, last_checked }) => [status, last_checked]),
    entries.map(() => ['unknown', null]),
  );
  t.match(program.output(), /offline/i, 'the console says why');
  const metrics = (await program.get('/metrics')).body as Buffer;
  t.match(metrics.toString(), /^upbeat_prober_online 0$/m);
  const incidents = (await program.get('/api/v1/incidents')).body as { incidents: unknown[] };
  t.same(incidents.incidents, []);
  t.equal(await program.stop('SIGTERM'), 0, 'it ends with status 0');
  t.match(program.output(), /"msg":"stopped"/);
});

t.test('it prints every problem of a configuration and ends with status 2', sideBySide(), async (t) => {
  const installation = await install([], { checks: { interval: '5 minutes', treads: 2 }, htp: {} });
  t.teardown(() => installation.remove());
  for (const args of [['start', '--check-config'], ['start']]) {
    const { status, stderr } = await installation.run(...args);
    t.equal(status, 2);
    t.match(stderr, /^checks\.interval: .*\nchecks\.treads: .*\nhtp: .*\n$/, args.join(' '));
  }
  t.equal((await installation.run('no-such-command')).status, 2, 'wrong usage ends with status 2 too');
  const check = { url: 'https://127.0.0.1:9/', caFile: 'nowhere/ca.pem' };
  const absent = await install([{ slug: 'inner', check }]);
  t.teardown(() => absent.remove());
  t.match(await absent.run('start', '--check-config'), {
    status: 1,
    stderr: /catalogue\.yaml: inner: check\.caFile nowhere\/ca\.pem is not there\n$/,
  });
});
