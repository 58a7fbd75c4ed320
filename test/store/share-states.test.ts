import t from 'tap';
import { NO_MEMORY } from '../../src/domain/result.ts';
import type { ServiceState } from '../../src/store/ports/services.ts';
import { createStateSharing } from '../../src/store/registry/share-states.ts';
import { entry, record } from './registry-fixtures.ts';

const stateOf = (id: number, change: Partial<ServiceState['service']> = {}): ServiceState => ({
  service: { id, ...entry(`s${id}`), ...change, revision: 1 },
  current: record(id, 1, 'up', 1_000),
  memory: { ...NO_MEMORY, headSeen: true },
  openIncident: null,
});

t.test('states that share what is equal in them are equal to the given ones', async (t) => {
  const given = [
    stateOf(1),
    stateOf(2, {
      formerSlugs: ['before'],
      publicDependencies: true,
      check: { ...entry('a').check, url: 'http://x/' },
    }),
    {
      ...stateOf(3),
      current: { serviceId: 3, seq: 0, observedAt: 0, status: 'unknown', since: null, latest: null } as const,
    },
    { ...stateOf(4), memory: { ...NO_MEMORY, askHealthAt: 5 }, lastArrivedAt: 7, newestTimestamp: 6 },
    { ...stateOf(5), current: { ...record(5, 1, 'down', 9), scope: null, regions: [] } },
  ];
  const share = createStateSharing();
  t.strictSame(share(structuredClone(given)), given);
  // The order of members is that of the JSON texts of a status.
  t.equal(
    JSON.stringify(share(structuredClone(given)).map(({ current }) => current)),
    JSON.stringify(given.map(({ current }) => current)),
  );
});

t.test('services of different pages have one check and one memory together', async (t) => {
  const share = createStateSharing();
  const [[first], [second]] = [share(structuredClone([stateOf(1)])), share(structuredClone([stateOf(2)]))];
  t.equal(first?.service.check, second?.service.check);
  t.equal(first?.memory, second?.memory);
});
