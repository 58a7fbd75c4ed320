/** Charts and heat maps in the OpenAPI document. */
import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
  SLUG,
} from '../http/openapi.ts';
import type { ParameterSchemas } from '../http/parameters.ts';
import { CHART_QUERY, HEATMAP_QUERY } from './picture-routes.ts';

/** `GET /api/chart/{slug}`. */
export function chartOperation(): OpenApiOperation {
  const slug = SLUG(
    'The domain with each dot replaced by a dash; .png at its end is accepted.',
    'github-com',
  );
  return {
    ...pictureOperation(CHART_QUERY, { 404: 'There is no such service.' }),
    operationId: 'getChart',
    summary: 'The response times of a service as a picture',
    description:
      'The median as a line, with a band up to the 95th percentile, in steps of UTC; times with failed checks have stripes and a cross. Beside it the name, the status now, the share of good checks in the window, rounded down, and the time of the last check. Drawn at most once a minute as long as the status is the same.',
    parameters: [slug, ...queryParameters(CHART_QUERY)],
  };
}

/** `GET /api/heatmap.png`. */
export function heatmapOperation(): OpenApiOperation {
  return {
    ...pictureOperation(HEATMAP_QUERY, {}),
    operationId: 'getHeatmap',
    summary: 'Services by time as a picture',
    description:
      'A row for each service, at most 1,200, by category and then slug; a column for each step. A cell shows the worst of its time: no checks; the 95th percentile within 0.5 s, within 1.5 s or longer; over 5 % of the checks slow; some checks failed; half of them or more. Bad cells have marks beside their colour where there is room, and darken, or brighten in the dark theme, with how bad they are. Services whose domain is not verified are left out. Drawn at most once a minute.',
  };
}

function pictureOperation(
  query: ParameterSchemas,
  more: Readonly<Record<string, string>>,
): Omit<OpenApiOperation, 'operationId' | 'summary' | 'description'> {
  return {
    tags: ['Pictures'],
    security: OPEN_TO_ALL,
    parameters: queryParameters(query),
    responses: {
      200: {
        description: 'The picture, to be kept by shared caches for 300 seconds.',
        headers: LIMIT_HEADERS,
        content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } },
      },
      304: { description: 'The client has it already; this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known; the body names it.',
        401: 'The API key is not valid.',
        ...more,
        429: 'Too many requests; pictures have a limit of their own.',
        503: 'The store of past checks does not answer, or the first picture of a window takes long; Retry-After says when to come again.',
      }),
    },
  };
}
