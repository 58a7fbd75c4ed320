/** Single attempts of checks before their service is saved: guarded as checks of owners are. */
import { createServer } from 'node:http';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { CheckTarget } from '../../src/domain/check-target.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import { createCheckTrials } from '../../src/main/try-check.ts';
import { addressLoadOfProcess, createAddressLoads } from '../../src/outbound/address-load.ts';
import { listenOn } from '../support/loopback.ts';

t.test('it makes an attempt, with a GET where HEAD has failed, at public addresses alone', async (t) => {
  const methods: string[] = [];
  const server = createServer((request, response) => {
    methods.push(request.method ?? '');
    response.writeHead(request.method === 'HEAD' ? 405 : 200).end();
  });
  const { port, close } = await listenOn(server);
  t.teardown(close);
  const open = (env: Record<string, string>) => {
    const config = loadConfig({ file: null, env: { UPBEAT_STORAGE_DATADIR: t.testdir(), ...env } });
    const trials = createCheckTrials(config, systemClock, silentLog);
    t.teardown(() => trials.stop());
    return trials;
  };
  const target: CheckTarget = {
    ...{ serviceId: 0, revision: 0, domain: 'shop.example', origin: 'owner', accountId: 1 },
    check: { ...DEFAULT_CHECK, url: `http://127.0.0.1:${port}/` },
    ...{ memory: NO_MEMORY, lastCheckedAt: null },
  };
  const ports = { UPBEAT_CHECKS_PORTS: `${port}` };
  t.match(await open(ports).run(target, 10_000), { failure: { class: 'forbidden_address' } });
  t.same(methods, []);
  const own = open({
    ...ports,
    UPBEAT_CHECKS_ALLOWPRIVATE: '127.0.0.0/8',
    UPBEAT_CHECKS_OWNERSMAYPROBEPRIVATE: 'true',
  });
  t.match(await own.run(target, 10_000), { statusCode: 200, failure: null });
  t.same(methods, ['HEAD', 'GET']);
  const loadOf = createAddressLoads({ perMinute: 600, shared: addressLoadOfProcess() });
  while (loadOf(2).open('127.0.0.1') === 0);
  while (loadOf(3).open('127.0.0.1') === 0);
  t.match(
    await own.run({ ...target, accountId: 2 }, 10_000),
    { failure: { cause: { code: 'address_busy' } }, suspect: 'own_fault' },
    'with the checks of this process, they are within the bound of an address',
  );
  t.equal(methods.length, 2);
});
