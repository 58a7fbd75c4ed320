/** The place of the registry, apart from the code that opens it. */
import { join } from 'node:path';

/** The registry's file in a data directory. */
export function registryFile(dataDir: string): string {
  return join(dataDir, 'registry.sqlite');
}
