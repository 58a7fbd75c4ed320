/** JSON of services, made at the first read after a change and cached until the next; a list joins cached members. */
import { BoundedMap } from '../async/bounded-map.ts';
import { type CurrentStatus, unknownStatus } from '../domain/current.ts';
import type { Service } from '../domain/service.ts';
import type { VendorWord } from '../domain/vendor-word.ts';
import { entityTag } from '../http/conditional.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { intervalOf, isStale, type ListenedAt } from '../view/staleness.ts';
import { viewLatestCheck, viewService } from './service-view.ts';
import { viewVendorWord } from './vendor-view.ts';

/** Prepared JSON. */
export interface ServiceJson {
  /** A member of the list. */
  listItem(service: Service): string;
  /** The single status with its latest check, and its entity tag. */
  status(service: Service): { readonly body: Buffer; readonly etag: string };
}

interface Kept {
  readonly service: Service;
  readonly current: CurrentStatus;
  readonly stale: boolean;
  readonly item: string;
  status: { readonly body: Buffer; readonly etag: string } | null;
  /** The vendor's word in `status`. */
  vendor: VendorWord | null;
}

/** Services whose JSON is cached, about 1 KiB each; beyond, the one cached first is dropped. */
const KEPT = 50_000;

/** What the JSON is made of. */
export interface ServiceJsonSources {
  readonly status: Pick<StatusStore, 'get'>;
  readonly intervalMs: number;
  readonly now: () => number;
  readonly listenedAt: ListenedAt;
  /** The vendor's word on a service; null: its status page is not read. */
  readonly vendorOf: (service: Service) => VendorWord | null;
}

/** Makes an empty cache over the status store. */
export function createServiceJson({
  status,
  intervalMs,
  now,
  listenedAt,
  vendorOf,
}: ServiceJsonSources): ServiceJson {
  const kept = new BoundedMap<number, Kept>(KEPT);
  const find = (service: Service): Kept => {
    const current = status.get(service.id) ?? unknownStatus(service.id);
    const stale = isStale(current, intervalOf(service, intervalMs), now(), listenedAt);
    const known = kept.get(service.id);
    // Statuses are never changed in place: the same object has the same content.
    if (
      known !== undefined &&
      known.current === current &&
      known.service === service &&
      known.stale === stale
    )
      return known;
    const item = JSON.stringify(viewService(service, current, stale));
    const fresh: Kept = { service, current, stale, item, status: null, vendor: null };
    kept.set(service.id, fresh);
    return fresh;
  };
  return {
    listItem: (service) => find(service).item,
    status(service) {
      const entry = find(service);
      const vendor = vendorOf(service);
      if (entry.status === null || !isSameWord(entry.vendor, vendor)) {
        const latest = JSON.stringify(viewLatestCheck(entry.current.latest));
        const word = JSON.stringify(viewVendorWord(vendor));
        const body = Buffer.from(`${entry.item.slice(0, -1)},"latest_check":${latest},"vendor":${word}}`);
        entry.vendor = vendor;
        entry.status = { body, etag: entityTag(body) };
      }
      return entry.status;
    },
  };
}

function isSameWord(a: VendorWord | null, b: VendorWord | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.readAt === b.readAt &&
    a.status === b.status &&
    a.incidentId === b.incidentId &&
    a.since === b.since &&
    a.stale === b.stale
  );
}
