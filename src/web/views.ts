/** Renders pages: eta's templates, which escape everything that is not markup of ours. */
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { ApiAnswer } from '../api/exchange.ts';
import type { AssetAddresses } from './assets.ts';

/** Renders a template with data into an answer. */
export type RenderPage = (template: string, data: object, status?: number) => ApiAnswer;

const POLICY = [
  "default-src 'none'",
  "img-src 'self' data:",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
};

/** Makes the renderer; templates are compiled at their first use and kept. */
export function createViews(assets: AssetAddresses, version: string): RenderPage {
  const eta = new Eta({
    views: fileURLToPath(new URL('./templates', import.meta.url)),
    cache: true,
    autoTrim: false,
  });
  return (template, data, status = 200) => ({
    status,
    headers: HEADERS,
    body: eta.render(template, { ...data, assets, version }),
  });
}
