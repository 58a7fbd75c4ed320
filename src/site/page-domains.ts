/** The domains of status pages in memory, for each request to be routed without the registry, and what a page shows at its domain. */
import { createCoalescingLoop, createPollGate } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import type { Route } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { PageDomainStore, ProvedPageDomain } from '../store/ports/status-pages.ts';
import type { WriteCounter } from '../store/ports/storage-health.ts';

/** Interval of reading the domains, milliseconds: other processes and commands change them. */
const READ_INTERVAL_MS = 1_000;

/** The domains that are proved. */
export type PageDomains = Awaited<ReturnType<typeof openPageDomains>>;

export interface PageDomainsOptions {
  readonly registry: PageDomainStore & Partial<WriteCounter>;
  /** Public URL of this site, whose own host is never a page's. */
  readonly siteUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the domains and follows their changes. While the registry cannot be read, the last ones stay. */
export async function openPageDomains({ registry, siteUrl, clock, log }: PageDomainsOptions) {
  const { hostname } = new URL(siteUrl);
  let byName: ReadonlyMap<string, ProvedPageDomain> = new Map();
  const gate = createPollGate(registry.writes, clock.monotonic);
  let isFailing = false;
  const reading = createCoalescingLoop(async () => {
    gate.begin();
    try {
      const all = await registry.provedPageDomains();
      byName = new Map(all.map((one) => [one.domain, one]));
      isFailing = false;
      gate.close();
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'the domains of status pages cannot be read');
      isFailing = true;
    }
  });
  const stop = clock.every(READ_INTERVAL_MS, () => {
    if (gate.isOpen() && !reading.isRunning) void reading.run();
  });
  await reading.run();
  return {
    /** The page that a `Host` header names, in any case, with or without a port or a final dot; null: none. */
    find(host: string | undefined): ProvedPageDomain | null {
      if (host === undefined || byName.size === 0) return null;
      const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
      return name === hostname ? null : (byName.get(name) ?? null);
    },
    /** Returns true if a page has a domain, in any case. */
    isProved: (domain: string): boolean =>
      byName.has(domain.toLowerCase()) && domain.toLowerCase() !== hostname,
    /** Reads the domains now. */
    refresh: (): Promise<void> => reading.run(),
    stop,
  };
}

/**
 * `/tls-ask?domain=…`: whether a proxy may obtain a certificate for a host, as Caddy asks with `ask`: 200 for a domain that a page
 * has proved, otherwise 404. It has no rate limit, since the proxy asks, and it reads no store.
 */
export function tlsAskRoute(domains: PageDomains | null): Route {
  return {
    path: '/tls-ask',
    bucket: 'none',
    access: 'everyone',
    open: true,
    sameOrigin: true,
    handle({ query }) {
      const domain = new URLSearchParams(query).get('domain') ?? '';
      const isProved = domains?.isProved(domain) === true;
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
      return { status: isProved ? 200 : 404, headers, body: isProved ? 'proved\n' : 'not proved\n' };
    },
  };
}

/** A request at a domain: its route, and the parameters and the query for it. */
interface DomainMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
}

/** Paths at a domain, and those of the routes that answer them. */
const PATHS: Readonly<Record<string, string>> = {
  '/': '/p/:slug',
  '/page.json': '/p/:slug.json',
  '/incidents.atom': '/p/:slug/incidents.atom',
  '/incidents.json': '/p/:slug/incidents.json',
  '/calendar.ics': '/p/:slug/calendar.ics',
  '/embed': '/p/:slug/embed',
  '/logo': '/p/:slug/logo',
  '/favicon': '/p/:slug/favicon',
  '/favicon.ico': '/p/:slug/favicon',
  '/brand.css': '/p/:slug/brand.css',
  '/unlock': '/p/:slug/unlock',
};

/** The beginning of the paths of documents as Statuspage has them. */
const STATUSPAGE_PATH = '/api/v2/';

/** The path of an incident that the owner has written. */
const POST_PATH = /^\/incidents\/([\w-]{1,100})$/;

/** The files that pages load. */
const ASSET = /^\/assets\/([\w.-]{1,200})$/;

/** The path of the file that proves a domain. */
const PROOF_PATH = '/.well-known/upbeat-verify';

/** Creates the search for what answers a request at a domain; null: there is nothing. */
export function createDomainRoutes(
  routes: readonly Route[],
  proofs: { instructions(accountId: number, domain: string): { readonly word: string } } | null,
): (page: ProvedPageDomain, path: string, query: string) => DomainMatch | null {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const match = (path: string, params: DomainMatch['params'], query: string): DomainMatch | null => {
    const route = byPath.get(path);
    return route === undefined ? null : { route, params, query };
  };
  return ({ slug, domain, accountId }, path, query) => {
    // The file continues to prove the domain while it leads here. Another account needs another word.
    if (path === PROOF_PATH && proofs !== null)
      return { route: proofRoute(proofs.instructions(accountId, domain).word), params: {}, query };
    if (path === '/subscribe') return match(path, {}, subscribeQuery(slug, query));
    if (path === '/live') return match(path, {}, liveQuery(slug, query));
    const inside = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined;
    if (inside !== undefined) return match(inside, { slug }, query);
    if (path.startsWith(STATUSPAGE_PATH)) return match(`/p/:slug${path}`, { slug }, query);
    const id = POST_PATH.exec(path)?.[1];
    if (id !== undefined) return match('/p/:slug/incidents/:id', { slug, id }, query);
    const name = ASSET.exec(path)?.[1];
    return name === undefined ? null : match('/assets/:name', { name }, query);
  };
}

/** The form is about the page, whatever the address says. */
function subscribeQuery(slug: string, query: string): string {
  const given = new URLSearchParams(query);
  const kept = ['lang', 'theme'].map((name) => [name, given.get(name) ?? ''] as const);
  const shown = kept.filter(([, value]) => value !== '');
  return new URLSearchParams({ page: slug, ...Object.fromEntries(shown) }).toString();
}

/** The stream is about the page, whatever the address says. */
function liveQuery(slug: string, query: string): string {
  const given = new URLSearchParams(query);
  given.delete('of');
  given.set('page', slug);
  return given.toString();
}

function proofRoute(word: string): Route {
  return {
    path: PROOF_PATH,
    bucket: 'pages',
    access: 'everyone',
    open: true,
    handle: () => ({
      status: 200,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
      body: `${word}\n`,
    }),
  };
}
