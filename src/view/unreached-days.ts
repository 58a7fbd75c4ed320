/** Days of which all checks were left out because something that the service depends on was down (docs/depends-on.md). */
import { type Bucket, dayKindOf } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';

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
