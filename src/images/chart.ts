/** `GET /api/chart/:slug`: the response times of a service, for other sites and link previews. */

import type { Clock } from '../clock.ts';
import { CHART_SIZES, type ChartPicture, chartPoints, spanOf } from '../domain/picture.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { type OpenApiOperation, SLUG } from '../http/openapi.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import { inRegion, REGION_PARAMETER } from '../view/sample-region-reader.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { intervalOf, isStale, seenAt } from '../view/staleness.ts';
import { ageOf, asOfAge } from './badge-text.ts';
import {
  createPictureCache,
  pictureOperation,
  THEME_PARAMETER,
  WINDOW_PARAMETER,
  withTimeout,
} from './picture.ts';

const QUERY = {
  window: WINDOW_PARAMETER,
  theme: THEME_PARAMETER,
  size: enumParameter(
    CHART_SIZES,
    'embed: 800 by 300 pixels, for a page; card: 1,200 by 630, for previews of links.',
    'embed',
  ),
  region: REGION_PARAMETER,
};

export interface ChartSources extends SiteSources {
  /** Draws charts as PNG. */
  readonly pictures: { readonly chart: (picture: ChartPicture) => Promise<Uint8Array> };
  readonly clock: Clock;
}

/** Maximum number of cached charts, up to 50 KB each. */
const MAX_CHARTS = 500;

export function chartRoute({
  finder,
  status,
  samples,
  regions,
  pictures,
  intervalMs,
  listenedAt,
  siteUrl,
  clock,
}: ChartSources): Route {
  const keep = createPictureCache(MAX_CHARTS, () => clock.now());
  const site = new URL(siteUrl).host;
  return {
    path: '/api/chart/:slug',
    bucket: 'pictures',
    access: 'everyone',
    describe: describeChart,
    async handle(request) {
      const { window, theme, size, region } = readParameters(request.query, QUERY);
      const name = (request.params.slug ?? '').replace(/\.png$/i, '');
      const service = await finder.named(request, name);
      const filter = await regions.filterOf(region);
      const current = status.get(service.id) ?? unknownStatus(service.id);
      const now = clock.now();
      const asOf = current.latest?.checkedAt ?? null;
      const seen = seenAt(current, listenedAt);
      const stale = isStale(current, intervalOf(service, intervalMs), now, listenedAt);
      const ageText = stale && seen !== null ? asOfAge(ageOf(seen, now)) : null;
      const place = `${service.id} ${window} ${theme} ${size} ${region ?? ''}`;
      const missingSince = samples.missingSince?.() ?? null;
      const content = `${service.revision} ${current.status} ${ageText !== null} ${missingSince !== null}`;
      const answer = keep(place, content, async () => {
        const span = spanOf(window, now);
        const buckets = await samples.query(inRegion({ serviceId: service.id, ...span }, filter));
        return await pictures.chart({
          name: service.name,
          domain: service.domain,
          status: current.status,
          ageText,
          asOf,
          missingSince,
          window,
          ...(region === undefined ? {} : { region }),
          span,
          ...chartPoints(buckets),
          theme,
          size,
          site,
        });
      });
      return await withTimeout(answer, clock);
    },
  };
}

function describeChart(): OpenApiOperation {
  const slug = SLUG(
    'The domain with each dot replaced by a dash; .png at its end is accepted.',
    'github-com',
  );
  const picture = pictureOperation(QUERY, { 404: 'There is no such service.' });
  return {
    ...picture,
    operationId: 'getChart',
    summary: 'Get the response times of a service as a picture',
    description:
      'The median as a line, with a band up to the 95th percentile, in steps of UTC; times with failed checks have stripes and a cross. Beside it the name, the status now, the share of good checks in the window, rounded down, and the time of the last check. While checks wait to be stored, it says since when it is incomplete. Drawn at most once a minute as long as the status is the same.',
    parameters: [slug, ...picture.parameters],
  };
}
