/** Heartbeats through the record into the real registry: what is on disk when a sender is answered. */

import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { HeartbeatReport } from '../../src/domain/heartbeat/heartbeat-body.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { ResultRecord } from '../../src/record/record.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { until } from '../store/registry-fixtures.ts';
import { USUAL } from '../support/attempts.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';
import { START } from './record-world.ts';

/** A record over the registry of a directory; time stands still. */
async function open(t: Test, dataDir: string) {
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 10 });
  const registry = registryHere(methods, systemClock);
  t.teardown(() => registry.close());
  const published = new Map<number, CurrentStatus>();
  const clock = createFakeClock(START);
  const record = new ResultRecord({
    registry,
    status: {
      async put(records) {
        for (const one of records) published.set(one.serviceId, one);
        return records.length;
      },
      async remove(serviceId) {
        published.delete(serviceId);
      },
    },
    samples: { append: async () => {} },
    clock,
    log: silentLog,
    settings: { usual: USUAL, firstSpreadMs: 0, controlTargets: 1 },
    heartbeats: {
      registry,
      isCatalogueDomain: () => false,
      silenceMs: 600_000,
    },
    queryControlTargets: async () => true,
    onRecheck() {},
    sourceUrl: ({ slug }) => `http://localhost/status/${slug}`,
    isInMaintenance: () => false,
  });
  await record.load(await registry.loadServices());
  t.teardown(registry.watchChanges(await registry.lastChange(), (change) => record.applyChange(change)));
  const { id: accountId } = await registry.ensureAccount('acme', START);
  const send = (more: Partial<HeartbeatReport> = {}, account = accountId) => {
    const report = {
      kind: 'beat',
      domain: 'a.com',
      word: 'up',
      timestamp: null,
      dependencies: null,
      run: null,
    };
    return record.takeHeartbeat({
      report: { ...report, ...more } as HeartbeatReport,
      accountId: account,
      arrivedAt: clock.now(),
      body: '{}',
    });
  };
  return { registry, record, published, send, accountId };
}

t.test('it has a heartbeat on disk when it answers, with everything that follows from it', async (t) => {
  const dataDir = t.testdir();
  const { send } = await open(t, dataDir);
  const dependencies = [{ name: 'db', status: 'down', latencyMs: 8 }] as const;
  const { service } = await send({ word: 'down', timestamp: START - 5, dependencies });
  // Another process reads at once; the first one is never closed, as if it had been killed.
  const { registry } = await open(t, dataDir);
  t.match(await registry.loadServices(), [
    {
      service: { slug: 'a-com', check: { kind: 'heartbeat' } },
      current: { seq: 1, status: 'down', latest: { responseTimeMs: 8, checkedAt: START - 5 } },
      openIncident: { status: 'investigating' },
      newestTimestamp: START - 5,
    },
  ]);
  t.equal((await registry.recentHeartbeats(service.id)).length, 1);
  t.match(await registry.dependenciesOf(service.id, 1), { dependencies: [{ name: 'db', status: 'down' }] });
  t.equal(await registry.lastTransition(), 1);
});

t.test('it goes on where a removed service was, when its owner sends again', async (t) => {
  const { registry, published, send } = await open(t, t.testdir());
  const { service } = await send({ word: 'down' });
  await registry.removeService('a-com');
  await until(() => !published.has(service.id));
  const back = await send({ word: 'up' });
  t.match(back, { service: { id: service.id, slug: 'a-com' }, status: 'up' });
  t.match(published.get(service.id), { seq: 2, status: 'up' });
  t.equal(await registry.lastTransition(), 2);
});

t.test('it refuses the old owner of a domain as soon as it has moved, and takes the new one', async (t) => {
  const { registry, send, accountId } = await open(t, t.testdir());
  const { id: other } = await registry.ensureAccount('other', START);
  await send({ timestamp: START + 1_000 });
  const moving = registry.proveDomain(other, 'a.com', 'heartbeat', START);
  await t.rejects(
    moving.then(() => send({ word: 'down' })),
    { code: 'foreign_domain' },
  );
  t.match(await send({ word: 'slow', timestamp: START }, other), {
    status: 'slow',
    service: { accountId: other },
  });
  t.not(accountId, other);
});

t.test('it takes a burst of one service and of many, each once and in order', async (t) => {
  const { registry, send } = await open(t, t.testdir());
  const words = ['up', 'down', 'slow'] as const;
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, n) => send({ domain: `s${n % 5}.com`, word: words[n % 3] ?? 'up' })),
  );
  t.same(
    answers.map(({ status }) => status),
    answers.map((_, n) => words[n % 3]),
  );
  t.equal(await registry.lastTransition(), 300, 'each changed the status of its service');
  t.equal((await registry.loadServices()).length, 5);
});
