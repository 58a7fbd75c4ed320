/** The figures as Prometheus' own tool judges them. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { createMetrics, renderServiceSeries } from '../../src/metrics/metrics.ts';
import { observeProgram } from '../../src/metrics/observe-program.ts';
import { createStatusTally } from '../../src/store/status/memory-status-store.ts';
import { check, current, NOW, service } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { hasProgram } from '../support/install-servers.ts';

const NEEDS_PROMTOOL = hasProgram('promtool')
  ? {}
  : { skip: 'promtool is not there: apt-get install prometheus' };

t.test('it names and describes figures as Prometheus wants them', NEEDS_PROMTOOL, async (t) => {
  const metrics = createMetrics();
  observeProgram(metrics, {
    fleet: { report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }) },
    record: { prober: () => ({ online: true, offlineSince: null, heldResults: 0, suspectCount: 0 }) },
    samples: { stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }), lost: () => 7 },
    directory: { all: () => [], hidden: () => [] },
    status: double({ ...createStatusTally(), headOf: () => null }),
    openStreams: () => 0,
    feeds: { health: () => [], polls: () => ({ good: 0, failed: 0 }) },
    stores: () => ({ influx: { problem: null }, redis: { problem: null } }),
    site: { url: 'https://up.example', version: '1.2.3' },
    node: { name: 'eu-1', region: 'eu' },
    cluster: {
      shards: () => new Map([['eu', { held: 60, waiting: 4 }]]),
      results: () => ({
        backlog: 5,
        takeovers: 6,
        dropped: 7,
        refused: 8,
        contradicted: 4,
        unreadable: 9,
        delayMs: 1_250,
      }),
      votes: () => new Map([['eu', true]]),
    },
  });
  metrics.noteRequest('/healthz', 200, 0.002);
  const services = [service(1, 'shop'), service(2, 'job')];
  const series = await renderServiceSeries(services, 2, ({ id }) => ({
    ...current(id, check(NOW)),
    latest:
      id === 1
        ? { ...check(NOW), certificateExpiresAt: NOW }
        : { ...check(NOW), source: 'heartbeat', responseTimeMs: 0 },
  }));
  t.match(series, /upbeat_service_up\{service="job"/);
  t.notMatch(series, /upbeat_service_response_seconds\{service="job"/, 'no latency was reported');
  const input = (await metrics.render()) + series;
  t.match(input, /^upbeat_service_certificate_expiry_seconds\{service="shop",.*\} 1\d{9}/m);
  t.match(input, /^upbeat_nodejs_active_resources\{type=/m);
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  t.strictSame({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
});
