/** Samples in InfluxDB (operating, `storage.influx`), written by a thread with a spool for the time without the server. */
import { atMostEvery } from '../../../async/at-most-every.ts';
import { systemClock } from '../../../clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/durations.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { Log } from '../../../log.ts';
import { type SupervisedThread, superviseStoreThread } from '../../../thread/supervised-thread.ts';
import {
  isSampleReadError,
  type Observations,
  type SampleQuery,
  type SampleReadError,
  type SampleStore,
  type SampleStoreStats,
} from '../../ports/samples.ts';
import { createRegionNumbers, packSamples } from '../encoding.ts';
import { createSampleBatcher, type ThreadSilence, watchSampleThread } from '../sample-thread.ts';
import { adviceFor, type InfluxFault, type InfluxSettings, type ServiceLabels } from './influx-settings.ts';
import type { InfluxMethods, InfluxState, InfluxThreadData } from './influx-thread.ts';
import {
  createDependencyLines,
  heartbeatLine,
  incidentLines,
  packDetails,
  transitionLine,
} from './line-protocol.ts';

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
  const { timeoutMs, log, onEnd } = options;
  const data: InfluxThreadData = { settings, dataDir, spoolBytes, retentionMs, timeoutMs };
  const thread = superviseStoreThread<InfluxMethods>({
    name: 'the InfluxDB thread',
    entry: ENTRY,
    workerData: data,
    log,
    onEnd,
  });
  return new InfluxSamples(options, thread, await thread.call('state', []));
}

/** The store, with the thread that it runs in. */
export class InfluxSamples implements SampleStore {
  readonly #thread: SupervisedThread<InfluxMethods>;
  readonly #settings: InfluxSettings;
  readonly #labelsOf: (serviceId: number) => Pick<ServiceLabels, 'slug' | 'category'> | null;
  readonly #log: Log;
  readonly #sentLabels = new Map<number, string>();
  #state: InfluxState;
  readonly #batcher: ReturnType<typeof createSampleBatcher>;
  readonly #observed: ReturnType<typeof createSampleBatcher>;
  #waiting = 0;
  #dropped = 0;
  readonly #mayLogDropped = atMostEvery(DROPPED_LOG_INTERVAL_MS, systemClock.monotonic);
  readonly #dependencyLines = createDependencyLines();
  readonly #silence: ThreadSilence;
  // A thread that hangs would be asked once more each second, and answer all of it at its end.
  readonly #polling: NodeJS.Timeout;
  readonly append: (samples: readonly Sample[]) => Promise<void>;
  /** Writes transitions, incidents and heartbeats beside the samples. */
  readonly observations: Observations;

