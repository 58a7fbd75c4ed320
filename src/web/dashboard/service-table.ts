/** The table of an account's services on the dashboard: status, uptime of 30 days, newest check, and the last 24 hours as bars. */

import type { Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import { type Phrase, time } from '../../language/phrase.ts';
import { daysUntil, hoursUntil } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { createUptimeBars } from '../parts/uptime-bars.ts';
import type { DashboardSources } from './dashboard-forms.ts';

/** Services beyond these have neither uptime nor bars, so that the page of a large account is not slow. */
const MAX_WITH_PAST = 200;
const UPTIME_DAYS = 30;
/** The last bar is the hour that goes on. */
const BARS = 24;

/** Creates the function that reads the rows. */
export function createServiceTable(
  sources: Pick<DashboardSources, 'registry' | 'samples' | 'beginHistory' | 'status' | 'now'>,
) {
  const readUptime = createUptimeBars(sources, (at) => daysUntil(at, UPTIME_DAYS));
  const readBars = createUptimeBars(sources, (at) => hoursUntil(at, BARS));
  return async (services: readonly Service[], { formats, texts }: Language) => {
    const ids = services.slice(0, MAX_WITH_PAST).map(({ id }) => id);
    const [uptimes, bars] = [await readUptime(ids), await readBars(ids)];
    return services.map((service) => {
      const { status: word, latest } = sources.status.get(service.id) ?? unknownStatus(service.id);
      const ratio = uptimes.get(service.id)?.uptimeRatio ?? null;
      const checked: Phrase = latest === null ? [texts.dashboard.never] : [time(latest.checkedAt)];
      return {
        service,
        word,
        checked,
        uptime: ratio === null ? null : formats.percent(ratio),
        lines: bars.get(service.id)?.lines ?? [],
      };
    });
  };
}
