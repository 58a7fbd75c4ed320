/**
 * The embedded sample store in the test's own process: a thread for each store would take half a second. It is the code
 * that the thread runs, over a file of its own; `test/store/samples/sqlite-samples.test.ts` runs the port's contract against it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sample } from '../../src/domain/sample.ts';
import type { SampleQuery, SampleStore } from '../../src/store/ports/samples.ts';
import { createRegionNumbers, packSamples } from '../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../src/store/samples/samples-database.ts';

const DAY_MS = 86_400_000;
const WRITTEN_SAMPLES = 50_000;

/** What a test may set. */
export interface SampleStoreOptions {
  /** The clock of the store, epoch milliseconds: what is older than two years goes, what is older than 90 days is summarised. */
  readonly now: () => number;
  /** True: everything is moved into blocks and summaries after each append. Default false. */
  readonly tidies?: boolean;
}

/** Opens an empty store; `close` removes its file. */
export function openSampleStore({ now, tidies = false }: SampleStoreOptions): SampleStore {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-samples-'));
  const engine = new SampleEngine({
    database: openSamplesDatabase(folder),
    rawRetentionMs: 90 * DAY_MS,
    rollupRetentionMs: 730 * DAY_MS,
    now,
  });
  const regions = createRegionNumbers([]);
  let appended = 0;
  return {
    async append(samples) {
      appended += samples.length;
      const { pending } = engine.append(packSamples(samples, regions.numberOf), regions.takeNew());
      // The thread writes each second; a store that never does drops what is oldest.
      if (pending >= WRITTEN_SAMPLES) engine.flush();
      if (tidies) await engine.compact();
    },
    query: async (query) => engine.query(query),
    newest: async (serviceId, limit) => engine.newest(serviceId, limit),
    regionsOf: async (serviceId) => engine.regionsOf(serviceId),
    flush: async () => void engine.flush(),
    stats: () => ({ appended, pending: 0, fileBytes: 0 }),
    async close() {
      engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a check found, as far as a bucket shows it. */
export type Outcome = Pick<Sample, 'status' | 'latencyMs'> & { readonly suspect?: boolean };

/** Samples that give each bucket of the query these outcomes, at even distances from its start. */
export function samplesOfSteps(
  { serviceId, from, to, stepMs }: SampleQuery,
  outcomes: readonly Outcome[],
): Sample[] {
  return Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, index) => from + index * stepMs).flatMap(
    (startAt) => {
      const lengthMs = Math.min(stepMs, to - startAt);
      return outcomes.map(({ status, latencyMs, suspect = false }, place) => {
        const at = startAt + Math.floor((lengthMs * place) / outcomes.length);
        return { serviceId, at, status, latencyMs, statusCode: status === 'down' ? 503 : 200, suspect };
      });
    },
  );
}
