/** Badges in the OpenAPI document. */

import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
  SLUG,
} from '../http/openapi.ts';
import { BADGE_QUERY } from '../view/badge-query.ts';
import { ShieldsSchema } from './badge-shields.ts';
import { PICTURE_CACHING } from './picture-cache.ts';

/** `GET /api/badge/{slug}`. */
export function badgeOperation(): OpenApiOperation {
  const slug = SLUG(
    'The domain with each dot replaced by a dash; .png, .svg or .json at its end says the format.',
    'github-com',
  );
  return {
    operationId: 'getBadge',
    tags: ['Badges'],
    security: OPEN_TO_ALL,
    summary: 'A badge of a service: its status, its uptime or its response time',
    description:
      'A picture of 280 by 36 pixels. The status: Operational, Slow, Down or Unknown. The uptime: the share of good checks in the window, rounded down. The latency: the median or the 95th percentile of its response times. Where there are no checks it says "No data". What is stale, older than two intervals, is grey (never a silent service while the monitor listens) and tells its age; a figure has a clock then. An SVG says in its title, and a PNG of a figure in the text "As of", which time it shows. The format "shields" is JSON for the endpoint badge of shields.io. Figures are read at most once a minute.',
    parameters: [slug, ...queryParameters(BADGE_QUERY)],
    responses: {
      200: {
        description: 'The badge, to be kept by shared caches for 300 seconds.',
        headers: {
          ...LIMIT_HEADERS,
          'Cache-Control': {
            description: 'How long it may be kept.',
            schema: { type: 'string', const: PICTURE_CACHING },
          },
        },
        content: {
          'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } },
          'image/svg+xml': { schema: { type: 'string', contentMediaType: 'image/svg+xml' } },
          'application/json': { schema: ShieldsSchema },
        },
      },
      304: { description: 'The client has it already; this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known, or the ending says another format; the body names the parameter.',
        401: 'The API key is not valid.',
        404: 'There is no such service.',
        429: 'Too many requests; pictures have a limit of their own.',
        503: 'The store of past checks does not answer; the status badge does.',
      }),
    },
  };
}
