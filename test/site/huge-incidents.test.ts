/** What an owner writes at length: pages of all visitors stay small, and the page of an incident has every text, some at a time. */
import t from 'tap';
import { OWNER_INCIDENT_BOUNDS, type OwnerUpdate } from '../../src/domain/incident/owner-incident.ts';
import { createMarkup } from '../../src/web/parts/incidents.ts';
import { NOW, service, startApi } from './site-world.ts';

/** Text whose markup is nine times as long. */
const QUOTES = '>a\n\n'.repeat(2_500).slice(0, OWNER_INCIDENT_BOUNDS.textCharacters - 10);
/** No page that shows such incidents is larger, bytes. */
const MAX_BYTES = 250_000;
/** As many of the longest texts as an incident takes. */
const UPDATES = 12;

t.test('pages that show the longest incidents stay small, and their own pages have every text', async (t) => {
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1 });
  const world = await startApi({ services: [shop], startAt: NOW });
  t.teardown(world.close);
  const { registry } = world;
  const groups = [{ name: '', services: [1] }];
  const page = await registry.addPage({
    accountId: 1,
    slug: 'acme',
    title: 'Acme',
    text: '',
    groups,
    now: NOW,
  });
  await registry.addPage({ accountId: 1, slug: 'bare', title: 'Bare', text: '', groups: [], now: NOW });
  const updates = Array.from(
    { length: UPDATES },
    (_, index): OwnerUpdate => ({
      at: NOW + index,
      status: 'identified',
      markdown: `*no. ${index}*\n\n${QUOTES}`,
      plain: `no. ${index} ${'x'.repeat(5_000)}`,
    }),
  );
  const postMortem = { at: NOW, markdown: QUOTES, plain: QUOTES };
  let last = 0;
  for (let number = 0; number < 25; number++) {
    const said = await registry.addOwnerIncident({
      ...{
        accountId: 1,
        title: 'Late',
        severity: 'major',
        status: 'identified',
        startedAt: NOW,
        resolvedAt: null,
      },
      ...{
        services: [1],
        pages: [page.id, page.id + 1],
        updates,
        siteUrl: 'https://upbeat.test',
        now: NOW + number,
      },
    });
    last = said.id;
    await registry.putOwnerIncident({ ...said, postMortem }, NOW);
  }
  const read = async (path: string): Promise<string> => {
    const response = await fetch(world.origin + path);
    const text = await response.text();
    t.equal(response.status, 200, path);
    t.ok(Buffer.byteLength(text) < MAX_BYTES, `${path} has ${Buffer.byteLength(text)} bytes`);
    return text;
  };
  for (const path of ['/', '/incidents', '/incidents.atom', '/status/shop', '/status/shop/incidents.atom'])
    await read(path);
  for (const path of [
    '/p/acme/incidents.atom',
    '/p/acme.json',
    '/p/bare.json',
    '/p/acme/embed',
    '/api/v1/incidents',
  ])
    await read(path);
  for (const path of ['/p/acme', '/p/bare'])
    t.match(
      await read(path),
      new RegExp(`no\\. 11 [\\s\\S]*<a href="${path}/incidents/owner-${last}">All 12 updates</a>`),
    );
  const [listed] = await registry.listIncidents({ limit: 1, offset: 0 });
  for (const start of [
    `/status/shop/incidents/${listed?.id}`,
    `/p/acme/incidents/owner-${last}`,
    `/p/bare/incidents/owner-${last}`,
  ]) {
    const found = new Set<string>();
    let next: string | undefined = start;
    for (let pages = 0; next !== undefined && pages < UPDATES + 1; pages++) {
      const text: string = await read(next);
      for (const [, number = ''] of text.matchAll(/<em>no\. (\d+)<\/em>/g)) found.add(number);
      next = new RegExp(`href="(${start}\\?offset=\\d+)">Older`).exec(text)?.[1];
    }
    t.equal(found.size, UPDATES, `${start} and the pages that follow have every update`);
  }
});

t.test('an incident takes no more texts than fit, and says so', async (t) => {
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1 });
  const world = await startApi({ services: [shop], startAt: NOW });
  t.teardown(world.close);
  const key = world.makeKey({ accountId: 1, scopes: ['read', 'write'] });
  const send = async (method: string, path: string, body: object) => {
    const headers = { ...key, 'Content-Type': 'application/json' };
    const response = await fetch(world.origin + path, { method, headers, body: JSON.stringify(body) });
    return { status: response.status, json: (await response.json()) as { readonly id: string } };
  };
  const said = { title: 'Late', text: 'x', services: ['shop'] };
  const { id } = (await send('POST', '/api/v1/incidents', said)).json;
  const text = 'ü'.repeat(OWNER_INCIDENT_BOUNDS.textCharacters);
  const update = () => send('POST', `/api/v1/incidents/${id}/updates`, { text, status: 'resolved' });
  for (let number = 0; number < 6; number++) t.match(await update(), { status: 200 });
  t.match(await update(), {
    status: 403,
    json: {
      code: 'account_limit',
      detail: 'All texts of an incident have at most 256 KiB, counted with and without their markup.',
    },
  });
  const explain = (post_mortem: string) => send('PATCH', `/api/v1/incidents/${id}`, { post_mortem });
  t.match(await explain(text), { status: 403 });
  t.match(await explain('Over.'), { status: 200 });
});

t.test('each text is rendered once while the cache has room, which is bounded in characters', async (t) => {
  const rendered: string[] = [];
  const markup = createMarkup(async (text) => {
    rendered.push(text);
    return `<p>${text}</p>`;
  }, 100);
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(20));
  const [first = '', second = '', third = ''] = texts;
  t.equal(await markup(first), `<p>${first}</p>`);
  await markup(second);
  await markup(first);
  t.same(rendered, [first, second]);
  await markup(third);
  await markup(first);
  t.same(rendered, [first, second, third], 'what was used last stays');
  await markup(second);
  t.equal(rendered.length, 4);
  await markup('d'.repeat(200));
  await markup('d'.repeat(200));
  t.equal(rendered.length, 6, 'what is larger than the cache is not kept');
});
