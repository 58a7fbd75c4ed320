/** Sums hours up while their samples pass on the way to InfluxDB, and says which summaries a late sample spoils. */
import { HOUR_MS } from '../../../domain/durations.ts';
import { STRIDE } from '../wire.ts';
import { hourLine, hourOf, hoursOverAt, invalidHourLine, summariseHour } from './hour-summary.ts';

/** The collector. */
export interface HourCollector {
  /** Takes packed samples; returns the lines that go with them: summaries that no longer hold. */
  add(packed: Float64Array): string[];
  /** Lines of the hours that are over at `now`, epoch milliseconds. Each is given out once. */
  finish(now: number): string[];
  /** An hour was summed up from what the server has. */
  noteWritten(serviceId: number, hour: number): void;
  /** Late samples since the start: what was read before one of them may be without it. */
  readonly lateSamples: number;
}

/** Hours summed up from the server that are remembered; of older ones a late sample is not noticed. */
const MAX_NOTED = 100_000;
const KEY_HOURS = 10_000_000;

/** Makes a collector at `now`, epoch milliseconds. The hour that has begun is not summed up: its first samples are not seen. */
export function createHourCollector(now: number): HourCollector {
  const firstWhole = hourOf(now) + HOUR_MS;
  let overBefore = hoursOverAt(now);
  /** Samples by hour, service and time; the last of two with the same time wins. */
  const open = new Map<number, Map<number, Map<number, number>>>();
  const noted = new Set<number>();
  let lateSamples = 0;

  const keyOf = (serviceId: number, hour: number): number => serviceId * KEY_HOURS + hour / HOUR_MS;
  const isWritten = (serviceId: number, hour: number): boolean =>
    hour >= firstWhole || noted.has(keyOf(serviceId, hour));

  return {
    add(packed) {
      const spoilt = new Set<string>();
      for (let place = 0; place < packed.length; place += STRIDE) {
        const [serviceId, at, rest] = packed.subarray(place, place + STRIDE) as unknown as [
          number,
          number,
          number,
        ];
        const hour = hourOf(at);
        if (hour < overBefore) {
          lateSamples++;
          if (isWritten(serviceId, hour)) spoilt.add(invalidHourLine(serviceId, hour));
        } else if (hour >= firstWhole) {
          const services = open.get(hour) ?? new Map<number, Map<number, number>>();
          open.set(hour, services);
          const samples = services.get(serviceId) ?? new Map<number, number>();
          services.set(serviceId, samples);
          samples.set(at, rest);
        }
      }
      return [...spoilt];
    },
    finish(moment) {
      overBefore = Math.max(overBefore, hoursOverAt(moment));
      const lines: string[] = [];
      for (const [hour, services] of open) {
        if (hour >= overBefore) continue;
        for (const [serviceId, samples] of services)
          lines.push(hourLine(serviceId, hour, summariseHour([...samples.values()])));
        open.delete(hour);
      }
      return lines;
    },
    noteWritten(serviceId, hour) {
      noted.add(keyOf(serviceId, hour));
      if (noted.size > MAX_NOTED) noted.delete(noted.values().next().value ?? 0);
    },
    get lateSamples() {
      return lateSamples;
    },
  };
}
