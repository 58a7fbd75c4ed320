/** Samples in InfluxDB (operating, `storage.influx`), written by a thread with a spool for the time without the server. */

import { atMostEvery } from '../../../async/at-most-every.ts';
import { systemClock } from '../../../clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/durations.ts';
import type { Sample } from '../../../domain/sample.ts';
import type { Log } from '../../../log.ts';
import { superviseStoreThread } from '../../../thread/supervised-thread.ts';
import type { Observations } from '../../ports/observations.ts';
import { isSampleReadError, type SampleReadError, type SampleStore } from '../../ports/samples.ts';
import { packSamples } from '../encoding.ts';
import { createSampleBatcher } from '../sample-batcher.ts';
import { createRegionNumbers } from '../series.ts';
import { watchSampleThread } from '../silent-thread.ts';
import { adviceFor, type InfluxFault, type InfluxSettings, type ServiceLabels } from './influx-settings.ts';
import type { InfluxMethods, InfluxState, InfluxThreadData } from './influx-thread.ts';
import {
  createDependencyLines,
  heartbeatLine,
  incidentLines,
  packDetails,
  transitionLine,
} from './line-protocol.ts';

/** How to open the store. */
export interface InfluxSamplesOptions {
  readonly settings: InfluxSettings;
  /** Folder of the spool. */
  readonly dataDir: string;
  /** Maximum size of the spool, bytes; default 1 GiB. */
  readonly spoolBytes?: number;
  /** Timeout of a request, milliseconds; default 10 s. */
  readonly timeoutMs?: number;
  /** Names of a service, for the tags; null: it is unknown. */
  readonly labelsOf: (serviceId: number) => Pick<ServiceLabels, 'slug' | 'category'> | null;
  /** Updates of incidents older than this are not written, milliseconds; default 90 days. */
  readonly retentionMs?: number;
  readonly log: Log;
  /** Called if the thread ends by a fault. */
  readonly onEnd?: (reason: Error) => void;
}

/** The port, and the state of the server. */
export interface InfluxSamples extends SampleStore {
  /** Why the server lacks samples or cannot be queried, one line; null: neither. */
  problem(): string | null;
  /** How to fix that problem, one sentence; null: nothing to fix. */
  advice(): string | null;
  /** Time of the oldest sample in the spool, epoch milliseconds; null: there is none. */
  missingSince(): number | null;
  /** Points dropped since the start. */
  lost(): number;
  /** Writes transitions, incidents and heartbeats beside the samples. */
  readonly observations: Observations;
}

const ENTRY = new URL('../../../../workers/samples-influx.ts', import.meta.url);
const POLL_MS = 1_000;
const SPOOL_BYTES = 1024 ** 3;
const RETENTION_MS = 90 * DAY_MS;
const DAMAGED_SPOOL = 'influx-spool.sqlite was damaged: points that waited in it are missing, and it is kept';
/** Maximum number of observations that wait for the thread; further ones are dropped. */
const MAX_WAITING = 100_000;
/** Minimum time between two log entries about observations that were dropped, milliseconds. */
const DROPPED_LOG_INTERVAL_MS = MINUTE_MS;

