/** The status store in real Redis servers: the contract of the port, and what other processes see. */
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { readRedisAddress } from '../../src/domain/redis-address.ts';
import { silentLog } from '../../src/log.ts';
import { openRedisStatusStore } from '../../src/store/status/redis-status-store.ts';
import {
  NEEDS_REDIS,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  until,
} from '../support/redis-server.ts';
import { runStatusContract } from './status-contract.ts';

let stores = 0;

function optionsFor(url: string) {
  const address = readRedisAddress(url);
  if (address === null) throw new Error(`cannot be read: ${url}`);
  return { address, clock: systemClock, log: silentLog };
}

function adapterFor(url: string) {
  return {
    async open() {
      const store = openRedisStatusStore(optionsFor(`${url}?prefix=contract-${stores++}`));
      await until(() => store.state().problem === null);
      return store;
    },
  };
}

t.test('a single server', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);
  runStatusContract(adapterFor(`redis://127.0.0.1:${server.port}`), t, 25);
});

t.test('a master, its replica and Sentinels', NEEDS_REDIS, async (t) => {
  runStatusContract(adapterFor((await startSentinelSet(t)).url), t, 10);
});

t.test('a cluster of three', NEEDS_REDIS, async (t) => {
  runStatusContract(adapterFor((await startRedisCluster(t)).url), t, 10);
});
