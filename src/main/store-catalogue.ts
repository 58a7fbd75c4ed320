/** Stores the catalogue in the registry, and retries while the disk accepts no writes. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { NewService, ServiceStore } from '../store/ports/services.ts';
import { refusalOf } from '../store/ports/storage-health.ts';

/** Options of the writer. */
export interface CatalogueWriterOptions {
  readonly registry: Pick<ServiceStore, 'putCatalogue'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** For the log. */
  readonly file: string;
}

const RETRY_MS = 2_000;

/**
 * Creates the function that stores a list and logs `message`. While the disk accepts no writes, the known services stay,
 * and the newest list is retried. Rejects with other errors of the registry.
 */
export function createCatalogueWriter({ registry, clock, log, file }: CatalogueWriterOptions) {
  let newest = 0;
  return async (services: readonly NewService[], message: string): Promise<void> => {
    newest += 1;
    const turn = newest;
    const put = async (): Promise<void> => {
      if (turn !== newest) return;
      try {
        log.info({ ...(await registry.putCatalogue(services)), file }, message);
      } catch (error) {
        if (refusalOf(error) === null) throw error;
        clock.after(RETRY_MS, () => void retry());
      }
    };
    const retry = (): Promise<void> =>
      put().catch((error: Error) => log.error({ error, file }, 'the catalogue could not be stored'));
    await put();
  };
}
