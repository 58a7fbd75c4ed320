/** Lists of what an account has, page by page. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

const PAGE = {
  slug: 'acme',
  title: 'Acme',
  groups: [{ name: 'Web', services: ['shop.example.com', 'known'] }],
};

t.test('lists of an account have pages by cursor, and miss nothing while others come and go', async (t) => {
  const { ada, world, send } = await start(t);
  const post = (path: string, body: object) => send('POST', path, body, ada);
  for (const slug of ['c', 'a', 'e', 'b', 'd'])
    await post('/api/v1/pages', { ...PAGE, slug: `page-${slug}` });
  for (const number of [1, 2, 3, 4, 5]) {
    await post('/api/v1/webhooks', { url: `https://example.com/${number}` });
    await post('/api/v1/keys', { name: `key ${number}` });
  }
  const follow = async (list: string, name: string, limit: number, between = async () => {}) => {
    const pages: string[][] = [];
    const totals = new Set<number>();
    for (let path = `/api/v1/${list}?limit=${limit}`; path !== ''; ) {
      const { status, json, headers } = await send('GET', path, undefined, ada);
      if (!t.equal(status, 200, path)) break;
      t.strictSame([json.limit, json.offset], [limit, pages.flat().length], path);
      totals.add(json.total);
      pages.push(json[list].map((item: Readonly<Record<string, string>>) => item[name]));
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
      await between();
    }
    return { pages, totals: [...totals] };
  };
  const names = (await send('GET', '/api/v1/keys', undefined, ada)).json.keys.map(
    ({ name }: { readonly name: string }) => name,
  );
  const table = [
    ['pages', 'slug', ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']],
    ['webhooks', 'url', [1, 2, 3, 4, 5].map((number) => `https://example.com/${number}`)],
    ['keys', 'name', names],
  ] as const;
  t.ok(names.length >= 5);
  for (const [list, name, expected] of table) {
    for (const limit of [1, 2, expected.length]) {
      const { pages, totals } = await follow(list, name, limit);
      t.strictSame(pages.flat(), expected, `${list} by ${limit}`);
      t.equal(pages.length, Math.ceil(expected.length / limit), 'there is no empty page');
      t.strictSame(totals, [expected.length]);
    }
    const { json } = await send('GET', `/api/v1/${list}?offset=1&limit=2`, undefined, ada);
    t.match(json[list], [{ [name]: expected[1] }, { [name]: expected[2] }]);
    const cursor = Buffer.from(JSON.stringify([`/api/v1/${list}`, 0, 0, true])).toString('base64url');
    for (const wrong of ['x', cursor, `${cursor}&offset=1`])
      t.match((await send('GET', `/api/v1/${list}?cursor=${wrong}`, undefined, ada)).json, {
        status: 400,
        code: 'invalid_parameter',
        parameter: 'cursor',
      });
  }
  let isThere = true;
  const removed = await follow('pages', 'slug', 2, async () => {
    if (isThere) await world.registry.removePage(1, 'page-a');
    isThere = false;
  });
  t.strictSame(removed.pages.flat(), ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']);
});