  constructor(options: InfluxSamplesOptions, thread: SupervisedThread<InfluxMethods>, first: InfluxState) {
    this.#thread = thread;
    const { labelsOf, log, retentionMs = RETENTION_MS } = options;
    this.#settings = options.settings;
    this.#labelsOf = labelsOf;
    this.#log = log;
    const regions = createRegionNumbers([]);
    this.#state = { ...first, problem: null, unread: null, lost: 0, damagedSpool: null };
    this.#batcher = createSampleBatcher<Sample>(async (samples) => {
      const packed = packSamples(samples, regions.numberOf);
      const details = packDetails(samples);
      const buffers = details === null ? [packed.buffer] : [packed.buffer, details.buffer];
      const labels = this.#newLabels(samples);
      this.#note(await thread.call('append', [packed, details, labels, regions.takeNew()], buffers));
    });
    this.#observed = createSampleBatcher<string>(async (lines) =>
      this.#note(await thread.call('write', [lines])),
    );
    this.#silence = watchSampleThread(thread, log);
    this.#polling = setInterval(() => {
      if (this.#silence.problem() === null) void this.#poll();
    }, POLL_MS);
    this.#polling.unref();
    this.#note(first);
    this.append = this.#batcher.append;
    this.observations = {
      transition: (transition) => this.#observe([transitionLine(transition, labelsOf)]),
      incident: (incident) =>
        this.#observe(incidentLines(incident, labelsOf, systemClock.now() - retentionMs)),
      heartbeat: (heartbeat) =>
        this.#observe([heartbeatLine(heartbeat), ...this.#dependencyLines(heartbeat)]),
    };
  }

  query(query: SampleQuery): Promise<Bucket[]> {
    return this.#readAfter(() => this.#thread.call('query', [query]));
  }

  newest(serviceId: number, limit: number): Promise<Sample[]> {
    return this.#readAfter(() => this.#thread.call('newest', [serviceId, limit]));
  }

  regionsOf(serviceId: number): Promise<string[]> {
    return this.#readAfter(() => this.#thread.call('regionsOf', [serviceId]));
  }

  async flush(): Promise<void> {
    await this.#flush();
    this.#note(await this.#thread.call('flush', []));
  }

  stats(): SampleStoreStats {
    return {
      appended: this.#batcher.appended,
      pending: this.#batcher.waiting + this.#waiting + this.#state.pending,
      fileBytes: this.#state.spoolBytes,
    };
  }

  /** Why the server lacks samples or cannot be queried, one line; null: neither. */
  problem(): string | null {
    return (
      this.#silence.problem() ??
      this.#state.problem ??
      waitingText(this.#state.spooled) ??
      (this.#lacksInfluxql() ? null : this.#state.unread?.problem) ??
      (this.#state.damagedSpool === null ? null : `${DAMAGED_SPOOL}: ${this.#state.damagedSpool}`)
    );
  }

  /** Why there are no histories although all samples are stored, one line; null: there are. */
  missingHistory(): string | null {
    return this.#lacksInfluxql() ? `${this.#state.unread?.problem}: ${this.#adviceOf('no_influxql')}` : null;
  }

  /** Advice on that problem, one sentence; null: nothing to fix. */
  advice(): string | null {
    return this.#silence.problem() === null
      ? this.#adviceOf(
          this.#state.problem !== null
            ? this.#state.fault
            : this.#lacksInfluxql()
              ? null
              : (this.#state.unread?.fault ?? null),
        )
      : null;
  }

  /** Time of the oldest sample in the spool, epoch milliseconds; null: there is none. */
  missingSince(): number | null {
    return this.#state.missingSince;
  }

  /** Points dropped since the start. */
  lost(): number {
    return this.#state.lost + this.#dropped;
  }

  async close(): Promise<void> {
    clearInterval(this.#polling);
    this.#silence.end();
    await this.#flush();
    this.#note(await this.#thread.call('close', []));
    await this.#thread.stop();
  }

  #adviceOf(fault: InfluxFault | null): string | null {
    return fault === null ? null : adviceFor(fault, this.#settings);
  }

  /** Awaits a query, and updates the state if that has changed whether the server can be queried. */
  async #read<T>(query: Promise<T>): Promise<T> {
    try {
      return await query;
    } catch (error) {
      if (isSampleReadError(error)) await this.#poll();
      throw error;
    } finally {
      // The query may have succeeded again.
      if (this.#state.unread !== null) await this.#poll();
    }
  }

  #note(next: InfluxState): void {
    if (next.problem !== null && next.problem !== this.#state.problem)
      this.#log.warn(
        { problem: next.problem, advice: this.#adviceOf(next.fault) },
        'InfluxDB accepts no samples; they are kept on disk',
      );
    else if (next.problem === null && this.#state.problem !== null)
      this.#log.info({}, 'InfluxDB accepts samples again');
    if (next.unread !== null && next.unread.problem !== this.#state.unread?.problem)
      this.#log.warn(
        { problem: next.unread.problem, advice: this.#adviceOf(next.unread.fault) },
        'InfluxDB cannot be queried; histories are unavailable',
      );
    else if (next.unread === null && this.#state.unread !== null)
      this.#log.info({}, 'InfluxDB can be queried again');
    if (next.lost > this.#state.lost)
      this.#log.error(
        { points: next.lost - this.#state.lost, lost: next.lost, refusal: next.refusal },
        'points for InfluxDB were dropped',
      );
    if (next.damagedSpool !== null && this.#state.damagedSpool === null)
      this.#log.error({ kept: next.damagedSpool }, DAMAGED_SPOOL);
    this.#state = next;
  }

  /** Returns true if the server only takes points, as VictoriaMetrics does. */
  #lacksInfluxql(): boolean {
    return this.#state.unread?.fault === 'no_influxql';
  }

  #poll(): Promise<void> {
    return this.#thread.call('state', []).then(
      (next) => this.#note(next),
      () => {},
    );
  }

  /** Names that are new or changed since they were sent to the thread. */
  #newLabels(samples: readonly Sample[]): ServiceLabels[] {
    return [...new Set(samples.map(({ serviceId }) => serviceId))].flatMap((serviceId) => {
      const labels = this.#labelsOf(serviceId);
      if (labels === null) return [];
      const { slug, category } = labels;
      const text = `${slug} ${category}`;
      if (this.#sentLabels.get(serviceId) === text) return [];
      this.#sentLabels.set(serviceId, text);
      return [{ serviceId, slug, category }];
    });
  }

  #observe(lines: readonly string[]): void {
    if (this.#waiting + lines.length > MAX_WAITING) {
      this.#dropped += lines.length;
      if (this.#mayLogDropped())
        this.#log.error(
          { points: lines.length, lost: this.#state.lost + this.#dropped },
          'points for InfluxDB were dropped',
        );
      return;
    }
    this.#waiting += lines.length;
    const taken = () => {
      this.#waiting -= lines.length;
    };
    // A rejection means that the thread has ended, which `onEnd` reports.
    this.#observed.append(lines).then(taken, taken);
  }

  async #flush(): Promise<void> {
    await Promise.all([this.#batcher.flush(), this.#observed.flush()]);
  }

  /** Reads after all samples that were appended before. Throws {@link SampleReadError} while the thread hangs. */
  async #readAfter<T>(ask: () => Promise<T>): Promise<T> {
    this.#silence.refuse();
    await this.#batcher.flush();
    return await this.#read(ask());
  }
}

/** The text of `/readyz` while the spool is being sent; null: it is empty. */
function waitingText(lines: number): string | null {
  return lines === 0 ? null : `${lines} points wait on disk and are being sent`;
}
