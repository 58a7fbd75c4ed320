/** The routes of a status page at a domain of its owner. Everything else of this site does not exist there. */
import type { Route } from '../http/route.ts';
import type { ProvedPageDomain } from '../store/ports/status-pages.ts';

/** A request at a domain: its route, and the parameters and the query for it. */
export interface DomainMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
}

/** Paths at a domain, and those of the routes that answer them. */
const PATHS: Readonly<Record<string, string>> = {
  '/': '/p/:slug',
  '/page.json': '/p/:slug.json',
  '/incidents.atom': '/p/:slug/incidents.atom',
  '/calendar.ics': '/p/:slug/calendar.ics',
  '/embed': '/p/:slug/embed',
  '/logo': '/p/:slug/logo',
  '/favicon': '/p/:slug/favicon',
  '/favicon.ico': '/p/:slug/favicon',
  '/brand.css': '/p/:slug/brand.css',
  '/unlock': '/p/:slug/unlock',
};

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
