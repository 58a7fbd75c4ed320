/** Samples in InfluxDB for a process that only reads them: in a thread, without a spool. */
import type { Log } from '../../../log.ts';
import { superviseStoreThread } from '../../../thread/supervised-thread.ts';
import type { SampleQuery, SampleReads } from '../../ports/samples.ts';
import { watchSampleThread } from '../sample-thread.ts';
import { openInfluxLink } from './influx-link.ts';
import { queryBuckets, queryNewest, queryRegions } from './influx-reader.ts';
import type { InfluxSettings } from './influx-settings.ts';

const ENTRY = new URL('../../../../workers/samples-influx-reading.ts', import.meta.url);

export function createInfluxReadingMethods(settings: InfluxSettings) {
  const link = openInfluxLink(settings);
  return {
    query: (query: SampleQuery) => queryBuckets(link, query),
    newest: (serviceId: number, limit: number) => queryNewest(link, serviceId, limit),
    regionsOf: (serviceId: number) => queryRegions(link, serviceId),
  };
}

/** Starts the thread; the server may be unavailable. `onEnd` is called if the thread ends by a fault. */
export function openInfluxReading(options: {
  readonly settings: InfluxSettings;
  readonly log: Log;
  readonly onEnd: (reason: Error) => void;
}): SampleReads & { close(): Promise<void> } {
  const { settings, log, onEnd } = options;
  const thread = superviseStoreThread<ReturnType<typeof createInfluxReadingMethods>>({
    name: 'the InfluxDB reading thread',
    entry: ENTRY,
    workerData: settings,
    log,
    onEnd,
  });
  const open = new Set<Promise<unknown>>();
  const silence = watchSampleThread(thread, log);
  const track = async <T>(ask: () => Promise<T>): Promise<T> => {
    silence.refuse();
    const answer = ask();
    open.add(answer);
    try {
      return await answer;
    } finally {
      open.delete(answer);
    }
  };
  return {
    query: (query) => track(() => thread.call('query', [query])),
    newest: (serviceId, limit) => track(() => thread.call('newest', [serviceId, limit])),
    regionsOf: (serviceId) => track(() => thread.call('regionsOf', [serviceId])),
    async close() {
      silence.end();
      // Queries in flight are completed.
      await Promise.allSettled(open);
      await thread.stop();
    },
  };
}
