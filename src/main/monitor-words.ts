/** What the monitor says of itself to processes that only serve: texts by name, written and read here alone. */
import type { FeedHealth } from '../feeds/vendor-board.ts';
import type { ProberState } from '../record/prober-watch.ts';
import type { StoreStates } from './open-stores.ts';

/** What is said. */
export interface MonitorState {
  readonly prober: ProberState;
  /** Of the monitor, without Redis. */
  readonly stores: StoreStates;
  readonly feeds: readonly FeedHealth[];
  /** Another number where what vendors say has changed. */
  readonly vendorChanges: number;
}

/** Until a monitor has said something. */
export const SILENT_MONITOR: MonitorState = {
  prober: { online: true, offlineSince: null, reason: null, heldResults: 0, suspectCount: 0 },
  stores: {},
  feeds: [],
  vendorChanges: 0,
};

const FEED = 'feed:';

/** The words for a state; each changes only where what it says does. */
export function formatWords({ prober, stores, feeds, vendorChanges }: MonitorState): Map<string, string> {
  return new Map([
    ['prober', JSON.stringify(prober)],
    ['stores', JSON.stringify(stores)],
    ['vendors', String(vendorChanges)],
    ...feeds.map((feed): [string, string] => [FEED + feed.feedId, JSON.stringify(feed)]),
  ]);
}

/** The state in words; what is missing or cannot be read is as with {@link SILENT_MONITOR}. */
export function readWords(words: Readonly<Record<string, string>>): MonitorState {
  const read = <T>(name: string, fallback: T): T => {
    try {
      return words[name] === undefined ? fallback : (JSON.parse(words[name]) as T);
    } catch {
      return fallback;
    }
  };
  return {
    prober: read('prober', SILENT_MONITOR.prober),
    stores: read('stores', SILENT_MONITOR.stores),
    vendorChanges: read('vendors', 0),
    feeds: Object.keys(words).flatMap((name) => {
      const feed = name.startsWith(FEED) ? read<FeedHealth | null>(name, null) : null;
      return feed === null ? [] : [feed];
    }),
  };
}
