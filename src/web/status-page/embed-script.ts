/** `/embed.js`: the small script that other sites load to show a status page; its address never changes. */
import { readFileSync } from 'node:fs';
import type { Route } from '../../http/route.ts';
import { DATA_HEADERS } from '../../http/security-headers.ts';

const FILE = new URL('../../../assets/web/embed.js', import.meta.url);
/** An hour: sites that load it see a new one soon. */
const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=3600',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  ...DATA_HEADERS,
};

/** The route. */
export function embedScript(): Route {
  const body = readFileSync(FILE);
  return { path: '/embed.js', bucket: 'pages', handle: () => ({ status: 200, headers: HEADERS, body }) };
}
