/** The verdict on a service as a sentence, in the language of the page. */
import type { CurrentStatus } from '../domain/current.ts';
import type { Language } from './language/language.ts';
import { lasting, type Phrase, time } from './language/phrase.ts';

/** Since when and why, without the name of the service: `is down since ...: HTTP 503.` */
export function sayVerdict({ status, since, latest }: CurrentStatus, { words, formats }: Language): Phrase {
  const { service } = words;
  if (status === 'unknown' || since === null || latest === null) return [service.notChecked];
  const lasted = lasting(since);
  if (status === 'up') return service.up(time(since), lasted);
  if (status === 'slow') {
    const took = latest.responseTimeMs === null ? null : formats.milliseconds(latest.responseTimeMs);
    return service.slow(time(since), lasted, took);
  }
  const told = latest.failure === null ? null : service.failure(latest.failure);
  return service.down(time(since), lasted, latest.source === 'silence' ? service.noHeartbeat : told);
}
