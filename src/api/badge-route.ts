/** `GET /api/badge/:slug`: the status badge (contract 4.6). */
import { type CurrentStatus, unknownStatus } from '../domain/current.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { entityTag } from './conditional.ts';
import type { ApiAnswer, Route } from './exchange.ts';
import { readParameters, wordParameter } from './parameters.ts';
import { serviceNotFound } from './reading-routes.ts';
import type { ServiceDirectory } from './service-directory.ts';
import { intervalOf, isStale } from './service-view.ts';

/** Query parameters of the badge. */
export const BADGE_QUERY = { theme: wordParameter(['light', 'dark'], 'Colours of the badge.', 'light') };

/** What a badge shows. */
export interface BadgeText {
  readonly name: string;
  /** Shown where the name's script has no letters in the font. */
  readonly fallback: string;
  readonly status: ServiceStatus;
  readonly theme: 'light' | 'dark';
  /** Age of a stale status; null: it is fresh. */
  readonly ageText: string | null;
}

/** What the route reads from. */
export interface BadgeSources {
  readonly directory: ServiceDirectory;
  readonly status: StatusStore;
  readonly renderBadge: (text: BadgeText) => Promise<Uint8Array>;
  readonly intervalMs: number;
  readonly now: () => number;
}

const HEADERS = {
  'Content-Type': 'image/png',
  'Cache-Control': 'public, s-maxage=300, stale-while-revalidate=60',
};
/** Answers kept: bytes are shared with the renderer's own memory, this one saves the key and the hash. */
const KEPT = 20_000;

/** The route. */
export function badgeRoute({ directory, status, renderBadge, intervalMs, now }: BadgeSources): Route {
  const kept = new Map<string, ApiAnswer>();
  return {
    path: '/api/badge/:slug',
    bucket: 'pictures',
    async handle({ params, query }) {
      const { theme } = readParameters(query, BADGE_QUERY);
      const name = (params.slug ?? '').replace(/\.png$/i, '');
      const service = directory.byPageName(name);
      if (service === null) throw serviceNotFound(name);
      const current = status.get(service.id) ?? unknownStatus(service.id);
      const ageText = isStale(current, intervalOf(service, intervalMs), now())
        ? describeAge(current, now())
        : null;
      const key = `${service.id} ${service.revision} ${current.status} ${theme} ${ageText}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const body = await renderBadge({
        name: service.name,
        fallback: service.domain,
        status: current.status,
        theme: theme as 'light' | 'dark',
        ageText,
      });
      const answer = { status: 200, headers: HEADERS, body, etag: entityTag(body) };
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value ?? '');
      kept.set(key, answer);
      return answer;
    },
  };
}

/** How long ago the last check was, in the largest whole unit: `12 min ago`. */
export function describeAge({ latest }: CurrentStatus, now: number): string {
  const seconds = Math.max(0, Math.floor((now - (latest?.checkedAt ?? now)) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}
