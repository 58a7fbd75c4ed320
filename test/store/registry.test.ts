/** The contract on the registry's own methods, without the start of a thread for each of its many registries. */
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import {
  createRegistryClient,
  type RegistryClientOptions,
} from '../../src/store/registry/registry-client.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { runRegistryContract } from './registry-contract.ts';

runRegistryContract({
  async open(dataDir, { domainsPerAccount = 100 } = {}) {
    const methods: Record<string, (...args: never[]) => unknown> = await openRegistryMethods({
      dataDir,
      domainsPerAccount,
    });
    // What crosses between threads is copied, here too.
    const call = async (method: string, args: readonly unknown[]) =>
      structuredClone(await methods[method]?.(...(structuredClone(args) as never[])));
    return createRegistryClient({
      call: call as RegistryClientOptions['call'],
      clock: systemClock,
      log: silentLog,
      end: async () => {},
    });
  },
});
