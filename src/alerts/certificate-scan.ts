/** Finds certificates that end soon, each hour, among the services that rules name. */
import { inParts, runInParts } from '../async/in-parts.ts';
import type { Clock } from '../clock.ts';
import type { AlertEvent } from '../domain/alert/event.ts';
import { accountsOf } from '../domain/alert/match.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { Service } from '../domain/service.ts';
import { type AlertRules, type AlertSources, matchedService } from './alert-world.ts';

/** Days before the end of a certificate at which it is told of, the least first. */
const THRESHOLDS = [1, 7, 21] as const;

export function createCertificateScan(sources: Pick<AlertSources, 'services' | 'status'>, clock: Clock) {
  let scannedAt = Number.NEGATIVE_INFINITY;
  return {
    isDue: (): boolean => clock.monotonic() - scannedAt >= HOUR_MS,
    /** An event for each certificate that has reached a threshold; which of them are news is decided for each account. */
    async find(rules: AlertRules, now: number): Promise<AlertEvent[]> {
      if (!rules.rules.some(({ events }) => events.includes('certificate'))) return [];
      const found: AlertEvent[] = [];
      const look = (service: Service): void => {
        const change = changeOf(service, sources, now);
        const matched = change === null ? null : matchedService(sources, service.id);
        if (change !== null && matched !== null && accountsOf(rules.index, matched).size > 0)
          found.push({ position: 0, serviceId: service.id, at: now, recordedAt: now, change });
      };
      await runInParts(inParts(sources.services.all(), look));
      return found;
    },
    /** Notes that the found changes are decided. */
    done(): void {
      scannedAt = clock.monotonic();
    },
  };
}

/** The change of a service's certificate that is to tell; null: none. */
function changeOf(
  { id, paused }: Service,
  { status }: Pick<AlertSources, 'status'>,
  now: number,
): AlertEvent['change'] | null {
  const endsAt = paused ? null : (status.get(id)?.latest?.certificateExpiresAt ?? null);
  if (endsAt === null) return null;
  const days = THRESHOLDS.find((threshold) => endsAt - now <= threshold * DAY_MS);
  return days === undefined ? null : { type: 'certificate', endsAt, days };
}
