import t from 'tap';
import { NO_MEMORY } from '../../../src/domain/result.ts';
import { unknownStatus } from '../../../src/domain/status/current.ts';
import { loadInPages, type ServiceState, servicePages } from '../../../src/store/ports/services.ts';
import { makeService } from '../../record/record-world.ts';

/** A registry with services of the even ids up to `last`, and what was asked of it. */
function registryTo(last: number) {
  const asked: number[] = [];
  return {
    asked,
    lastServiceId: async () => last,
    async servicesBetween(afterId: number, untilId: number): Promise<ServiceState[]> {
      asked.push(afterId);
      const first = afterId + 2 - (afterId % 2);
      const count = Math.max(0, Math.floor((Math.min(untilId, last) - first) / 2) + 1);
      return Array.from({ length: count }, (_, index) => ({
        ...{ service: makeService(first + 2 * index), current: unknownStatus(first + 2 * index) },
        ...{ memory: NO_MEMORY, openIncident: null },
      }));
    },
  };
}

t.test('it reads every service once, whatever the number of pages', async (t) => {
  for (const last of [0, 2, 2_498, 2_500, 2_502, 15_000]) {
    const states = await loadInPages(registryTo(last));
    t.same(
      states.map(({ service: { id } }) => id),
      Array.from({ length: last / 2 }, (_, index) => 2 * index + 2),
      `up to ${last}`,
    );
  }
});

t.test('it reads two pages while its caller works on the one before, and no further ones', async (t) => {
  const registry = registryTo(9_000);
  const seen: number[][] = [];
  for await (const page of servicePages(registry)) seen.push([page.length, ...registry.asked]);
  t.same(seen, [
    [1_250, 0, 2_500, 5_000],
    [1_250, 0, 2_500, 5_000, 7_500],
    [1_250, 0, 2_500, 5_000, 7_500],
    [750, 0, 2_500, 5_000, 7_500],
  ]);
});

t.test(
  'a read that fails while its caller works ends the list, and one that fails after its caller stopped is ignored',
  async (t) => {
    const registry = registryTo(20_000);
    const failing = {
      ...registry,
      async servicesBetween(afterId: number, untilId: number) {
        if (afterId > 0) throw new Error('the registry is away');
        return await registry.servicesBetween(afterId, untilId);
      },
    };
    const pages = servicePages(failing);
    t.equal((await pages.next()).done, false);
    await t.rejects(pages.next(), { message: 'the registry is away' });
    for await (const page of servicePages(failing)) {
      t.equal(page.length, 1_250);
      break;
    }
  },
);
