/** The thread of the InfluxDB store. */
import { type Cancel, systemClock } from '../../../clock.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { regionNumberOf, serviceOf } from '../encoding.ts';
import { createHourCollector, hourLine, hourOf, hoursOverAt } from './hour-summaries.ts';
import { openInfluxLink } from './influx-link.ts';
import { type HourSummaryWriter, queryBuckets, queryNewest, queryRegions } from './influx-reader.ts';
import { InfluxError, type InfluxFault, type InfluxSettings, type ServiceLabels } from './influx-settings.ts';
import { InfluxWriter, type InfluxWriterState } from './influx-writer.ts';
import { createLineWriter, numberTags } from './line-protocol.ts';
import { openLateSpool } from './spool.ts';

export interface InfluxThreadData {
  readonly settings: InfluxSettings;
  readonly dataDir: string;
  readonly spoolBytes: number;
  /** The time for which the server keeps points, milliseconds. */
  readonly retentionMs: number;
  /** Of a request, milliseconds; undefined: the link's default. */
  readonly timeoutMs: number | undefined;
}

const READ_AGAIN_MS = 2_000;
/** The interval at which completed hours are summarized, milliseconds. */
const FINISH_MS = 60_000;

export interface InfluxState extends InfluxWriterState {
  /** Why the last query failed; null: it succeeded, or there was none. */
  readonly unread: { readonly problem: string; readonly fault: InfluxFault } | null;
}

export type InfluxMethods = ReturnType<typeof createInfluxMethods>;

export function createInfluxMethods({
  settings,
  dataDir,
  spoolBytes,
  retentionMs,
  timeoutMs,
}: InfluxThreadData) {
  const link = openInfluxLink(settings, timeoutMs);
  const writer = new InfluxWriter(link, openLateSpool(dataDir, spoolBytes, systemClock.now), systemClock);
  /** In the order of their numbers. */
  const regions: string[] = [];
  const lines = createLineWriter(regions);
  const tagsOf = (series: number): string =>
    numberTags(serviceOf(series), regions[regionNumberOf(series) - 1] ?? null);
  const hours = createHourCollector(systemClock.now(), tagsOf);
  const stopFinishing = systemClock.every(FINISH_MS, () => {
    const finished = hours.finish(systemClock.now());
    if (finished.length > 0) writer.append(finished, true);
  });
  /** Hours can be summarized once they are complete and none of their samples waits on disk. */
  const hourSummaries = (): HourSummaryWriter => {
    const { lateSamples } = hours;
    const missingSince = writer.state().missingSince ?? Number.MAX_SAFE_INTEGER;
    return {
      completeBefore: Math.min(hoursOverAt(systemClock.now()), hourOf(missingSince)),
      store(serviceId, region, hour, summary) {
        // It may lack a sample that arrived while it was read.
        if (hours.lateSamples !== lateSamples) return;
        // The server refuses points that it is about to delete, and may have deleted some of the hour's samples.
        if (hour < systemClock.now() - retentionMs + DAY_MS) return;
        const tags = numberTags(serviceId, region);
        hours.noteWritten(tags, hour);
        writer.append([hourLine(tags, hour, summary)], true);
      },
    };
  };
  let unread: InfluxState['unread'] = null;
  let cancelRetry: Cancel | null = null;
  const state = (): InfluxState => ({ ...writer.state(), unread });
  /** Queries once everything that was appended before is at the server or in the spool. */
  const read = async <T>(query: () => Promise<T>): Promise<T> => {
    await writer.flush();
    try {
      const result = await query();
      unread = null;
      return result;
    } catch (error) {
      if (error instanceof InfluxError) {
        unread = { problem: error.message, fault: error.fault };
        // A server without InfluxQL stays without it.
        if (error.fault !== 'no_influxql') cancelRetry ??= systemClock.after(READ_AGAIN_MS, readAgain);
      }
      throw error;
    }
  };
  /** After a failure the query is repeated, so that the state is correct even if no history is requested. */
  const readAgain = (): void => {
    cancelRetry = null;
    read(() => queryNewest(link, 0, 1)).catch(() => {});
  };
  /** Looks soon after the start if it answers queries, before somebody asks for a history. */
  const look = (): void => {
    cancelRetry = null;
    if (writer.state().problem === null) readAgain();
    else cancelRetry = systemClock.after(READ_AGAIN_MS, look);
  };
  cancelRetry = systemClock.after(READ_AGAIN_MS, look);
  return {
    /** Takes packed samples. `newRegions`: the regions that have the next numbers. */
    async append(
      packed: Float64Array,
      details: Float64Array | null,
      labels: readonly ServiceLabels[],
      newRegions: readonly string[],
    ): Promise<InfluxState> {
      regions.push(...newRegions);
      lines.name(labels);
      writer.append(lines.write(packed, details));
      const invalid = hours.add(packed);
      if (invalid.length > 0) writer.append(invalid, true);
      await writer.room();
      return state();
    },
    write(observed: readonly string[]): InfluxState {
      writer.append(observed, true);
      return state();
    },
    state,
    async flush(): Promise<InfluxState> {
      await writer.flush();
      return state();
    },
    query: (query: SampleQuery): Promise<Bucket[]> => read(() => queryBuckets(link, query, hourSummaries())),
    newest: (serviceId: number, limit: number): Promise<Sample[]> =>
      read(() => queryNewest(link, serviceId, limit)),
    regionsOf: (serviceId: number): Promise<string[]> => read(() => queryRegions(link, serviceId)),
    async close(): Promise<InfluxState> {
      cancelRetry?.();
      stopFinishing();
      return { ...(await writer.close()), unread };
    },
  };
}
