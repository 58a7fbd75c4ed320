/** Contacts and maintenance beside the checks in answers of vendors' APIs: channels, rules and windows. */
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts';
import { wallOf } from '../../domain/incident/recurrence.ts';
import { readKumaMaintenance } from './kuma-maintenance.ts';
import {
  channelItems,
  type ListedItem,
  maintenanceItem,
  ruleItems,
  ruleTimes,
  uniqueNames,
} from './listed-content.ts';
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
    const settings = addresses.map((to) => ({ to }));
    const channels = channelItems(() => channelNames(name), { kind: 'email', settings });
    const ofContact = watched.filter((one) => one.contacts.includes(id));
    const alike = Map.groupBy(ofContact, ({ events, afterMs, repeatMs }) =>
      JSON.stringify([events, afterMs, repeatMs]),
    );
    const rules = [...alike.values()].flatMap((equal) =>
      ruleItems(
        () => ruleNames(name),
        equal.map(({ service }) => service),
        channels,
        equal[0] === undefined ? {} : timesOf(equal[0]),
      ),
    );
    return [...channels, ...rules];
  });
}

function timesOf({ events, afterMs, repeatMs }: Watched) {
  return { events, ...ruleTimes(Math.min(afterMs, DAY_MS), repeatMs) };
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
export function windowItem(
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
  return maintenanceItem(title, reading.document, services);
}

/** Milliseconds of a number of minutes; 0: it is none. */
export function minutesMs(value: unknown): number {
  const minutes = Number(value);
  return minutes > 0 ? minutes * MINUTE_MS : 0;
}
