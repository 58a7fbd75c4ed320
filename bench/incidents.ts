/** Pages of a list of 100,000 incidents: `node bench/incidents.ts`. Each page, also the last one, is one scan of an index. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import type { FeedIncident } from '../src/domain/incident/feed-entry.ts';
import { silentLog } from '../src/log.ts';
import type { IncidentQuery } from '../src/store/ports/incidents.ts';
import { openRegistry } from '../src/store/registry/open-registry.ts';
import { atMost, type BenchRow, floor, median, printRows } from './row.ts';
import { makeServices } from './services.ts';

const SERVICES = 1_000;
const EACH = 100;
const TURNS = 30;
const START = Date.UTC(2026, 0, 1);

/** Stores incidents and reads pages. */
export async function run(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const registry = await openRegistry({
    dataDir: folder,
    log: silentLog,
    clock: systemClock,
    domainsPerAccount: 100,
    onEnd: (error) => {
      throw error;
    },
  });
  const rows: BenchRow[] = [];
  try {
    await registry.putCatalogue(makeServices(SERVICES));
    const before = performance.now();
    for (let service = 1; service <= SERVICES; service++)
      await registry.putVendorReadings([readingOf(service)]);
    const first = (performance.now() - before) / (SERVICES * EACH);
    rows.push(floor('incidents: a new entry of a feed, stored durably', first * 1_000, 'µs'));
    const again = performance.now();
    for (let service = 1; service <= SERVICES; service++)
      await registry.putVendorReadings([readingOf(service)]);
    const unchanged = (performance.now() - again) / (SERVICES * EACH);
    rows.push(floor('incidents: the same entry read again', unchanged * 1_000, 'µs'));
    const pages: readonly [string, IncidentQuery][] = [
      ['first page', { limit: 100, offset: 0, verifiedOnly: true }],
      ['page in the middle', { limit: 100, offset: 50_000, verifiedOnly: true }],
      ['last page', { limit: 100, offset: SERVICES * EACH - 100, verifiedOnly: true }],
      ['last page of one status', { status: 'resolved', limit: 100, offset: 89_900, verifiedOnly: true }],
      ['one service', { serviceId: 500, limit: 50, offset: 0 }],
    ];
    for (const [name, query] of pages) {
      const times: number[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        const asked = performance.now();
        const page = await registry.listIncidents(query);
        times.push(performance.now() - asked);
        if (page.length !== query.limit) throw new Error(`${name}: ${page.length} incidents`);
      }
      rows.push(atMost(`incidents: ${name} of ${SERVICES * EACH}`, median(times), 'ms', 10));
    }
  } finally {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return printRows(rows);
}

function readingOf(serviceId: number) {
  const entries = Array.from({ length: EACH }, (_, index): FeedIncident => {
    const startedAt = START + (index * SERVICES + serviceId) * 60_000;
    const resolved = index % 10 !== 0;
    return {
      kind: 'incident',
      key: `k${index}`,
      title: 'Elevated error rates in one region',
      sourceUrl: `https://status.example/incidents/k${index}`,
      components: null,
      severity: 'major',
      status: resolved ? 'resolved' : 'monitoring',
      startedAt,
      resolvedAt: resolved ? startedAt + 3_600_000 : null,
      updates: [
        { at: startedAt, status: 'investigating', text: 'We are investigating reports of errors.' },
        {
          at: startedAt + 1_800_000,
          status: 'monitoring',
          text: 'A fix has been deployed and we are watching.',
        },
        ...(resolved
          ? [{ at: startedAt + 3_600_000, status: 'resolved' as const, text: 'It is over.' }]
          : []),
      ],
    };
  });
  return {
    serviceId,
    slug: `service-${serviceId - 1}`,
    feed: `statuspage https://status-${serviceId}.example`,
    kind: 'statuspage',
    document: 'incidents',
    listsOnlyOpen: false,
    readAt: START + 400 * 86_400_000,
    entries,
  };
}

if (import.meta.main) await run();
