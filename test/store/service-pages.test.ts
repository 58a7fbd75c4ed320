import t from 'tap';
import { unknownStatus } from '../../src/domain/current.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { loadInPages, type ServiceState, servicePages } from '../../src/store/ports/services.ts';
import { makeService } from '../record/record-world.ts';

/** A registry with services of the even ids up to `last`, and what was asked of it. */
function registryTo(last: number) {
  const asked: number[] = [];
  return {
    asked,
    async servicesAfter(afterId: number, limit: number): Promise<ServiceState[]> {
      asked.push(afterId);
      const first = afterId + 2 - (afterId % 2);
      const count = Math.min(limit, Math.floor((last - first) / 2) + 1);
      return Array.from({ length: count }, (_, index) => ({
        ...{ service: makeService(first + 2 * index), current: unknownStatus(first + 2 * index) },
        ...{ memory: NO_MEMORY, openIncident: null },
      }));
    },
  };
}

t.test('it reads every service once, whatever the number of pages', async (t) => {
  for (const last of [0, 2, 4_998, 5_000, 5_002, 15_000]) {
    const states = await loadInPages(registryTo(last).servicesAfter);
    t.same(
      states.map(({ service: { id } }) => id),
      Array.from({ length: last / 2 }, (_, index) => 2 * index + 2),
      `up to ${last}`,
    );
  }
});

t.test('it reads a page while its caller works on the one before, and no further ones', async (t) => {
  const { asked, servicesAfter } = registryTo(20_000);
  const seen: number[][] = [];
  for await (const page of servicePages(servicesAfter)) seen.push([page.length, ...asked]);
  t.same(seen, [
    [2_500, 0, 5_000],
    [2_500, 0, 5_000, 10_000],
    [2_500, 0, 5_000, 10_000, 15_000],
    [2_500, 0, 5_000, 10_000, 15_000, 20_000],
    [0, 0, 5_000, 10_000, 15_000, 20_000],
  ]);
});

t.test(
  'a read that fails while its caller works ends the list, and one that fails after its caller stopped is ignored',
  async (t) => {
    const { servicesAfter } = registryTo(20_000);
    const failing = async (afterId: number, limit: number) => {
      if (afterId > 0) throw new Error('the registry is away');
      return await servicesAfter(afterId, limit);
    };
    const pages = servicePages(failing);
    t.equal((await pages.next()).done, false);
    await t.rejects(pages.next(), { message: 'the registry is away' });
    for await (const page of servicePages(failing)) {
      t.equal(page.length, 2_500);
      break;
    }
  },
);
