/** The state that the monitor publishes for serving processes: strings by name, formatted and parsed only here. */
import type { FeedHealth } from '../feeds/vendor-status-cache.ts';
import type { ProberState } from '../record/connection-watch.ts';
import type { PartStates } from '../view/monitor.ts';

export interface MonitorState {
  readonly prober: ProberState;
  /** States of the monitor's stores, except Redis. */
  readonly stores: PartStates;
  readonly feeds: readonly FeedHealth[];
  /** A number that changes with every change of a vendor status. */
  readonly vendorChanges: number;
}

export const UNKNOWN_MONITOR_STATE: MonitorState = {
  prober: { online: true, offlineSince: null, reason: null, heldResults: 0, suspectCount: 0 },
  stores: {},
  feeds: [],
  vendorChanges: 0,
};

const FEED = 'feed:';

/** Formats a state; a string changes only if its part of the state does. */
export function formatMonitorState({
  prober,
  stores,
  feeds,
  vendorChanges,
}: MonitorState): Map<string, string> {
  return new Map([
    ['prober', JSON.stringify(prober)],
    ['stores', JSON.stringify(stores)],
    ['vendors', String(vendorChanges)],
    ...feeds.map((feed): [string, string] => [FEED + feed.feedId, JSON.stringify(feed)]),
  ]);
}

/** Parses a state; missing or unreadable parts are those of {@link UNKNOWN_MONITOR_STATE}. */
export function parseMonitorState(fields: Readonly<Record<string, string>>): MonitorState {
  const read = <T>(name: string, fallback: T): T => {
    try {
      return fields[name] === undefined ? fallback : (JSON.parse(fields[name]) as T);
    } catch {
      return fallback;
    }
  };
  return {
    prober: read('prober', UNKNOWN_MONITOR_STATE.prober),
    stores: read('stores', UNKNOWN_MONITOR_STATE.stores),
    vendorChanges: read('vendors', 0),
    feeds: Object.keys(fields).flatMap((name) => {
      const feed = name.startsWith(FEED) ? read<FeedHealth | null>(name, null) : null;
      return feed === null ? [] : [feed];
    }),
  };
}
