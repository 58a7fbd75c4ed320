/** The past of a service on the dashboard: its uptime and days, its response times of 24 hours, and its newest incidents. */
import type { Service } from '../../domain/service.ts';
import { windowOf } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { viewPageIncident } from '../parts/incidents.ts';
import { createUptimeBars } from '../parts/uptime-bars.ts';
import { describeDay } from '../service/service-days.ts';
import { drawingOf } from '../service/service-response-times.ts';
import type { DashboardSources } from './dashboard-forms.ts';

const SHOWN_INCIDENTS = 5;
const RANGE = '24h';

/** Creates the function that reads it. */
export function createServicePast(
  sources: Pick<DashboardSources, 'registry' | 'samples' | 'beginHistory' | 'directory' | 'bounds' | 'now'>,
) {
  const { registry, samples, beginHistory, directory, bounds, now } = sources;
  const readBars = createUptimeBars(sources);
  return async (service: Service, language: Language) => {
    const at = now();
    const window = windowOf(RANGE, at);
    const [bars, day, incidents] = await Promise.all([
      readBars([service.id]),
      beginHistory()(() => samples.query({ serviceId: service.id, ...window })),
      registry.listIncidents({ serviceId: service.id, limit: SHOWN_INCIDENTS, offset: 0 }),
    ]);
    const { lines = [], told = [], uptimeRatio = null, knownDays = 0 } = bars.get(service.id) ?? {};
    const uptime = uptimeRatio === null ? null : language.formats.percent(uptimeRatio);
    const intervalMs = service.check.intervalMs ?? bounds.usual.intervalMs;
    return {
      lines,
      told: told.map(({ day, ...place }) => ({ ...place, label: describeDay(day, intervalMs, language) })),
      uptime,
      knownDays,
      drawing: day === null ? null : drawingOf(day, window, language),
      range: language.texts.page.ago[RANGE],
      incidents: incidents.map((incident) =>
        viewPageIncident(incident, directory.pageName(service), at, language),
      ),
    };
  };
}
