import t from 'tap';
import { node, startApi } from '../site/site-world.ts';

t.test('it lists the one region of a single process', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { status, json } = await world.get('/api/v1/regions');
  t.same([status, json], [200, { regions: [{ region: 'local', online: true, nodes: 1 }] }]);
});

t.test('it lists the regions of a cluster by name, with the nodes that check there', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const away = { online: false, offlineSince: 1 };
  world.state.nodes = [
    node('a', { region: 'us' }),
    node('b', { region: 'eu', ...away }),
    node('c', { region: 'us', roles: ['probe'], ...away }),
    node('d', { region: 'us', roles: ['judge', 'serve'] }),
    node('e', { region: 'asia', roles: ['serve'] }),
  ];
  const { json, headers } = await world.get('/api/v1/regions');
  t.same(json, {
    regions: [
      { region: 'eu', online: false, nodes: 1 },
      { region: 'us', online: true, nodes: 2 },
    ],
  });
  const tag = headers.get('etag') ?? '';
  t.equal((await world.get('/api/v1/regions', { 'if-none-match': tag })).status, 304);
  world.state.nodes = [node('d', { roles: ['judge', 'serve'] })];
  t.same((await world.get('/api/v1/regions')).json, { regions: [] }, 'no node checks');
});

t.test('it counts as other reads do', async (t) => {
  const world = await startApi({ anonymousPerMinute: 1 });
  t.teardown(world.close);
  const statuses = [await world.get('/api/v1/regions'), await world.get('/api/v1/status/none')];
  t.same(
    statuses.map(({ status }) => status),
    [200, 429],
  );
});
