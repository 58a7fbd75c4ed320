/** Finds the services that the sender of a request may see, and keeps what is not for everyone out of caches. */
import type { Service } from '../domain/service.ts';
import { type HttpRequest, type HttpResponse, type Route, wrapReads } from '../http/route.ts';
import { type ShownDirectory, serviceNotFound } from './service-directory.ts';

/** The accounts for which the sender of a request may read, by key or by session. */
export type AccountsOf = (request: HttpRequest) => Promise<ReadonlySet<number>>;

/** Finds services for requests. */
export type ServiceFinder = ReturnType<typeof createServiceFinder>;

const HEADERS = {
  private: { 'Cache-Control': 'private, no-store' },
  unlisted: { 'X-Robots-Tag': 'noindex' },
} as const;

/** Creates the finder. */
export function createServiceFinder(directory: ShownDirectory, accountsOf: AccountsOf) {
  /** The visibility of what a request found, by its headers: wrappers of handlers pass on other requests with the same ones. */
  const found = new WeakMap<HttpRequest['headers'], keyof typeof HEADERS>();

  const find = async (
    request: HttpRequest,
    by: 'bySlug' | 'byPageName',
    name: string,
  ): Promise<Service | null> => {
    // A name that nothing has takes the same way as that of a private service, in the same time.
    const service = directory[by](name) ?? directory.to(await accountsOf(request))[by](name);
    const visibility = service?.visibility ?? 'public';
    if (visibility !== 'public') found.set(request.headers, visibility);
    return service;
  };
  const required = async (request: HttpRequest, by: 'bySlug' | 'byPageName', name = ''): Promise<Service> => {
    const service = await find(request, by, name);
    if (service === null) throw serviceNotFound(name);
    return service;
  };
  const mark = (request: HttpRequest, answer: HttpResponse): HttpResponse => {
    const visibility = found.get(request.headers);
    return visibility === undefined
      ? answer
      : { ...answer, headers: { ...answer.headers, ...HEADERS[visibility] } };
  };

  return {
    accountsOf,
    /** The service with a slug; null: there is none that the sender of the request may see. */
    bySlug: (request: HttpRequest, slug: string) => find(request, 'bySlug', slug),
    /** The same by the name on badges and pages. */
    byPageName: (request: HttpRequest, name: string) => find(request, 'byPageName', name),
    /** The service whose slug the path has. Throws `service_not_found`. */
    ofPath: (request: HttpRequest) => required(request, 'bySlug', request.params.slug),
    /** The service with a name on badges and pages, by default the one in the path. Throws `service_not_found`. */
    named: (request: HttpRequest, name = request.params.slug) => required(request, 'byPageName', name),
    /** Routes whose responses no cache keeps, and no search engine lists, where they are about services that are not public. */
    guard: (routes: readonly Route[]): Route[] =>
      wrapReads(routes, (handle) => (request) => {
        const answer = handle(request);
        return answer instanceof Promise ? answer.then((one) => mark(request, one)) : mark(request, answer);
      }),
  };
}
