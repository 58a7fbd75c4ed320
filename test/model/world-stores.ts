/** The stores of simulated worlds: their services in the registry, and the daily figures of their samples. */
import { systemClock } from '../../src/clock.ts';
import { readSchedule } from '../../src/domain/heartbeat/heartbeat-schedule.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import type { SampleStore } from '../../src/store/ports/samples.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import type { RecordedRegistry } from '../support/recorded-registry.ts';
import type { DefinedSchedule, Outcome } from './diary.ts';
import type { World } from './world.ts';
import { componentsOf, pageOf } from './world-announcements.ts';

/** Wall time of the beginning of each world: shortly before midnight, so that short worlds have two days. */
export const START = Date.UTC(2026, 0, 1, 23, 55);
const DAY_MS = 86_400_000;

/** A sample store of many worlds, each with IDs of its own. */
export interface SampleShelf {
  readonly store: SampleStore;
  /** The ID of the next service, minus 1. */
  nextId: number;
}

/** Adds the services of a world; their IDs are 1, 2, 3 and so on. */
export async function addServices(registry: RecordedRegistry, world: World): Promise<Service[]> {
  const client = registry.client(systemClock);
  const services = world.services.map((script, index): NewService => {
    const id = index + 1;
    const own =
      script.kind === 'checked' && script.slowOverMs !== null ? { slowOverMs: script.slowOverMs } : {};
    const check =
      script.kind === 'checked'
        ? { ...DEFAULT_CHECK, ...own }
        : {
            ...DEFAULT_CHECK,
            kind: 'heartbeat' as const,
            ...lengthOf(script.period, world.schedules[index] ?? null),
            graceMs: script.grace * 1_000,
          };
    const domain = `s${id}.example.com`;
    const named = { slug: `s${id}-example-com`, name: domain, domain, category: 'developer' } as const;
    const owned = { origin: 'owner', accountId: 1, verified: true, paused: false } as const;
    return { ...named, ...owned, statusPage: statusPageOf(index), check };
  });
  const added: Service[] = [];
  for (const service of services) added.push(await client.addService(service));
  return added;
}

function lengthOf(period: number | null, schedule: DefinedSchedule | null) {
  if (schedule === null) return period === null ? {} : { periodMs: period * 1_000 };
  const reading = readSchedule(schedule.cron, schedule.timezone);
  if (!reading.ok) throw new Error(`the schedule ${schedule.cron} was refused`);
  return { schedule: reading.schedule };
}

function statusPageOf(index: number) {
  const url = `https://vendor${pageOf(index)}.example/`;
  return { url, kind: 'statuspage', feedUrl: null, components: componentsOf(index) } as const;
}

/** The figures of each day with samples, of each service. `firstId`: of the first service in the store, minus 1; `seconds`: of the world. */
export async function readDays(
  samples: SampleStore,
  firstId: number,
  services: number,
  seconds: number,
): Promise<Outcome['days']> {
  const from = START - (START % DAY_MS) - DAY_MS;
  // Clocks that are set and standstills add hours.
  const to = from + (Math.ceil((seconds * 1_000) / DAY_MS) + 4) * DAY_MS;
  const days: Outcome['days'][number][] = [];
  for (let service = 1; service <= services; service++) {
    const query = { serviceId: service + firstId, from, to, stepMs: DAY_MS };
    for (const { startAt, upCount, slowCount, downCount, suspectCount, uptimeRatio } of await samples.query(
      query,
    )) {
      if (upCount + slowCount + downCount + suspectCount === 0) continue;
      const day = new Date(startAt).toISOString().slice(0, 10);
      const counts = { up: upCount, slow: slowCount, down: downCount, suspect: suspectCount };
      days.push({ service, day, ...counts, uptime: uptimeRatio });
    }
  }
  return days;
}
