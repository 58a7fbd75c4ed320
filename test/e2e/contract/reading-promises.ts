/** What the contract promises to those who read (contract 2 to 4.4, 4.6; decisions). */
import type { Test } from 'tap';
import { at, listAt, namesAt, numberAt, textAt } from '../../support/json.ts';
import type { ContractWorld } from './contract-world.ts';

/**
 * What of an installation a promise can depend on: Redis in place of the embedded stores of statuses, heartbeat
 * deadlines, limits and events; the store of samples; whether the process is the monitor or only serves.
 */
export type Part = 'redis' | 'samples' | 'role';

/** A promise, and how it is tried. */
export interface ContractPromise {
  readonly promise: string;
  /** Empty: it is tried on the embedded stores alone. What it reads in the registry is read alike everywhere. */
  readonly dependsOn: readonly Part[];
  readonly holds: (t: Test, world: ContractWorld) => Promise<void>;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SERVICE_MEMBERS = [
  'category',
  'domain',
  'last_checked',
  'name',
  'response_time',
  'self_reported',
  'since',
  'slug',
  'stale',
  'status',
];

/** The list. */
export const READING_PROMISES: readonly ContractPromise[] = [
  {
    promise: '4.1: the status of a service, with its latest check',
    dependsOn: ['redis', 'role'],
    async holds(t, { get, until }) {
      // A machine under load may be late with a check.
      const json = await until(
        '/api/v1/status/quick',
        (body) => at(body, 'status') === 'up' && at(body, 'stale') === false,
      );
      const { status, headers } = await get('/api/v1/status/quick');
      t.same([status, headers.get('content-type')], [200, 'application/json; charset=utf-8']);
      t.same(namesAt(json), [...SERVICE_MEMBERS, 'latest_check', 'vendor'].sort());
      t.match(json, {
        slug: 'quick',
        name: 'The quick one',
        domain: 'quick.example',
        category: 'cloud',
        status: 'up',
        stale: false,
        since: TIME,
        last_checked: TIME,
        self_reported: false,
        vendor: null,
        latest_check: {
          status: 'up',
          status_code: 200,
          checked_at: at(json, 'last_checked'),
          source: 'root',
        },
      });
      const responseTime = numberAt(json, 'response_time');
      t.ok(Number.isInteger(responseTime) && responseTime >= 0, 'whole milliseconds');
      t.equal(at(json, 'latest_check', 'response_time'), responseTime);
      t.match(await get('/api/v1/status/QUICK'), { status: 200, json: { slug: 'quick' } });
      t.match(await get('/api/v1/status/nothing'), { status: 404, json: { code: 'service_not_found' } });
    },
  },
  {
    promise: '3: an error answer turns a service down, a good one up, and an own incident tells of it',
    dependsOn: ['redis', 'role'],
    async holds(t, { get, until, answer, program }) {
      const path = '/api/v1/status/turning';
      await until(path, (body) => at(body, 'status') === 'up');
      answer('turning', 503);
      const down = await until(path, (body) => at(body, 'status') === 'down');
      t.match(down, { latest_check: { status: 'down', status_code: 503, failure: { class: 'status' } } });
      t.ok(
        Date.parse(textAt(down, 'since')) <= Date.parse(textAt(down, 'last_checked')),
        'dated back to the first failure',
      );
      const open = await until('/api/v1/incidents/turning', (body) =>
        listAt(body, 'incidents').some((one) => at(one, 'resolved_at') === null),
      );
      const incident = at(open, 'incidents', 0);
      t.match(incident, {
        severity: 'major',
        status: 'investigating',
        started_at: TIME,
        resolved_at: null,
      });
      t.match(at(incident, 'source_url'), /\/status\/turning-example$/);
      answer('turning', 204);
      await until(path, (body) => at(body, 'status') === 'up');
      const after = await until('/api/v1/incidents/turning', (body) =>
        listAt(body, 'incidents').every((one) => at(one, 'status') === 'resolved'),
      );
      t.match(
        listAt(after, 'incidents').find((one) => at(one, 'id') === at(incident, 'id')),
        { status: 'resolved', resolved_at: TIME },
        'the same incident',
      );
      t.match(await get('/api/v1/incidents?status=resolved&limit=5'), {
        status: 200,
        json: { limit: 5, offset: 0, incidents: [{ service: { slug: 'turning', name: 'turning' } }] },
      });
      t.equal(program.process.exitCode, null);
    },
  },
  {
    promise: '3: what nothing answers is down, without a response time',
    dependsOn: [],
    async holds(t, { until }) {
      const down = await until('/api/v1/status/broken', (body) => at(body, 'status') === 'down');
      t.match(down, { response_time: null, latest_check: { status_code: 0, failure: { class: 'refused' } } });
    },
  },
  {
    promise: '4.2: the list in the order of slugs, by pages and categories',
    dependsOn: ['redis', 'role'],
    async holds(t, { get }) {
      const { status, json } = await get('/api/v1/services');
      t.equal(status, 200);
      t.same(namesAt(json), ['limit', 'offset', 'services', 'total']);
      const slugs = listAt(json, 'services').map((one) => at(one, 'slug'));
      t.same(slugs, [...slugs].sort());
      t.equal(at(json, 'total'), slugs.length);
      t.equal(at(json, 'limit'), 100);
      for (const service of listAt(json, 'services')) t.same(namesAt(service), SERVICE_MEMBERS);
      const second = (await get('/api/v1/services?limit=1&offset=1')).json;
      t.same(
        [
          listAt(second, 'services').map((one) => at(one, 'slug')),
          at(second, 'limit'),
          at(second, 'offset'),
          at(second, 'total'),
        ],
        [[slugs[1]], 1, 1, at(json, 'total')],
      );
      t.match((await get('/api/v1/services?limit=9999')).json, { limit: 500 }, 'lowered to the maximum');
      t.match((await get('/api/v1/services?category=cloud')).json, {
        total: 1,
        services: [{ slug: 'quick' }],
      });
      for (const query of ['limit=0', 'limit=1.5', 'limit=', 'offset=-1', 'category=cats', 'limit=1&limit=2'])
        t.match(
          await get(`/api/v1/services?${query}`),
          { status: 400, json: { code: 'invalid_parameter' } },
          query,
        );
    },
  },
  {
    promise: '4.3 and 4.4: incidents, newest first, with their bounds',
    dependsOn: [],
    async holds(t, { get }) {
      const { json } = await get('/api/v1/incidents');
      t.same([at(json, 'limit'), at(json, 'offset')], [50, 0]);
      const starts = listAt(json, 'incidents').map((one) => at(one, 'started_at'));
      t.same(starts, [...starts].sort().reverse());
      t.match((await get('/api/v1/incidents?limit=1000')).json, { limit: 100 });
      t.match(await get('/api/v1/incidents?status=over'), { status: 400 });
      t.match((await get('/api/v1/incidents/broken')).json, {
        service: { name: 'broken', slug: 'broken' },
        incidents: [{ title: String, description: String, severity: 'major', status: 'investigating' }],
      });
      t.match(await get('/api/v1/incidents/nothing'), { status: 404 });
    },
  },
  {
    promise: '4.6: the badge by the dashed domain, cached by its tag',
    dependsOn: ['role'],
    async holds(t, { get }) {
      for (const path of ['/api/badge/quick-example', '/api/badge/quick-example.png?theme=dark']) {
        const { status, headers, bytes } = await get(path);
        t.equal(status, 200);
        t.equal(headers.get('content-type'), 'image/png');
        t.equal(headers.get('cache-control'), 'public, s-maxage=300, stale-while-revalidate=60');
        // The header of a PNG: width and height.
        t.same([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [280, 36]);
        // A check between two requests may make another picture, which has another tag.
        let again = await get(path, { 'if-none-match': headers.get('etag') ?? '' });
        for (let attempts = 0; again.status === 200 && attempts < 20; attempts++)
          again = await get(path, { 'if-none-match': again.headers.get('etag') ?? '' });
        t.same([again.status, again.bytes.length], [304, 0]);
      }
      t.match(await get('/api/badge/quick-example?theme=pink'), { status: 400 });
      t.match(await get('/api/badge/nothing'), { status: 404, json: { code: 'service_not_found' } });
      t.equal((await get('/status/quick-example')).status, 200, 'the page for people');
    },
  },
  {
    promise: 'history, where the store of samples answers questions',
    dependsOn: ['samples', 'role'],
    async holds(t, { get, until, hasHistory }) {
      const path = '/api/v1/services/quick/history';
      if (!hasHistory) {
        t.match(await get(path), { status: 503, json: { code: 'history_unavailable' } });
        return;
      }
      const history = await until(path, (body) =>
        listAt(body, 'buckets').some((bucket) => numberAt(bucket, 'count') > 2),
      );
      t.type(at(history, 'step'), 'string');
      const bucket = listAt(history, 'buckets').findLast((bucket) => numberAt(bucket, 'count') > 0);
      t.match(bucket, {
        up: Number,
        down: 0,
        uptime_ratio: 1,
        p50_ms: Number,
        p95_ms: Number,
        p99_ms: Number,
      });
    },
  },
  {
    promise: '7: errors are problems with a stable code, and methods are named',
    dependsOn: [],
    async holds(t, { get, post }) {
      const missing = await get('/api/v1/status/nothing');
      t.equal(missing.headers.get('content-type'), 'application/problem+json');
      t.match(missing.json, {
        type: /\/docs#service_not_found$/,
        title: String,
        status: 404,
        detail: String,
      });
      const wrong = await post('/api/v1/maintenance', {});
      t.match(wrong, { status: 405, json: { code: 'method_not_allowed' } });
      t.match(wrong.headers.get('allow'), /GET/);
      t.equal((await get('/api/v1/nowhere')).status, 404);
      t.equal((await get('/api/v1/status/quick')).headers.get('access-control-allow-origin'), '*');
    },
  },
  {
    promise: 'operating: health, readiness and figures',
    dependsOn: ['redis', 'samples', 'role'],
    async holds(t, { get, until, hasHistory }) {
      t.match(await get('/healthz'), { status: 200, json: { status: 'ok' } });
      const degraded = hasHistory ? '' : 'histories';
      t.match(await until('/readyz', (body) => String(at(body, 'degraded')) === degraded), {
        status: 'ready',
      });
      t.match((await get('/metrics')).bytes.toString(), /^upbeat_services\{status="up"\} /m);
    },
  },
  {
    promise: 'operating: documents and pages',
    // `redis-serving.test.ts` opens them on a process that only serves.
    dependsOn: [],
    async holds(t, { get }) {
      t.match((await get('/api/v1/openapi.json')).json, { openapi: /^3\.1/ });
      for (const path of ['/', '/docs']) t.equal((await get(path)).status, 200, path);
    },
  },
];
