/** `GET /api/v1/openapi.json`. */

import { entityTag } from '../http/conditional.ts';
import { json, type Route } from '../http/route.ts';
import { type ApiLimits, perLimits } from '../view/limits.ts';
import { openApiDocument } from './openapi.ts';

/** The route; the document is written once for each set of limits. */
export function openApiRoute(siteUrl: string, version: string, limits: () => ApiLimits): Route {
  const answer = perLimits(limits, (inForce) => {
    const body = JSON.stringify(openApiDocument(siteUrl, version, inForce));
    return json(body, entityTag(body));
  });
  return { path: '/api/v1/openapi.json', bucket: 'pages', handle: answer };
}
