/** Samples in InfluxDB (operating, `storage.influx`): sent by a thread of its own, with a spool while the server is away. */

import { systemClock } from '../../../clock.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import type { Sample } from '../../../domain/sample.ts';
import type { Log } from '../../../log.ts';
import { FATAL, superviseThread } from '../../../thread/supervised-thread.ts';
import type { Observations } from '../../ports/observations.ts';
import { isSampleReadError, type SampleStore } from '../../ports/samples.ts';
import { createSampleGatherer } from '../sample-gatherer.ts';
import { packSamples } from '../wire.ts';
import { packDetails } from './detail-wire.ts';
import { adviceFor, type InfluxFault } from './influx-fault.ts';
import type { InfluxSettings, ServiceLabels } from './influx-settings.ts';
import type { InfluxMethods, InfluxState, InfluxThreadData } from './influx-thread.ts';
import { createDependencyLines, heartbeatLine, incidentLines, transitionLine } from './observation-lines.ts';

/** How to open the store. */
export interface InfluxSamplesOptions {
  readonly settings: InfluxSettings;
  /** Folder of the spool. */
  readonly dataDir: string;
  /** Most bytes of the spool; default 1 GiB. */
  readonly spoolBytes?: number;
  /** A request that gets no answer for so long has failed, milliseconds; default 10 s. */
  readonly timeoutMs?: number;
  /** Names of a service, for the tags; null: it is not known. */
  readonly labelsOf: (serviceId: number) => Pick<ServiceLabels, 'slug' | 'category'> | null;
  /** Updates of incidents older than this are not written, milliseconds; default 90 days. */
  readonly retentionMs?: number;
  readonly log: Log;
  /** Called if the thread ends unasked. */
  readonly onEnd?: (reason: Error) => void;
}

/** The port, and how the server is doing. */
export interface InfluxSamples extends SampleStore {
  /** Why the server has not all samples, or cannot be asked for them, one line; null: all is well. */
  problem(): string | null;
  /** What to mend for that problem, one sentence; null: nothing. */
  advice(): string | null;
  /** Time of the oldest sample that waits on disk, epoch milliseconds; null: none does. */
  missingSince(): number | null;
  /** Points given up since the start. */
  lost(): number;
  /** Takes what goes beside the samples, on the same road. */
  readonly observations: Observations;
}

const ENTRY = new URL('../../../../workers/samples-influx.ts', import.meta.url);
const LOOK_MS = 1_000;
const SPOOL_BYTES = 1024 ** 3;
const RETENTION_MS = 90 * DAY_MS;
/** Observations that wait for the thread; more than this means that it has stopped taking any. */
const MAX_WAITING = 100_000;
const NO_STATE: InfluxState = {
  pending: 0,
  spoolBytes: 0,
  spooled: 0,
  missingSince: null,
  problem: null,
  fault: null,
  lost: 0,
  refusal: null,
  unread: null,
};

/** Opens the store. The server may be away: samples wait in the spool until it is there. */
export async function openInfluxSamples(options: InfluxSamplesOptions): Promise<InfluxSamples> {
  const { settings, dataDir, spoolBytes = SPOOL_BYTES, retentionMs = RETENTION_MS } = options;
  const { timeoutMs, labelsOf, log, onEnd } = options;
  const data: InfluxThreadData = { settings, dataDir, spoolBytes, retentionMs, timeoutMs };
  const thread = superviseThread<InfluxMethods>({
    name: 'the InfluxDB thread',
    entry: ENTRY,
    workerData: data,
    policy: FATAL,
    onEnd(reason) {
      log.error({ problem: reason.message }, 'the InfluxDB thread ended');
      onEnd?.(reason);
    },
  });
  const told = new Map<number, string>();
  let state = NO_STATE;
  const adviceOf = (fault: InfluxFault | null): string | null =>
    fault === null ? null : adviceFor(fault, settings);

  /** Asks the thread, and remembers whether the server could be read. */
  const read = async <T>(asking: Promise<T>): Promise<T> => {
    try {
      return await asking;
    } catch (error) {
      if (isSampleReadError(error)) await look();
      throw error;
    } finally {
      // The answer tells that it is well again.
      if (state.unread !== null) await look();
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
    state = next;
  };

  const look = (): Promise<void> => thread.call('state', []).then(note, () => {});

  /** Names that the thread does not know yet, or knows otherwise. */
  const newLabels = (samples: readonly Sample[]): ServiceLabels[] =>
    [...new Set(samples.map(({ serviceId }) => serviceId))].flatMap((serviceId) => {
      const labels = labelsOf(serviceId);
      if (labels === null) return [];
      const { slug, category } = labels;
      const text = `${slug} ${category}`;
      if (told.get(serviceId) === text) return [];
      told.set(serviceId, text);
      return [{ serviceId, slug, category }];
    });

  const gatherer = createSampleGatherer(async (samples) => {
    const packed = packSamples(samples);
    const details = packDetails(samples);
    const buffers = details === null ? [packed.buffer] : [packed.buffer, details.buffer];
    note(await thread.call('append', [packed, details, newLabels(samples)], buffers));
  });
  const observed = createSampleGatherer<string>(async (lines) => note(await thread.call('write', [lines])));
  let onTheWay = 0;
  let dropped = 0;

  const observe = (lines: readonly string[]): void => {
    if (onTheWay + lines.length > MAX_WAITING) {
      dropped += lines.length;
      return;
    }
    onTheWay += lines.length;
    const taken = observed.append(lines);
    // It rejects where the thread has ended, which has been told.
    taken
      .catch(() => {})
      .finally(() => {
        onTheWay -= lines.length;
      });
  };
  const dependencyLines = createDependencyLines();

  const sendFirst = async (): Promise<void> => {
    await Promise.all([gatherer.sendFirst(), observed.sendFirst()]);
  };

  const looking = setInterval(() => void look(), LOOK_MS);
  looking.unref();

  note(await thread.call('state', []));
  return {
    append: gatherer.append,
    observations: {
      transition: (transition) => observe([transitionLine(transition, labelsOf)]),
      incident: (incident) => observe(incidentLines(incident, labelsOf, systemClock.now() - retentionMs)),
      heartbeat: (heartbeat) => observe([heartbeatLine(heartbeat), ...dependencyLines(heartbeat)]),
    },
    async query(query) {
      await gatherer.sendFirst();
      return await read(thread.call('query', [query]));
    },
    async newest(serviceId, limit) {
      await gatherer.sendFirst();
      return await read(thread.call('newest', [serviceId, limit]));
    },
    async flush() {
      await sendFirst();
      note(await thread.call('flush', []));
    },
    stats: () => ({
      appended: gatherer.appended,
      pending: gatherer.waiting + onTheWay + state.pending,
      fileBytes: state.spoolBytes,
    }),
    problem: () => state.problem ?? waitingText(state.spooled) ?? state.unread?.problem ?? null,
    advice: () => adviceOf(state.problem === null ? (state.unread?.fault ?? null) : state.fault),
    missingSince: () => state.missingSince,
    lost: () => state.lost + dropped,
    async close() {
      clearInterval(looking);
      await sendFirst();
      note(await thread.call('close', []));
      await thread.stop();
    },
  };
}

/** What `/readyz` says while the server is there and gets what waited for it; null: nothing waits. */
function waitingText(lines: number): string | null {
  return lines === 0 ? null : `${lines} points wait on disk and are being sent`;
}
