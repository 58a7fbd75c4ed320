/** What the thread of the InfluxDB store serves. */

import { type Cancel, systemClock } from '../../../clock.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { createHourCollector } from './hour-collector.ts';
import { hourLine, hourOf, hoursOverAt } from './hour-summary.ts';
import { InfluxError, type InfluxFault } from './influx-fault.ts';
import { openInfluxLink } from './influx-link.ts';
import { type HourKeeping, queryBuckets, queryNewest } from './influx-reader.ts';
import type { InfluxSettings, ServiceLabels } from './influx-settings.ts';
import { createInfluxWriter, type InfluxWriterState } from './influx-writer.ts';
import { openLateSpool } from './late-spool.ts';
import { createLineWriter } from './line-protocol.ts';

/** What the thread is started with. */
export interface InfluxThreadData {
  readonly settings: InfluxSettings;
  readonly dataDir: string;
  readonly spoolBytes: number;
  /** The server keeps points for so long, milliseconds. */
  readonly retentionMs: number;
  /** Of a request, milliseconds; undefined: the link's own. */
  readonly timeoutMs: number | undefined;
}

const READ_AGAIN_MS = 2_000;
/** Between two looks whether an hour is over. */
const FINISH_MS = 60_000;

/** How writing and reading go. */
export interface InfluxState extends InfluxWriterState {
  /** Why the last question found no answer; null: it did, or none was asked. */
  readonly unread: { readonly problem: string; readonly fault: InfluxFault } | null;
}

/** The thread's methods. */
export type InfluxMethods = {
  readonly append: (
    packed: Float64Array,
    details: Float64Array | null,
    labels: readonly ServiceLabels[],
  ) => Promise<InfluxState>;
  /** Takes lines as they are. */
  readonly write: (lines: readonly string[]) => InfluxState;
  readonly state: () => InfluxState;
  readonly flush: () => Promise<InfluxState>;
  readonly query: (query: SampleQuery) => Promise<Bucket[]>;
  readonly newest: (serviceId: number, limit: number) => Promise<Sample[]>;
  readonly close: () => Promise<InfluxState>;
};

/** Opens the spool and makes the methods. */
export function createInfluxMethods({
  settings,
  dataDir,
  spoolBytes,
  retentionMs,
  timeoutMs,
}: InfluxThreadData): InfluxMethods {
  const link = openInfluxLink(settings, timeoutMs);
  const writer = createInfluxWriter(link, openLateSpool(dataDir, spoolBytes), systemClock);
  const lines = createLineWriter();
  const hours = createHourCollector(systemClock.now());
  const stopFinishing = systemClock.every(FINISH_MS, () => {
    const finished = hours.finish(systemClock.now());
    if (finished.length > 0) writer.append(finished, true);
  });
  /** Hours may be summed up that are over, and of which nothing waits on disk. */
  const hourKeeping = (): HourKeeping => {
    const { lateSamples } = hours;
    const missingSince = writer.state().missingSince ?? Number.MAX_SAFE_INTEGER;
    return {
      completeBefore: Math.min(hoursOverAt(systemClock.now()), hourOf(missingSince)),
      keep(serviceId, hour, summary) {
        // It may be without a sample that came while it was read.
        if (hours.lateSamples !== lateSamples) return;
        // The server refuses points that are about to go, and some of the hour's samples may be gone.
        if (hour < systemClock.now() - retentionMs + DAY_MS) return;
        hours.noteWritten(serviceId, hour);
        writer.append([hourLine(serviceId, hour, summary)], true);
      },
    };
  };
  let unread: InfluxState['unread'] = null;
  let cancelRetry: Cancel | null = null;
  const state = (): InfluxState => ({ ...writer.state(), unread });
  /** Asks when everything that was appended before is at the server or in the spool. */
  const read = async <T>(ask: () => Promise<T>): Promise<T> => {
    await writer.flush();
    try {
      const answer = await ask();
      unread = null;
      return answer;
    } catch (error) {
      // It is so for good, and no fault.
      if (error instanceof InfluxError && error.fault !== 'no_influxql') {
        unread = { problem: error.message, fault: error.fault };
        cancelRetry ??= systemClock.after(READ_AGAIN_MS, readAgain);
      }
      throw error;
    }
  };
  /** After a failure the server is asked on, so that the state is correct although no history is requested. */
  const readAgain = (): void => {
    cancelRetry = null;
    read(() => queryNewest(link, 0, 1)).catch(() => {});
  };
  return {
    async append(packed, details, labels) {
      lines.name(labels);
      writer.append(lines.write(packed, details));
      const spoilt = hours.add(packed);
      if (spoilt.length > 0) writer.append(spoilt, true);
      await writer.room();
      return state();
    },
    write(observed) {
      writer.append(observed, true);
      return state();
    },
    state,
    async flush() {
      await writer.flush();
      return state();
    },
    query: (query) => read(() => queryBuckets(link, query, hourKeeping())),
    newest: (serviceId, limit) => read(() => queryNewest(link, serviceId, limit)),
    async close() {
      cancelRetry?.();
      stopFinishing();
      const last = await writer.close();
      await link.close();
      return { ...last, unread };
    },
  };
}
