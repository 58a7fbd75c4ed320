/** Samples in InfluxDB as a process reads them that writes none: without a spool, in a thread of its own. */
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { Log } from '../../../log.ts';
import { FATAL, superviseThread } from '../../../thread/supervised-thread.ts';
import type { SampleQuery, SampleStore } from '../../ports/samples.ts';
import { openInfluxLink } from './influx-link.ts';
import { queryBuckets, queryNewest } from './influx-reader.ts';
import type { InfluxSettings } from './influx-settings.ts';

/** The thread's methods. */
export type InfluxReadingMethods = {
  readonly query: (query: SampleQuery) => Promise<Bucket[]>;
  readonly newest: (serviceId: number, limit: number) => Promise<Sample[]>;
};

const ENTRY = new URL('../../../../workers/samples-influx-reading.ts', import.meta.url);

/** Makes the methods. */
export function createInfluxReadingMethods(settings: InfluxSettings): InfluxReadingMethods {
  const link = openInfluxLink(settings);
  return {
    query: (query) => queryBuckets(link, query),
    newest: (serviceId, limit) => queryNewest(link, serviceId, limit),
  };
}

/** Opens it; the server may be away. `onEnd` is called if the thread ends unasked. */
export function openInfluxReading(options: {
  readonly settings: InfluxSettings;
  readonly log: Log;
  readonly onEnd: (reason: Error) => void;
}): Pick<SampleStore, 'query' | 'newest' | 'close'> {
  const { settings, log, onEnd } = options;
  const thread = superviseThread<InfluxReadingMethods>({
    name: 'the InfluxDB reading thread',
    entry: ENTRY,
    workerData: settings,
    policy: FATAL,
    onEnd(reason) {
      log.error({ problem: reason.message }, 'the InfluxDB reading thread ended');
      onEnd(reason);
    },
  });
  const open = new Set<Promise<unknown>>();
  const track = async <T>(answer: Promise<T>): Promise<T> => {
    open.add(answer);
    try {
      return await answer;
    } finally {
      open.delete(answer);
    }
  };
  return {
    query: (query) => track(thread.call('query', [query])),
    newest: (serviceId, limit) => track(thread.call('newest', [serviceId, limit])),
    async close() {
      // Who has asked is answered still.
      await Promise.allSettled(open);
      await thread.stop();
    },
  };
}
