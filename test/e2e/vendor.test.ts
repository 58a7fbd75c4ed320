/** A vendor's status page beside our own checks, through the whole program and over a power cut. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

interface IncidentBody {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: string;
  readonly status: string;
  readonly started_at: string;
  readonly resolved_at: string | null;
  readonly source_url: string;
  readonly service?: { readonly slug: string };
}
interface IncidentList {
  readonly incidents: readonly IncidentBody[];
}
interface StatusBody {
  readonly status: string;
  readonly vendor: {
    readonly status: string;
    readonly incident_id: string | null;
    readonly stale: boolean;
  } | null;
}

/** A site and its Statuspage, on two ports of loopback; a test sets what they say. */
async function startVendor(t: Test) {
  const state = {
    code: 200,
    pageCode: 200,
    incidents: [] as object[],
    maintenances: [] as object[],
    asked: 0,
  };
  const site = createServer((_request, response) => response.writeHead(state.code).end());
  const page = createServer((request, response) => {
    state.asked++;
    const about = { page: { id: 'abc123', name: 'Shop', url: 'https://status.shop.example' } };
    const documents: Record<string, object> = {
      '/api/v2/incidents.json': { ...about, incidents: state.incidents },
      '/api/v2/scheduled-maintenances.json': { ...about, scheduled_maintenances: state.maintenances },
    };
    const document = documents[request.url ?? ''];
    const code = document === undefined ? 404 : state.pageCode;
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
  });
  const urls: string[] = [];
  for (const server of [site, page]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    t.teardown(() => server.close());
  }
  return { state, siteUrl: `${urls[0]}/`, pageUrl: `${urls[1]}` };
}

const iso = (at: number) => new Date(at).toISOString();

t.setTimeout(300_000);
const vendorIs = (word: string) => (body: StatusBody) => body.vendor?.status === word;

