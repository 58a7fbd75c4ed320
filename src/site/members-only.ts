/** A site for its members alone (`site.access: members`): who is a stranger, and what strangers get. */
import { readPageSlug } from '../domain/status-page.ts';
import type { PipelineOptions } from '../http/pipeline.ts';
import { prefersPage } from '../http/problem.ts';
import {
  type HttpRequest,
  type HttpResponse,
  includesScope,
  invalidKey,
  type Route,
  wrapReads,
} from '../http/route.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import { findSession, leadToSignIn, type SignInSources } from '../web/dashboard/sign-in-pages.ts';

export interface MembersOnlySources {
  readonly siteUrl: string;
  readonly authenticator: PipelineOptions['authenticator'];
  /** Null: nobody can sign in, and keys alone are admitted. */
  readonly sessions: Pick<SignInSources, 'sessions' | 'cookie'> | null;
  /** Null: this site has no status pages. */
  readonly pages: PageReads | null;
}

/**
 * Closes every route that everyone may read to all but people who are signed in and bearers of keys, unless the route says that it is
 * open. The other kinds of access close a route by themselves.
 */
export function closeToStrangers(routes: readonly Route[], sources: MembersOnlySources): Route[] {
  return wrapReads(routes, (read, route) => {
    const { access, open } = route;
    if (access !== 'everyone' || open === true) return read;
    return async (request) => {
      if (typeof open === 'string' && (await isPublicPage(slugOf(open, request), sources)))
        return await read(request);
      if (await isMember(request, sources)) return keepPrivate(await read(request));
      return typeof open === 'function' ? open(request) : refuse(route, request, sources);
    };
  });
}

function slugOf(open: string, { params, query }: HttpRequest): string {
  const [, slug] = open.split(':');
  return slug ?? params.slug ?? new URLSearchParams(query).get('page') ?? '';
}

async function isPublicPage(named: string, { pages }: MembersOnlySources): Promise<boolean> {
  const slug = readPageSlug(named);
  const page = slug.ok ? ((await pages?.findPage(slug.value)) ?? null) : null;
  return page !== null && page.access === undefined;
}

async function isMember(
  request: HttpRequest,
  { authenticator, sessions }: MembersOnlySources,
): Promise<boolean> {
  if (request.key !== undefined) return true;
  // Routes without a limit are handled before a key is read.
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const who = await authenticator.authenticate(authorization);
    if (who.kind === 'key' && includesScope(who.key.scopes, 'read')) return true;
  }
  // Cookies are of this site, not of a domain of a status page.
  if (sessions === null || request.atDomain === true) return false;
  return (await findSession(request, sessions)) !== null;
}

/** A person is led to sign in and back; a program gets the problem. */
function refuse({ bucket, path }: Route, request: HttpRequest, { siteUrl }: MembersOnlySources) {
  const { accept = '*/*' } = request.headers;
  const isPage = bucket === 'pages' && !/\.\w+$/.test(path) && accept.includes('*/*');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (prefersPage(accept) || isPage)) return leadToSignIn(request, siteUrl);
  throw invalidKey(
    'This site is for its members. Send an API key, in the header Authorization: Bearer <API_KEY>.',
  );
}

/** Keeps an answer to members out of caches that serve others too. */
function keepPrivate(answer: HttpResponse): HttpResponse {
  const { 'Cache-Control': cache = '', ...headers } = answer.headers;
  const ages = cache.split(/, */).filter((word) => word !== '' && !/^(?:public|private|s-maxage)/.test(word));
  return { ...answer, headers: { ...headers, 'Cache-Control': ['private', ...ages].join(', ') } };
}
