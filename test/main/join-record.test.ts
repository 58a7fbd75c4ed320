import t from 'tap';
import { FirstServices } from '../../src/main/join-record.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import { entry } from '../store/registry-fixtures.ts';
import { openRegistryHere } from '../support/registry-here.ts';

t.test('it has the services of a first catalogue as the registry would give them', async (t) => {
  const registry = await openRegistryHere(t.testdir());
  t.teardown(() => registry.close());
  const first = new FirstServices();
  t.equal(first.pages(await registry.lastChange()), null, 'nothing was stored yet');
  const put = async (...entries: readonly NewService[]) => {
    const page = JSON.stringify(entries);
    first.add(page, (await registry.putCataloguePage(page)).ids);
  };
  const statusPage = {
    url: 'https://status.c.example',
    kind: 'atom',
    feedUrl: null,
    components: ['c'],
  } as const;
  await put(entry('b'), entry('a'));
  await put(entry('c', { statusPage }));

  const states = [];
  for await (const page of first.pages(await registry.lastChange()) ?? []) states.push(...page);
  t.equal(JSON.stringify(states), JSON.stringify(await registry.loadServices()));

  await registry.putCatalogue([entry('a')]);
  t.equal(first.pages(await registry.lastChange()), null, 'something else has changed services since');
});
