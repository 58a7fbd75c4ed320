/** What is said where the data directory cannot be used. */
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { silentLog } from '../../src/log.ts';
import { openSharedStores } from '../../src/main/open-stores.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';

t.test('it tells what to do if the data directory cannot be created', async (t) => {
  const file = join(t.testdir({ 'a-file': '' }), 'a-file');
  for (const dataDir of [file, join(file, 'below')]) {
    const config = loadConfig({ file: null, env: { UPBEAT_STORAGE_DATADIR: dataDir } });
    const parts = {
      config,
      directory: createServiceDirectory(),
      clock: systemClock,
      log: silentLog,
      fail: () => (error: Error) => {
        throw error;
      },
    };
    await t.rejects(
      openSharedStores(parts),
      { message: new RegExp(`^The data directory ${dataDir} cannot be made .* set storage\\.dataDir`) },
      dataDir,
    );
  }
});
