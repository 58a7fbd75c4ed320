/**
 * Stores a list of any length page by page. Each page is a transaction of its own: other writes, and the renewals of the
 * writer lease, are made in between, and no more than a page is in the memory of the registry's thread. Entries are removed
 * after the last page, so that one that is still to come is never taken for a removed one.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { CatalogueList, CatalogueOutcome, ServiceStore } from '../store/ports/services.ts';

/** Pause between two lines of the log, milliseconds. */
const PROGRESS_MS = 10_000;

/** The dependencies of {@link putInPages}. */
export interface PageWriting {
  readonly registry: Pick<ServiceStore, 'putCataloguePage' | 'endCatalogue'>;
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly file: string;
  /** Returns true if another list is stored by now; this one is then given up. */
  readonly isOutdated: () => boolean;
}

/**
 * Replaces the public list. Null: it was given up. Rejects with errors of the registry; the list is then stored in part,
 * and has to be put again.
 */
export async function putInPages(
  { pages, digest }: Pick<CatalogueList, 'pages' | 'digest'>,
  { registry, clock, log, file, isOutdated }: PageWriting,
): Promise<CatalogueOutcome | null> {
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const ids: number[] = [];
  let loggedMs = clock.monotonic();
  for (const [index, page] of pages.entries()) {
    if (isOutdated()) return null;
    const stored = await registry.putCataloguePage(page);
    outcome.added += stored.added;
    outcome.changed += stored.changed;
    outcome.unchanged += stored.unchanged;
    for (const id of stored.ids) ids.push(id);
    if (clock.monotonic() - loggedMs >= PROGRESS_MS) {
      loggedMs = clock.monotonic();
      log.info(
        { entries: ids.length, page: index + 1, pages: pages.length, file },
        'the catalogue is being stored',
      );
    }
  }
  if (isOutdated()) return null;
  outcome.removed = await registry.endCatalogue(Float64Array.from(ids), digest);
  return outcome;
}