t.test('one program beside the status pages of three vendors', async (t) => {
  const [shop, mart] = [await startVendor(t), await startVendor(t)];
  const names = await startNameServer(() => ({ addresses: ['10.9.8.7'] }));
  t.teardown(() => names.close());
  const shopPage = { url: shop.pageUrl, kind: 'statuspage' };
  const installation = await install(
    [
      {
        slug: 'shop',
        name: 'Shop',
        check: { url: shop.siteUrl },
        statusPage: { ...shopPage, components: ['Checkout'] },
      },
      { slug: 'blog', check: { url: shop.siteUrl }, statusPage: { ...shopPage, components: ['Blog'] } },
      {
        slug: 'mart',
        check: { url: mart.siteUrl },
        statusPage: { url: mart.pageUrl, kind: 'statuspage' },
      },
      {
        slug: 'hidden',
        check: { url: mart.siteUrl },
        statusPage: { url: 'http://status.shop.example', kind: 'statuspage' },
      },
    ],
    { incidents: { feedInterval: '1s' }, checks: { nameservers: [names.address] } },
  );
  t.teardown(() => installation.remove());
  const start = async () => {
    const program = await installation.start();
    t.teardown(() => program.killHard());
    return program;
  };
  let program = await start();

  await t.test('it names the private address of a status page in the log alone', async (t) => {
    const lines = () =>
      program
        .output()
        .split('\n')
        .filter((line) => line.includes('10.9.8.7'));
    await until(() => lines().length > 0 && program.output().includes('status pages cannot be read'));
    t.match(
      lines().map((line) => JSON.parse(line)),
      [
        {
          level: 'info',
          host: 'status.shop.example',
          address: '10.9.8.7',
          refusal: '10.9.8.7 is not public (private)',
          msg: 'a name resolves to a forbidden address',
        },
      ],
    );
    for (const path of [
      '/',
      '/status/shop',
      '/api/v1/status/shop',
      '/api/v1/incidents',
      '/readyz',
      '/metrics',
    ]) {
      const { status, body } = await program.get(path);
      t.equal(status, 200, path);
      t.notMatch(JSON.stringify(body), /10\.9\.8\.7/, path);
    }
  });

  await t.test(
    'it shows what the vendor says beside what it sees, exactly once over a power cut',
    async (t) => {
      await program.until<StatusBody>(
        '/api/v1/status/shop',
        (body) => body.status === 'up' && vendorIs('operational')(body),
      );
      const outageAt = Date.now();
      shop.state.code = 503;
      await program.until<StatusBody>('/api/v1/status/shop', (body) => body.status === 'down');
      const publishedAt = Date.now();
      const incident = {
        id: 'k1',
        name: 'Checkout <b>fails</b>',
        status: 'investigating',
        impact: 'critical',
        created_at: iso(publishedAt),
        started_at: iso(outageAt),
        updated_at: iso(publishedAt),
        resolved_at: null,
        shortlink: 'https://stspg.io/k1',
        components: [{ id: 'c1', name: 'Checkout', status: 'major_outage' }],
        incident_updates: [
          {
            id: 'u1',
            status: 'investigating',
            body: '<p>We look into it.</p><script>alert(1)</script>',
            created_at: iso(publishedAt),
            display_at: iso(publishedAt),
          },
        ],
      };
      shop.state.incidents = [incident];
      const told = await program.until<StatusBody>('/api/v1/status/shop', vendorIs('critical'));
      const { incidents } = await program.until<IncidentList>(
        '/api/v1/incidents/shop',
        ({ incidents }) => incidents.length === 2,
      );
      const own = incidents.find(({ source_url }) => source_url.startsWith(installation.siteUrl));
      const vendor = incidents.find(({ id }) => id === told.vendor?.incident_id);
      t.match(own, { severity: 'major', status: 'investigating' });
      t.match(vendor, {
        id: /^statuspage-[0-9a-f]{16}-shop$/,
        title: 'Checkout fails',
        severity: 'critical',
        status: 'investigating',
        started_at: iso(outageAt),
        resolved_at: null,
        source_url: 'https://stspg.io/k1',
      });
      t.match(vendor?.description, /We look into it\./);
      t.notMatch(vendor?.description, /[<>]/);
      const blog = (await program.get('/api/v1/incidents/blog')).body as IncidentList;
      t.notOk(
        blog.incidents.some(({ id }) => id.startsWith('statuspage-')),
        'the entry concerns another component',
      );

      await program.killHard();
      program = await start();
      await program.until<StatusBody>('/api/v1/status/shop', (body) => body.vendor?.stale === false);
      t.equal(((await program.get('/api/v1/incidents/shop')).body as IncidentList).incidents.length, 2);

      shop.state.code = 200;
      const resolvedAt = Date.now();
      const update = {
        id: 'u2',
        status: 'resolved',
        body: 'It is over.',
        created_at: iso(resolvedAt),
        display_at: iso(resolvedAt),
      };
      shop.state.incidents = [
        {
          ...incident,
          status: 'resolved',
          resolved_at: iso(resolvedAt),
          incident_updates: [update, ...incident.incident_updates],
        },
      ];
      await program.until<StatusBody>('/api/v1/status/shop', vendorIs('operational'));
      const { body } = await program.get(`/api/v1/incidents/shop/${vendor?.id}`);
      t.match(body, {
        service: { name: 'Shop', slug: 'shop' },
        incident: {
          source: 'vendor',
          status: 'resolved',
          resolved_at: iso(resolvedAt),
          timeline: [
            { at: iso(publishedAt), status: 'investigating', text: /We look into it\./ },
            { at: iso(resolvedAt), status: 'resolved', text: 'It is over.' },
          ],
        },
      });
      const lag = (await program.get('/api/v1/services/shop/vendor')).body as {
        acknowledgement: { outages: number; entries: { started_at: string; lag_seconds: number }[] };
      };
      const [entry] = lag.acknowledgement.entries;
      t.equal(lag.acknowledgement.outages, 1);
      t.equal(entry?.lag_seconds, (publishedAt - Date.parse(entry?.started_at ?? '')) / 1_000);
      t.notMatch(program.output(), /"level":(50|"error")/);
    },
  );

  await t.test(
    'it softens an outage within a maintenance, and keeps what it knows while the page is broken',
    async (t) => {
      const startsAt = Date.now() + 6_000;
      const plan = {
        id: 'm1',
        name: 'Database upgrade',
        status: 'scheduled',
        impact: 'maintenance',
        created_at: iso(startsAt - 60_000),
        scheduled_for: iso(startsAt),
        scheduled_until: iso(startsAt + 3_600_000),
        shortlink: 'https://stspg.io/m1',
        components: [],
        incident_updates: [],
      };
      mart.state.maintenances = [plan];
      const ahead = await program.until<{ maintenance: { state: string; id: string }[] }>(
        '/api/v1/maintenance',
        ({ maintenance }) => maintenance.length === 1,
      );
      t.match(ahead.maintenance, [
        { service: { slug: 'mart' }, title: 'Database upgrade', state: 'planned', starts_at: iso(startsAt) },
      ]);
      t.same(
        ((await program.get('/api/v1/incidents/mart')).body as IncidentList).incidents,
        [],
        'not before it starts',
      );
      const begun = await program.until<IncidentList>(
        '/api/v1/incidents/mart',
        ({ incidents }) => incidents.length === 1,
      );
      t.ok(Date.now() >= startsAt);
      t.match(begun.incidents, [
        {
          id: ahead.maintenance[0]?.id,
          severity: 'maintenance',
          status: 'identified',
          started_at: iso(startsAt),
        },
      ]);
      mart.state.code = 503;
      const { incidents } = await program.until<IncidentList>(
        '/api/v1/incidents/mart',
        ({ incidents }) => incidents.length === 2,
      );
      const own = incidents.find(({ id }) => id.startsWith('own-'));
      t.match(own, { severity: 'maintenance', status: 'investigating' });

      mart.state.pageCode = 500;
      const asked = mart.state.asked;
      await program.until<StatusBody>('/api/v1/status/mart', (body) => body.vendor?.stale === true, 20_000);
      t.ok(mart.state.asked > asked);
      const after = (await program.get('/api/v1/status/mart')).body as StatusBody;
      t.match(after, { status: 'down', vendor: { status: 'maintenance' } }, 'its last word stays');
      const metrics = (await program.get('/metrics')).body as string;
      t.match(metrics, /^upbeat_feeds_failing 2$/m, 'this page, and the one with a private address');
    },
  );

  t.equal(await program.stop(), 0);
});
