/** The past of services as bars with their uptime: the last 90 days on status pages, the last 24 hours on the dashboard. */
import { createPromiseCache } from '../../async/bounded-map.ts';
import { type Bucket, type DayKind, dayKindOf, uptimeOf } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import { ancestorsOf } from '../../domain/service-parents.ts';
import type { PublicReads } from '../../store/ports/registry.ts';
import type { SampleReads } from '../../store/ports/samples.ts';
import { readAnnouncedChecks, uptimeWithout } from '../../view/announced-uptime.ts';
import type { BeginHistory } from '../../view/history-reads.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import { daysUntil, type Window } from '../../view/time-ranges.ts';

const DAYS = 90;
const KEPT_MS = 60_000;
const MAX_KEPT = 5_000;
/** Maximum number of concurrent queries, so that the store can respond to others in between. */
const MAX_READS = 8;
const STEP = 11;

/** Height of a bar of each kind, in a box of 28: the worse the day, the taller, so that colour is not the only sign. */
const HEIGHTS: Readonly<Record<DayKind, number>> = { none: 4, suspect: 10, up: 18, slow: 23, down: 28 };
const BOX_HEIGHT = 28;

/** The kinds of days with the heights of their bars, as the legend has them. */
export const DAY_KINDS = (['up', 'slow', 'down', 'suspect', 'none'] as const).map((kind) => ({
  kind,
  height: HEIGHTS[kind],
}));

/** The bars of a service, and its uptime without announced maintenance; null: there was none. */
export type UptimeBars = ReturnType<typeof barsOf> & {
  /** The newest days that were not simply up, oldest first, with the place of their bars. */
  readonly told: ReturnType<typeof toldDays>;
  /** Those of them on which the service could not be reached; empty without a directory. */
  readonly unreached: UnreachedDays;
  readonly withoutMaintenance: number | null;
};

export interface UptimeBarSources {
  readonly samples: SampleReads;
  readonly registry: PublicReads;
  /** Absent: what services depend on is not looked for. */
  readonly directory?: { readonly whole: ShownDirectory['whole'] };
  readonly beginHistory: BeginHistory;
  readonly now: () => number;
}

const NO_SERVICES = { byId: () => null, bySlug: () => null };

/**
 * Creates the function that reads the past of services as bars. Bars are small: one line for each kind of day or hour.
 * They are cached for a minute, as the figures of badges are. `windowAt`: the days or hours at a time; default: the last 90 days, in UTC as on the service's
 * own page.
 */
export function createUptimeBars(
  { samples, registry, directory, beginHistory, now }: UptimeBarSources,
  windowAt: (at: number) => Window = (at) => daysUntil(at, DAYS),
) {
  const cached = createPromiseCache<number, UptimeBars>({
    maxEntries: MAX_KEPT,
    maxAgeMs: KEPT_MS,
    now,
  });

  const read = async (serviceId: number, at: number): Promise<UptimeBars> => {
    const isWhole = (samples.missingSince?.() ?? null) === null;
    return await cached(serviceId, String(isWhole), async () => {
      const window = windowAt(at);
      const days = await samples.query({ serviceId, ...window });
      const span = { from: window.from, to: at };
      const announced = await readAnnouncedChecks({ registry, samples }, serviceId, span);
      const withoutMaintenance = announced === null ? null : uptimeWithout(days, announced, window.from);
      const { byId, bySlug } = directory?.whole ?? NO_SERVICES;
      const unreached = await findUnreachedDays(byId(serviceId), days, bySlug, (id) =>
        samples.query({ serviceId: id, ...window }),
      );
      return { ...barsOf(days), told: toldDays(days), unreached, withoutMaintenance };
    });
  };

  /** The bars of services by id, without those that cannot be read now. */
  return async (serviceIds: readonly number[]): Promise<ReadonlyMap<number, UptimeBars>> => {
    const at = now();
    // While past checks cannot be read, a page without bars is better than an error.
    const readHistory = beginHistory();
    const found = new Map<number, UptimeBars>();
    for (let start = 0; start < serviceIds.length; start += MAX_READS) {
      const some = serviceIds.slice(start, start + MAX_READS);
      const bars = await Promise.all(some.map((id) => readHistory(() => read(id, at))));
      for (const [index, id] of some.entries()) {
        const one = bars[index] ?? null;
        if (one !== null) found.set(id, one);
      }
    }
    return found;
  };
}

/** Maximum number of days that say in words what was. All of them, for a hundred services, would make a page of megabytes. */
const MAX_TOLD = 12;

function toldDays(days: readonly Bucket[]) {
  return days
    .flatMap((day, at) => {
      const kind = dayKindOf(day);
      return kind === 'up' || kind === 'none' ? [] : [{ x: at * STEP, width: STEP - 3, day }];
    })
    .slice(-MAX_TOLD);
}

/**
 * The bars of days, oldest first. `lines`: an SVG path for each kind of day with the width of its stroke, in a box of 988 by 28, for a
 * dash of 8 and a gap of 3; consecutive days of one kind are one stroke. `uptimeRatio`: null without checks. `knownDays`: number of
 * days from the first day with a check on.
 */
export function barsOf(days: readonly Pick<Bucket, 'count' | 'slowCount' | 'downCount' | 'suspectCount'>[]) {
  const paths = new Map<DayKind, string>();
  const kinds = days.map(dayKindOf);
  for (const [start, kind] of kinds.entries()) {
    if (kind === kinds[start - 1]) continue;
    let end = start + 1;
    while (kinds[end] === kind) end++;
    const middle = BOX_HEIGHT - HEIGHTS[kind] / 2;
    const stroke = `M${start * STEP} ${middle}h${(end - start) * STEP - 3}`;
    paths.set(kind, (paths.get(kind) ?? '') + stroke);
  }
  const first = days.findIndex(({ count }) => count > 0);
  return {
    lines: [...paths].map(([kind, path]) => ({ kind, path, width: HEIGHTS[kind] })),
    uptimeRatio: uptimeOf(days),
    knownDays: first === -1 ? 0 : days.length - first,
  };
}

/** The services that were down on such days, by the start of the day; null: that is not known. */
export type UnreachedDays = ReadonlyMap<number, Service | null>;

/** Maximum number of services whose days are read for one that depends on them. */
const MAX_READ = 5;

/** Finds these days among `days`. `readDays`: the same days of another service; null: they cannot be read now. */
export async function findUnreachedDays(
  service: Service | null,
  days: readonly Bucket[],
  bySlug: (slug: string) => Service | null,
  readDays: (serviceId: number) => Promise<readonly Bucket[] | null>,
): Promise<UnreachedDays> {
  const causes = new Map<number, Service | null>();
  if (service?.dependsOn === undefined) return causes;
  for (const day of days) if (dayKindOf(day) === 'suspect') causes.set(day.startAt, null);
  for (const one of ancestorsOf(service, bySlug).slice(0, MAX_READ)) {
    if (![...causes.values()].includes(null)) break;
    for (const { startAt, downCount } of (await readDays(one.id)) ?? [])
      if (downCount > 0 && causes.get(startAt) === null) causes.set(startAt, one);
  }
  return causes;
}
