/** Puts the public list into the registry, later where its disk takes no writes now. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { NewService, ServiceStore } from '../store/ports/services.ts';
import { refusalOf } from '../store/ports/storage-health.ts';

/** What putting needs. */
export interface CataloguePutOptions {
  readonly registry: Pick<ServiceStore, 'putCatalogue'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** For the log. */
  readonly file: string;
}

const RETRY_MS = 2_000;

/**
 * Makes the function that puts a list in and says `message`. While the disk takes no writes, the services that the
 * registry knows stay; the newest list is tried again. Rejects with other errors of the registry.
 */
export function createCataloguePut({ registry, clock, log, file }: CataloguePutOptions) {
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
