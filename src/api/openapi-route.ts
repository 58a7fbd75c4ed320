/** `GET /api/v1/openapi.json`. */
import { entityTag } from './conditional.ts';
import { json, type Route } from './exchange.ts';
import { openApiDocument } from './openapi.ts';

/** The route; the document is written once. */
export function openApiRoute(siteUrl: string, version: string): Route {
  const body = JSON.stringify(openApiDocument(siteUrl, version));
  const etag = entityTag(body);
  return { path: '/api/v1/openapi.json', bucket: 'pages', handle: () => json(body, etag) };
}
