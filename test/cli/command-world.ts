/** An installation to run commands in. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { install } from '../support/program.ts';
import { runCommandHere } from './run-command.ts';

export async function setUp(t: Test, settings: object = {}) {
  const installation = await install([], settings);
  t.teardown(() => installation.remove());
  const withRegistry = async <T>(work: (registry: Registry) => Promise<T>): Promise<T> => {
    const dataDir = join(installation.folder, 'data');
    const registry = await openRegistry({ dataDir, clock: systemClock, log: silentLog });
    try {
      return await work(registry);
    } finally {
      await registry.close();
    }
  };
  const write = (name: string, text: string): string => {
    const file = join(installation.folder, name);
    writeFileSync(file, text);
    return file;
  };
  const config = join(installation.folder, 'upbeat.yaml');
  const run = (...args: readonly string[]) => runCommandHere([...args, '--config', config]);
  return { run, withRegistry, write };
}
