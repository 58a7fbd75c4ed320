/** Finds the services that the sender of a request may see, and keeps what is not for everyone out of caches. */
import { andThen, type MaybeLater } from '../async/at-once.ts';
import type { Service } from '../domain/service.ts';
import { type HttpRequest, type HttpResponse, type Route, wrapReads } from '../http/route.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import type { StreamReader } from './reader-watch.ts';
import { type ShownDirectory, serviceNotFound } from './service-directory.ts';
import type { ShownServices } from './shown-services.ts';

/** The accounts for which the sender of a request may read, by key or by session. */
export type AccountsOf = (request: HttpRequest) => Promise<ReadonlySet<number>>;

export type ServiceFinder = ReturnType<typeof createServiceFinder>;

const HEADERS = {
  private: { 'Cache-Control': 'private, no-store' },
  unlisted: { 'X-Robots-Tag': 'noindex' },
} as const;

/** Creates the finder. `accountsNow`: of a request that was sent before, whose key may be revoked since. */
export function createServiceFinder(
  directory: ShownDirectory,
  accountsOf: AccountsOf,
  accountsNow: AccountsOf = accountsOf,
) {
  /**
   * The headers of the answer to a request for what it found, by the request's headers: wrappers of handlers pass on other
   * requests with the same ones.
   */
  const found = new WeakMap<HttpRequest['headers'], Readonly<Record<string, string>>>();
  const note = ({ headers }: HttpRequest, visibility: keyof typeof HEADERS) =>
    found.set(headers, { ...found.get(headers), ...HEADERS[visibility] });

  const find = async (
    request: HttpRequest,
    by: 'bySlug' | 'byPageName',
    name: string,
  ): Promise<Service | null> => {
    // A name that nothing has takes the same way as that of a private service, in the same time.
    const service = directory[by](name) ?? directory.to(await accountsOf(request))[by](name);
    const visibility = service?.visibility ?? 'public';
    if (visibility !== 'public') note(request, visibility);
    return service;
  };
  const required = async (request: HttpRequest, by: 'bySlug' | 'byPageName', name = ''): Promise<Service> => {
    const service = await find(request, by, name);
    if (service === null) throw serviceNotFound(name);
    return service;
  };
  /** The services that the sender of a request may see: at once for those who show neither a key nor a session. */
  const shownTo = (request: HttpRequest): MaybeLater<ShownServices> =>
    request.key === undefined && request.headers.cookie === undefined
      ? directory
      : accountsOf(request).then(
          (accounts) => (accounts.size === 0 ? directory : directory.to(accounts)),
          (error: unknown) => {
            // While sessions cannot be read, everyone gets what strangers do.
            if (refusalOf(error) === null) throw error;
            return directory;
          },
        );
  const mark = (request: HttpRequest, answer: HttpResponse): HttpResponse => {
    const more = found.get(request.headers);
    return more === undefined ? answer : { ...answer, headers: { ...answer.headers, ...more } };
  };

  return {
    shownTo,
    /** Who sent a request whose stream is open: `reader` of what {@link shownTo} gave, as long as it is the same. */
    readerOf: (request: HttpRequest): StreamReader => {
      const { authorization = '', cookie = '' } = request.headers;
      return {
        key: `${authorization} ${cookie}`,
        read: async () => directory.to(await accountsNow(request)).reader,
      };
    },
    /** The same for an answer that contains lists. No cache keeps what not everyone gets. */
    listedFor: (request: HttpRequest): MaybeLater<ShownServices> =>
      andThen(shownTo(request), (shown) => {
        if (shown.accounts.size > 0) note(request, 'private');
        return shown;
      }),
    /** The service with a slug; null: there is none that the sender of the request may see. */
    bySlug: (request: HttpRequest, slug: string) => find(request, 'bySlug', slug),
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
