/** Which feeds there are: services that share a status page share its feed. */
import type { Service, StatusPage, StatusPageKind } from '../domain/service.ts';
import type { FeedSource } from './feed-kind.ts';

/** Kinds that have a feed. */
export type FeedKindName = Exclude<StatusPageKind, 'custom'>;

/** A feed to be read. Plain data that crosses threads. */
export interface Feed {
  /** Identity over restarts: kind and address. */
  readonly id: string;
  readonly kind: FeedKindName;
  readonly source: FeedSource;
}

/** The feed of a status page; null: it has none that we read. */
export function feedOf(page: StatusPage | null): Feed | null {
  if (page === null || page.kind === 'custom') return null;
  const { kind, url: pageUrl, feedUrl } = page;
  return { id: `${kind} ${feedUrl ?? pageUrl}`, kind, source: { pageUrl, feedUrl } };
}

/** The feeds of these services, each once, in the order in which they are first named. */
export function feedsOf(services: Iterable<Service>): Feed[] {
  const feeds = new Map<string, Feed>();
  for (const { statusPage } of services) {
    const feed = feedOf(statusPage);
    if (feed !== null && !feeds.has(feed.id)) feeds.set(feed.id, feed);
  }
  return [...feeds.values()];
}
