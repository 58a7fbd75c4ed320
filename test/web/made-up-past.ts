/** Samples of services with good and bad times that follow from the time alone, so that every picture of them is the same. */
import type { Sample } from '../../src/domain/sample.ts';
import { NOW } from '../site/site-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** So long ago the services began to be checked every five minutes. */
const RECENT = 3 * DAY;

/** How a service did until {@link NOW}. Times are epoch milliseconds. */
export interface Past {
  readonly serviceId: number;
  /** When it was first checked. */
  readonly begins: number;
  /** What an answer takes, more or less, milliseconds. */
  readonly baseMs: number;
  /** The share of days, and of the newest hours, that begin with a failed check: 0 to 1. */
  readonly trouble: number;
  /** When the outage that goes on began; null: there is none. */
  readonly downSince: number | null;
}

/** The older, the fewer checks: a year of one every five minutes takes long to store. */
export function* madeUpPast(past: Past): Generator<Sample> {
  for (let at = past.begins; at < NOW; at += stepAt(at)) yield sampleAt(past, at);
}

function stepAt(at: number): number {
  if (at >= NOW - RECENT) return 5 * MINUTE;
  return at >= NOW - 40 * DAY ? HOUR : 6 * HOUR;
}

function sampleAt({ serviceId, baseMs, trouble, downSince }: Past, at: number): Sample {
  const spanMs = at >= NOW - RECENT ? HOUR : DAY;
  const chance = fraction(Math.floor(at / spanMs) * 7_919 + serviceId * 104_729);
  const isFirst = at % spanMs < stepAt(at);
  const isDown = (isFirst && chance < trouble) || (downSince !== null && at >= downSince);
  const wave = Math.sin(at / (3.1 * HOUR)) + Math.sin(at / (17 * DAY));
  return {
    serviceId,
    at,
    status: isDown ? 'down' : isFirst && chance > 0.95 ? 'slow' : 'up',
    latencyMs: isDown ? null : Math.round((baseMs + 30 * wave + 12 * chance) * (1 + fraction(at) ** 8)),
    statusCode: isDown ? 0 : 200,
    suspect: chance > 0.985,
  };
}

/** A number from 0 to 1 that looks like chance and always is the same for a seed. */
export function fraction(seed: number): number {
  const value = Math.sin(seed) * 43_758.5453;
  return value - Math.floor(value);
}
