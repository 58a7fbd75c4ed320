/** Contacts and maintenance beside the checks in answers of vendors' APIs: channels, rules and windows. */
import { DAY_MS, formatDuration, MINUTE_MS } from '../../domain/durations.ts';
import { wallOf } from '../../domain/incident/recurrence.ts';
import { ruleItem } from './gatus-alerts.ts';
import { inParts, MAX_OF_RULE, REPEAT, uniqueNames } from './kuma-backup.ts';
import { readKumaMaintenance } from './kuma-maintenance.ts';
import type { ListedItem } from './listed-content.ts';
import type { ListedService } from './listed-service.ts';

/** A person or group with addresses for letters. */
export interface Contact {
  readonly id: string;
  readonly name: string;
  readonly addresses: readonly string[];
}

/** A service, and when its contacts hear of it. */
export interface Watched {
  readonly service: ListedService;
  /** Ids of contacts. */
  readonly contacts: readonly string[];
  readonly events: readonly string[];
  /** Milliseconds; 0: at once. */
  readonly afterMs: number;
  /** Milliseconds; 0: no reminders. */
  readonly repeatMs: number;
}

/** A channel for each address, and a rule for the services of a contact with equal times. */
export function contactItems(contacts: readonly Contact[], watched: readonly Watched[]): ListedItem[] {
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  return contacts.flatMap(({ id, name, addresses }) => {
    const channels = addresses.map((to) => ({ name: channelNames(name), to }));
    const alike = Map.groupBy(
      watched.filter((one) => one.contacts.includes(id)),
      ({ events, afterMs, repeatMs }) => JSON.stringify([events, afterMs, repeatMs]),
    );
    return [
      ...channels.map(
        ({ name: entry, to }): ListedItem => ({
          list: 'channels',
          entry,
          document: () => ({ name: entry, kind: 'email', settings: { to } }),
        }),
      ),
      ...[...alike.values()].flatMap((equal) =>
        inParts(equal, MAX_OF_RULE).map((part) =>
          ruleItem(
            ruleNames(name),
            part.map(({ service }) => service),
            channels.map((channel) => channel.name),
            timesOf(equal[0]),
          ),
        ),
      ),
    ];
  });
}

function timesOf(watched: Watched | undefined): object {
  const { events = [], afterMs = 0, repeatMs = 0 } = watched ?? {};
  const repeat = Math.min(Math.max(repeatMs, REPEAT.minMs), REPEAT.maxMs);
  return {
    events,
    ...(afterMs > 0 ? { after: formatDuration(Math.min(afterMs, DAY_MS)) } : {}),
    ...(repeatMs > 0 ? { repeat: formatDuration(repeat) } : {}),
  };
}

/** A window of maintenance, perhaps a recurring one. */
export interface Window {
  readonly title: string;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
  /** Null: once. */
  readonly every: { readonly days: number } | 'month' | null;
  /** Epoch milliseconds after which it does not recur; null: it has no end. */
  readonly until: number | null;
  readonly services: readonly ListedService[];
}

/** The maintenance of a window, or why it has no equal. */
export function maintenanceItem(
  { title, from, to, timeZone, every, until, services }: Window,
  now: number,
): ListedItem | { readonly problem: string } {
  if (!(to > from)) return { problem: 'its times cannot be read' };
  if (every !== null && to - from >= DAY_MS) return { problem: 'one of a day or more cannot recur' };
  if (services.length === 0) return { problem: 'nothing that it is about is imported' };
  const wall = (at: number) => new Date(wallOf(at, timeZone)).toISOString().slice(0, 16).replace('T', ' ');
  const [start, end] = [wall(from), wall(to)];
  const times = { startTime: start.slice(11), endTime: end.slice(11), startDate: start };
  const date = Number(start.slice(8, 10));
  const reading = readKumaMaintenance(
    {
      ...{ title, active: 1, timezone: timeZone },
      ...(every === null ? { strategy: 'single', startDate: start, endDate: end } : times),
      ...(every === 'month' ? { strategy: 'recurring-day-of-month', daysOfMonth: [date] } : {}),
      ...(every !== null && every !== 'month'
        ? { strategy: 'recurring-interval', intervalDay: every.days }
        : {}),
      ...(every === null || until === null ? {} : { endDate: wall(until) }),
    },
    'UTC',
    now,
  );
  if ('problem' in reading) return reading;
  return {
    list: 'maintenances',
    entry: title,
    document(names) {
      const named = [...new Set(services.flatMap((service) => names.service(service) ?? []))];
      return named.length === 0 ? null : { ...reading.document, services: named };
    },
  };
}

/** Milliseconds of a number of minutes; 0: it is none. */
export function minutesMs(value: unknown): number {
  const minutes = Number(value);
  return minutes > 0 ? minutes * MINUTE_MS : 0;
}
