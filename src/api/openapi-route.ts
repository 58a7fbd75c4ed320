/** `GET /api/v1/openapi.json`. */
import { type ApiLimits, perLimits } from './api-limits.ts';
import { entityTag } from './conditional.ts';
import { json, type Route } from './exchange.ts';
import { openApiDocument } from './openapi.ts';

/** The route; the document is written once for each set of limits. */
export function openApiRoute(siteUrl: string, version: string, limits: () => ApiLimits): Route {
  const answer = perLimits(limits, (inForce) => {
    const body = JSON.stringify(openApiDocument(siteUrl, version, inForce));
    return json(body, entityTag(body));
  });
  return { path: '/api/v1/openapi.json', bucket: 'pages', handle: answer };
}
