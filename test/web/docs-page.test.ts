/** The documentation of the API: its contents, examples that exist here, and requests that the page sends. */
import t from 'tap';
import { exampleOf } from '../../src/web/docs-page.ts';
import { incident, service, startApi } from '../site/site-world.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { openPage } from '../support/watched-page.ts';
import { startServiceWorld } from './service-world.ts';

const plain = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

t.test('it documents every operation of the API, each with its method, and lists them beside', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/docs');
  const { paths } = (await world.get('/api/v1/openapi.json')).json as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );
  t.ok(all.length > 60);
  const [, conventions = ''] = /id="conventions">[^<]*<\/h2>(.*?)<dl>/s.exec(text) ?? [];
  t.equal(conventions.match(/<p>/g)?.length, 5, 'its conventions are several paragraphs');
  t.match(
    conventions,
    'from 100,000 requests a minute for each address to 200,000 requests a minute for each key',
  );
  for (const { path, method, operationId } of all) {
    t.match(text, `<a href="#${operationId}"><span class="method ${method}">${method.toUpperCase()}</span>`);
    t.match(
      text
        .split(`<section class="card operation" aria-labelledby="${operationId}">`)[1]
        ?.split('</section>')[0],
      `<span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code>`,
      operationId,
    );
  }
});

t.test(
  'its examples name what exists in this installation, and every one for reading is answered',
  async (t) => {
    const world = await startApi({
      services: [service(1, 'pier', { name: 'Pier', category: 'cloud', publicDependencies: true })],
    });
    t.teardown(world.close);
    await world.putIncidents(incident('own-1-7', 1));
    const { text } = await world.get('/docs');
    t.notMatch(text, /upbeat\.test\/[^<"]*github|value="github/);
    const open = [...text.matchAll(/<section class="card operation"[\s\S]*?<\/section>/g)]
      .map(([section]) => section)
      .filter((section) => !section.includes('method key') && section.includes('method get'))
      .flatMap((section) => /<pre[^>]*>curl (?:-N )?"https:\/\/upbeat\.test([^"]*)/.exec(section)?.[1] ?? []);
    t.ok(open.length >= 15, `${open.length}`);
    // Pages, heartbeats and signed badges are made by owners; streams do not end.
    for (const path of open.filter(
      (one) => !/^\/(p|beat|badge|api\/push|api\/v1\/pages)\/|events$/.test(one),
    ))
      t.equal((await world.get(path)).status, 200, path);
    t.match(open, ['/api/v1/status/pier'].concat(open.slice(1)));
    t.ok(open.includes('/api/v1/incidents/pier/own-1-7'));
    const [, answer = ''] = text.split('aria-labelledby="getStatus"');
    const [, example = ''] = /<pre class="answer"[^>]*>([\s\S]*?)<\/pre>/.exec(answer) ?? [];
    t.match(JSON.parse(plain(example)), {
      slug: 'pier',
      name: 'Pier',
      domain: 'pier.example',
      category: 'cloud',
      status: 'up',
    });
  },
);

t.test('an example has one value of each member, and ends where a schema contains itself', async (t) => {
  const schemas = {
    Time: { type: 'string', examples: ['2026-11-20T10:00:00.000Z'] },
    Tree: { type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' } } },
  };
  const schema = {
    type: 'object',
    properties: {
      slug: { type: 'string' },
      at: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Time' }] },
      word: { enum: ['up', 'down'] },
      list: { type: 'array', items: { type: 'integer', minimum: 1 } },
      is: { type: 'boolean' },
    },
  };
  t.same(exampleOf(schema, schemas, { slug: 'pier' }), {
    slug: 'pier',
    at: '2026-11-20T10:00:00.000Z',
    word: 'up',
    list: [1],
    is: false,
  });
  t.ok(JSON.stringify(exampleOf(schemas.Tree, schemas, {})).length < 200);
});

t.test('requests are tried with the key of the reader', { ...NEEDS_BROWSER, timeout: 120_000 }, async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const { page, complaints, close } = await openPage(browser);
  await page.goto(`${world.origin}/docs`);
  const section = page.locator('section[aria-labelledby="listKeys"]');
  const tryIt = async (status: string) => {
    await section.getByRole('button', { name: 'Try it' }).click();
    await section.locator('output', { hasText: status }).waitFor();
    return await section.locator('output').innerText();
  };
  t.match(await tryIt('401'), 'invalid_key');
  const { authorization } = world.makeKey({ scopes: ['read'] });
  await page.getByLabel('Your API key').fill(` ${authorization.replace('Bearer ', '')} `);
  t.match(await tryIt('200 OK'), '"keys": [');
  t.same(
    complaints.filter((text) => !text.includes('401')),
    [],
  );
  await close();
  const without = await openPage(browser, { javaScriptEnabled: false });
  await without.page.goto(`${world.origin}/docs`);
  t.equal(await without.page.getByLabel('Your API key').isVisible(), false, 'no field that does nothing');
  await without.close();
});
