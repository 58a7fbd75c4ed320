/** Looks at a status page of the catalogue that cannot be read, or that nothing reads, for what it is now. */
import type { StatusPage } from '../domain/service.ts';
import { catalogueLine, type FinderParts, findFeed } from './find-feed.ts';

/** The problem of a page. */
export interface PageFinding {
  /** The page in the catalogue. */
  readonly url: string;
  readonly problem: string;
  /** Its line in the catalogue, or what else to do. */
  readonly advice: string;
}

/**
 * Looks at a page. `problem`: why it could not be read; null: it is of kind `custom`. Null: nothing is wrong with it. Rejects only when
 * the signal of the parts aborts it.
 */
export async function lookAtPage(
  { url, kind, feedUrl }: Pick<StatusPage, 'url' | 'kind' | 'feedUrl'>,
  problem: string | null,
  parts: FinderParts,
): Promise<PageFinding | null> {
  const found = await findFeed(url, parts);
  const moved = isMoved(url, found.url) ? `it has moved to ${found.url}` : null;
  const { feed } = found;
  if (feed === null) {
    const wrong = problem ?? moved;
    return wrong === null ? null : { url, problem: wrong, advice: 'look for its feed, or set kind: custom' };
  }
  const isSame = feed.kind === kind && feed.source.feedUrl === feedUrl && moved === null;
  // It can be read again.
  if (isSame && feed.problem === null) return null;
  const isOther = feed.kind === kind ? null : `it is of kind ${feed.kind}`;
  return { url, problem: isOther ?? moved ?? problem ?? '', advice: catalogueLine(feed) };
}

/** Returns true if a page is now at another address, which is more than a slash or the scheme. */
export function isMoved(before: string, after: string): boolean {
  const plain = (url: string) => url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+$/, '');
  return plain(before) !== plain(after);
}
