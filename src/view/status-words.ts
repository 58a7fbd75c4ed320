/** The newest status of each service as one word: a byte each. */
import { SERVICE_STATUSES, type ServiceStatus } from '../domain/status.ts';

/** Services of a chunk. */
const CHUNK = 4_096;

/** Creates an empty map. Services are whole numbers from 0. */
export function createStatusWords() {
  /** By the number of the chunk. A byte is 0 without a status, otherwise the index of the status and one. */
  const chunks = new Map<number, Uint8Array>();
  return {
    /** Undefined: the service has none. */
    get: (serviceId: number): ServiceStatus | undefined =>
      SERVICE_STATUSES[(chunks.get(Math.floor(serviceId / CHUNK))?.[serviceId % CHUNK] ?? 0) - 1],
    set(serviceId: number, status: ServiceStatus): void {
      const number = Math.floor(serviceId / CHUNK);
      let chunk = chunks.get(number);
      if (chunk === undefined) {
        chunk = new Uint8Array(CHUNK);
        chunks.set(number, chunk);
      }
      chunk[serviceId % CHUNK] = SERVICE_STATUSES.indexOf(status) + 1;
    },
  };
}
