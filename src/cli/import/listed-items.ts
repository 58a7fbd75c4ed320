/** Channels, rules, status pages and maintenance of a file beside its services, as documents of `apply`. */

import { DAY_MS, formatDuration, MINUTE_MS } from '../../domain/durations.ts';
import { usualVisibility } from '../../domain/special-address.ts';
import { PAGE_BOUNDS } from '../../domain/status-page.ts';
import { entryOf } from '../../resources/pages/page-document.ts';
import type { Collection, ListedItem } from './listed-content.ts';
import type { ListedService } from './listed-service.ts';

/** Maximum number of services of a rule. */
const MAX_OF_RULE = 500;
/** Bounds of the time between reminders, milliseconds. */
const REPEAT = { minMs: 5 * MINUTE_MS, maxMs: 7 * DAY_MS } as const;

/** Returns names that differ in more than case: a name that was given before gets a number. */
export function uniqueNames(): (name: string) => string {
  const taken = new Set<string>();
  return (name) => {
    let own = name;
    for (let number = 2; taken.has(own.toLowerCase()); number++) own = `${name} (${number})`;
    taken.add(own.toLowerCase());
    return own;
  };
}

export function inParts<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}

export function channelItems(
  nameOf: () => string,
  { kind, settings }: { readonly kind: string; readonly settings: readonly object[] },
): ListedItem[] {
  return settings.map((one) => {
    const name = nameOf();
    return { list: 'channels', entry: name, document: () => ({ name, kind, settings: one }) };
  });
}

/**
 * Rules for services that were imported, as long as one of its channels is too. `more`: further members; with `own` a rule is about
 * all services of the account.
 */
export function ruleItems(
  nameOf: () => string,
  listed: readonly ListedService[],
  channels: readonly ListedItem[],
  more: object,
): ListedItem[] {
  return inParts(listed, MAX_OF_RULE).map((part) => {
    const name = nameOf();
    return {
      list: 'rules',
      entry: name,
      document(names) {
        const services = [...new Set(part.flatMap((service) => names.service(service) ?? []))];
        const told = channels.map(({ entry }) => entry).filter((entry) => names.has('channels', entry));
        if (services.length === 0 || told.length === 0) return null;
        return { name, ...('own' in more ? {} : { services }), channels: told, ...more };
      },
    };
  });
}

/** The times of a rule: the delay before an alert and the time between reminders, milliseconds; 0: none. */
export function ruleTimes(
  afterMs: number,
  repeatMs: number,
): { readonly after?: string; readonly repeat?: string } {
  return {
    ...(afterMs > 0 ? { after: formatDuration(afterMs) } : {}),
    ...(repeatMs > 0
      ? { repeat: formatDuration(Math.min(Math.max(repeatMs, REPEAT.minMs), REPEAT.maxMs)) }
      : {}),
  };
}

/** Maintenance of services that were imported. */
export function maintenanceItem(
  entry: string,
  document: object,
  listed: readonly ListedService[],
): ListedItem {
  return {
    list: 'maintenances',
    entry,
    document(names) {
      const services = [...new Set(listed.flatMap((service) => names.service(service) ?? []))];
      return services.length === 0 ? null : { ...document, services };
    },
  };
}

/** A status page; services that are left out are not on it. */
export function pageItem(
  page: { readonly slug: string; readonly title: string },
  groups: readonly { readonly name: string; readonly services: readonly ListedService[] }[],
): ListedItem {
  return {
    list: 'pages',
    entry: page.slug,
    document(names) {
      const shown = new Set<string>();
      const listed = groups.map(({ name, services }) => ({
        ...(name === '' ? {} : { name }),
        services: services.flatMap((service) => {
          const one = names.service(service);
          if (one === null || shown.has(one)) return [];
          shown.add(one);
          return [entryOf(one, isPrivate(service) ? nameForPages(service) : '')];
        }),
      }));
      return { ...page, ...(listed.length === 0 ? {} : { groups: listed }) };
    },
  };
}

/** Returns true if a page may show a service: a private one whose name would show its address is lost. */
export function mayShow(service: ListedService, entry: string, { lose }: Collection): boolean {
  const isTelling = isPrivate(service) && service.name.toLowerCase().includes(service.domain);
  if (isTelling) lose(entry, service.name, 'it is private, and its name is its address');
  return !isTelling;
}

function isPrivate({ visibility, domain }: ListedService): boolean {
  return (visibility ?? usualVisibility(domain)) === 'private';
}

/** The name of a service, as long as pages take it. */
function nameForPages({ name }: ListedService): string {
  return [...name].slice(0, PAGE_BOUNDS.entryCharacters).join('');
}
