/** Finds the services that the sender of a request may see, and keeps what is not for everyone out of caches. */

import type { ServerResponse } from 'node:http';
import { andThen, type MaybeLater } from '../async/at-once.ts';
import type { Cancel, Clock } from '../clock.ts';
import type { Service } from '../domain/service.ts';
import { HttpError } from '../http/problem.ts';
import { type HttpRequest, type HttpResponse, type Route, wrapReads } from '../http/route.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
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

  const find = (
    request: HttpRequest,
    by: 'bySlug' | 'byPageName',
    name: string,
  ): MaybeLater<Service | null> => {
    const noted = (service: Service | null) => {
      const visibility = service?.visibility ?? 'public';
      if (visibility !== 'public') note(request, visibility);
      return service;
    };
    const service = directory[by](name);
    if (service !== null) return noted(service);
    // A name that nothing has takes the same way as that of a private service, in the same time.
    return accountsOf(request).then((accounts) => noted(directory.to(accounts)[by](name)));
  };
  const required = (request: HttpRequest, by: 'bySlug' | 'byPageName', name = ''): MaybeLater<Service> =>
    andThen(find(request, by, name), (service) => {
      if (service === null) throw serviceNotFound(name);
      return service;
    });
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
      wrapReads(routes, (handle) => (request) => andThen(handle(request), (answer) => mark(request, answer))),
  };
}

export type ReaderWatch = ReturnType<typeof createReaderWatch>;

export interface StreamReader {
  /** Streams with the same key have the same reader, and are looked after together. */
  readonly key: string;
  /** Resolves with the rights of the reader as a text. */
  readonly read: () => Promise<string>;
}

/** The interval at which readers are looked after, milliseconds: the time that a reader who is shut out still gets events. */
const LOOK_MS = 3_000;

/** Creates the watch, which costs nothing while it has no streams. */
export function createReaderWatch(clock: Clock) {
  const watched = new Map<ServerResponse, StreamReader & { readonly first: string }>();
  let stop: Cancel | null = null;
  let isLooking = false;

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const known = new Map<string, string | null>();
    for (const [response, { key, read, first }] of watched) {
      if (!known.has(key)) known.set(key, await read().catch(unread));
      const present = known.get(key) ?? null;
      // The client connects again, and gets what it may see now.
      if (present !== null && present !== first) response.end();
    }
    isLooking = false;
  };

  /** Ends a stream, once it is open, when `reader` reads something else than `first`. */
  return (response: ServerResponse, first: string, reader: StreamReader): void => {
    watched.set(response, { ...reader, first });
    stop ??= clock.every(LOOK_MS, () => void look());
    response.once('close', () => {
      watched.delete(response);
      if (watched.size > 0) return;
      stop?.();
      stop = null;
    });
  };
}

/**
 * Returns the rights after a failed read; null: as before, as far as is known. After too many wrong passwords a reader sees
 * nothing.
 */
function unread(error: unknown): string | null {
  return error instanceof HttpError && error.code === 'rate_limited' ? '' : null;
}