/** Opens the store. While the server is unavailable, samples wait in the spool. */
export async function openInfluxSamples(options: InfluxSamplesOptions): Promise<InfluxSamples> {
  const { settings, dataDir, spoolBytes = SPOOL_BYTES, retentionMs = RETENTION_MS } = options;
  const { timeoutMs, labelsOf, log, onEnd } = options;
  const data: InfluxThreadData = { settings, dataDir, spoolBytes, retentionMs, timeoutMs };
  const thread = superviseStoreThread<InfluxMethods>({
    name: 'the InfluxDB thread',
    entry: ENTRY,
    workerData: data,
    log,
    onEnd,
  });
  const regions = createRegionNumbers([]);
  const sentLabels = new Map<number, string>();
  const first = await thread.call('state', []);
  let state: InfluxState = { ...first, problem: null, unread: null, lost: 0, damagedSpool: null };
  const adviceOf = (fault: InfluxFault | null): string | null =>
    fault === null ? null : adviceFor(fault, settings);

  /** Awaits a query, and updates the state if that has changed whether the server can be queried. */
  const read = async <T>(query: Promise<T>): Promise<T> => {
    try {
      return await query;
    } catch (error) {
      if (isSampleReadError(error)) await poll();
      throw error;
    } finally {
      // The query may have succeeded again.
      if (state.unread !== null) await poll();
    }
  };

  const note = (next: InfluxState): void => {
    if (next.problem !== null && next.problem !== state.problem)
      log.warn(
        { problem: next.problem, advice: adviceOf(next.fault) },
        'InfluxDB accepts no samples; they are kept on disk',
      );
    else if (next.problem === null && state.problem !== null) log.info({}, 'InfluxDB accepts samples again');
    if (next.unread !== null && next.unread.problem !== state.unread?.problem)
      log.warn(
        { problem: next.unread.problem, advice: adviceOf(next.unread.fault) },
        'InfluxDB cannot be queried; histories are unavailable',
      );
    else if (next.unread === null && state.unread !== null) log.info({}, 'InfluxDB can be queried again');
    if (next.lost > state.lost)
      log.error(
        { points: next.lost - state.lost, lost: next.lost, refusal: next.refusal },
        'points for InfluxDB were dropped',
      );
    if (next.damagedSpool !== null && state.damagedSpool === null)
      log.error({ kept: next.damagedSpool }, DAMAGED_SPOOL);
    state = next;
  };

  const poll = (): Promise<void> => thread.call('state', []).then(note, () => {});

  /** Names that are new or changed since they were sent to the thread. */
  const newLabels = (samples: readonly Sample[]): ServiceLabels[] =>
    [...new Set(samples.map(({ serviceId }) => serviceId))].flatMap((serviceId) => {
      const labels = labelsOf(serviceId);
      if (labels === null) return [];
      const { slug, category } = labels;
      const text = `${slug} ${category}`;
      if (sentLabels.get(serviceId) === text) return [];
      sentLabels.set(serviceId, text);
      return [{ serviceId, slug, category }];
    });

  const batcher = createSampleBatcher<Sample>(async (samples) => {
    const packed = packSamples(samples, regions.numberOf);
    const details = packDetails(samples);
    const buffers = details === null ? [packed.buffer] : [packed.buffer, details.buffer];
    const labels = newLabels(samples);
    note(await thread.call('append', [packed, details, labels, regions.takeNew()], buffers));
  });
  const observed = createSampleBatcher<string>(async (lines) => note(await thread.call('write', [lines])));
  let waiting = 0;
  let dropped = 0;
  const mayLogDropped = atMostEvery(DROPPED_LOG_INTERVAL_MS, systemClock.monotonic);

  const observe = (lines: readonly string[]): void => {
    if (waiting + lines.length > MAX_WAITING) {
      dropped += lines.length;
      if (mayLogDropped())
        log.error({ points: lines.length, lost: state.lost + dropped }, 'points for InfluxDB were dropped');
      return;
    }
    waiting += lines.length;
    const taken = () => {
      waiting -= lines.length;
    };
    // A rejection means that the thread has ended, which `onEnd` reports.
    observed.append(lines).then(taken, taken);
  };
  const dependencyLines = createDependencyLines();

  const flush = async (): Promise<void> => {
    await Promise.all([batcher.flush(), observed.flush()]);
  };

  const silence = watchSampleThread(thread, log);
  // A thread that hangs would be asked once more each second, and answer all of it at its end.
  const polling = setInterval(() => {
    if (silence.problem() === null) void poll();
  }, POLL_MS);
  polling.unref();

  /** Reads after all samples that were appended before. Throws {@link SampleReadError} while the thread hangs. */
  const readAfter = async <T>(ask: () => Promise<T>): Promise<T> => {
    silence.refuse();
    await batcher.flush();
    return await read(ask());
  };

  note(first);
  return {
    append: batcher.append,
    observations: {
      transition: (transition) => observe([transitionLine(transition, labelsOf)]),
      incident: (incident) => observe(incidentLines(incident, labelsOf, systemClock.now() - retentionMs)),
      heartbeat: (heartbeat) => observe([heartbeatLine(heartbeat), ...dependencyLines(heartbeat)]),
    },
    query: (query) => readAfter(() => thread.call('query', [query])),
    newest: (serviceId, limit) => readAfter(() => thread.call('newest', [serviceId, limit])),
    regionsOf: (serviceId) => readAfter(() => thread.call('regionsOf', [serviceId])),
    async flush() {
      await flush();
      note(await thread.call('flush', []));
    },
    stats: () => ({
      appended: batcher.appended,
      pending: batcher.waiting + waiting + state.pending,
      fileBytes: state.spoolBytes,
    }),
    problem: () =>
      silence.problem() ??
      state.problem ??
      waitingText(state.spooled) ??
      state.unread?.problem ??
      (state.damagedSpool === null ? null : `${DAMAGED_SPOOL}: ${state.damagedSpool}`),
    advice: () =>
      silence.problem() === null
        ? adviceOf(state.problem === null ? (state.unread?.fault ?? null) : state.fault)
        : null,
    missingSince: () => state.missingSince,
    lost: () => state.lost + dropped,
    async close() {
      clearInterval(polling);
      silence.end();
      await flush();
      note(await thread.call('close', []));
      await thread.stop();
    },
  };
}

/** What `/readyz` says while the spool is being sent; null: it is empty. */
function waitingText(lines: number): string | null {
  return lines === 0 ? null : `${lines} points wait on disk and are being sent`;
}
