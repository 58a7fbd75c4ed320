import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { observeProgram } from '../../src/metrics/observe-program.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

t.test('it asks only for metrics that the program has', async (t) => {
  const metrics = createMetrics();
  observeProgram(metrics, {
    fleet: { report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }) },
    record: { prober: () => ({ online: true, offlineSince: null, heldResults: 0, suspectCount: 0 }) },
    samples: { stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }) },
    directory: { all: () => [] },
    status: { get: () => null },
    openStreams: () => 0,
    feeds: {
      health: () => [{ feedId: 'rss https://status.example', readAt: 1_000, problem: null }],
      polls: () => ({ good: 0, failed: 0 }),
    },
  });
  const text = await metrics.render();
  const file = join(import.meta.dirname, '../../grafana/upbeat.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard;
  t.ok(panels.length > 5);
  for (const { title, targets } of panels) {
    t.ok(targets.length > 0, title);
    for (const { expr } of targets) {
      for (const [name] of expr.matchAll(/\bupbeat_\w+/g)) {
        t.match(text, new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'), `${title}: ${name}`);
      }
    }
  }
});
