/** What the thread of the InfluxDB store serves. */
import { systemClock } from '../../../clock.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { openInfluxLink } from './influx-link.ts';
import { queryBuckets, queryNewest } from './influx-reader.ts';
import type { InfluxSettings, ServiceLabels } from './influx-settings.ts';
import { createInfluxWriter, type InfluxWriterState } from './influx-writer.ts';
import { createLineWriter } from './line-protocol.ts';
import { openSpool } from './spool.ts';

/** What the thread is started with. */
export interface InfluxThreadData {
  readonly settings: InfluxSettings;
  readonly dataDir: string;
  readonly spoolBytes: number;
  /** Of a request, milliseconds; undefined: the link's own. */
  readonly timeoutMs: number | undefined;
}

/** The thread's methods. */
export type InfluxMethods = {
  readonly append: (
    packed: Float64Array,
    details: Float64Array | null,
    labels: readonly ServiceLabels[],
  ) => Promise<InfluxWriterState>;
  /** Takes lines as they are. */
  readonly write: (lines: readonly string[]) => InfluxWriterState;
  readonly state: () => InfluxWriterState;
  readonly flush: () => Promise<InfluxWriterState>;
  readonly query: (query: SampleQuery) => Promise<Bucket[]>;
  readonly newest: (serviceId: number, limit: number) => Promise<Sample[]>;
  readonly close: () => Promise<InfluxWriterState>;
};

/** Opens the spool and makes the methods. */
export function createInfluxMethods({
  settings,
  dataDir,
  spoolBytes,
  timeoutMs,
}: InfluxThreadData): InfluxMethods {
  const link = openInfluxLink(settings, timeoutMs);
  const writer = createInfluxWriter(link, openSpool(dataDir, spoolBytes), systemClock);
  const lines = createLineWriter();
  return {
    async append(packed, details, labels) {
      lines.name(labels);
      writer.append(lines.write(packed, details));
      await writer.room();
      return writer.state();
    },
    write(observed) {
      writer.append(observed, true);
      return writer.state();
    },
    state: writer.state,
    async flush() {
      await writer.flush();
      return writer.state();
    },
    async query(query) {
      await writer.flush();
      return await queryBuckets(link, query);
    },
    async newest(serviceId, limit) {
      await writer.flush();
      return await queryNewest(link, serviceId, limit);
    },
    async close() {
      const state = await writer.close();
      await link.close();
      return state;
    },
  };
}
