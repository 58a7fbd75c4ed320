/** The page of a service of an owner. */
import t from 'tap';
import { NOW } from '../../site/site-world.ts';
import { dashboard } from '../dashboard-world.ts';

t.test('members see the note of a service, and editors change it', async (t) => {
  const { ada, call, post, directory, registry } = await dashboard(t);
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  await post('/dashboard/services/new/save', ada, {
    domain: 'shop.example',
    kind: 'root',
    note: 'Ask\r\n<Ada>',
  });
  const path = '/dashboard/services/shop-example';
  const page = await call(path, ada);
  t.match(page.text, /<h2 id="note">Note for members<\/h2><p class="lines">Ask\n&lt;Ada&gt;<\/p>/);
  t.match(page.text, /<textarea name="note"[^>]*>Ask\n&lt;Ada&gt;<\/textarea>/);
  t.match(await registry.servicesOf(ada.id), [{ note: 'Ask\n<Ada>' }]);
  const fields = { name: 'Shop', category: 'cloud', kind: 'root', dependencies: 'private' };
  const long = await post(`${path}/save?lang=de`, ada, { ...fields, note: 'x'.repeat(501) });
  t.match(long, { status: 400, text: /id="problem-save-note" role="alert">„Notiz für Mitglieder“/ });
  t.equal((await post(`${path}/save`, ada, { ...fields, note: '' })).status, 303);
  t.notMatch((await call(path, ada)).text, /id="note"/);
});

t.test('the newest checks of a service name their region if there is one', async (t) => {
  const check = {
    serviceId: 3,
    at: NOW,
    status: 'up',
    latencyMs: 12,
    statusCode: 200,
    suspect: false,
  } as const;
  for (const [checks, cells] of [
    [[check], ['Operational', 'HTTP 200', '12 ms']],
    [
      [{ ...check, region: 'eu' }, check],
      ['eu', 'Operational', 'HTTP 200', '12 ms', '–', 'Operational', 'HTTP 200', '12 ms'],
    ],
  ] as const) {
    const { ada, call } = await dashboard(t, checks);
    const { text } = await call('/dashboard/services/mine', ada);
    const [section = ''] = /<section aria-labelledby="checks">.*?<\/section>/s.exec(text) ?? [];
    const shown = [...section.matchAll(/<td[^>]*><span>([^<]*)<\/span>/g)].map(([, cell]) => cell);
    t.same(shown, cells);
    t.match(section, '20 Nov 2026, 10:00:00 UTC</time>', 'checks can follow each other within a minute');
  }
});

t.test('the page of a private service has the address of its badge, which editors renew', async (t) => {
  const { registry, directory, ada, join, call, post } = await dashboard(t);
  const path = '/dashboard/services/nas-example-com';
  const nas = { domain: 'nas.example.com', name: 'Photos', kind: 'heartbeat', visibility: 'private' };
  t.match(await post('/dashboard/services/new/save', ada, nas), { status: 303 });
  const addressIn = ({ text }: { text: string }) =>
    /value="(http:\/\/upbeat\.test\/badge\/[\w-]{40})"/.exec(text)?.[1] ?? '';
  const shown = await call(path, ada);
  const first = addressIn(shown);
  t.match(first, /badge/);
  t.match(shown.text, `src="${new URL(first).pathname}"`);
  t.match(shown.text, `![Photos status](${first})`);
  t.notMatch(shown.text, '/api/badge/');
  const asked = await post(`${path}/badge`, ada, { confirmed: '' });
  t.match(asked, { status: 200, text: /Give this badge a new address\?/ });
  const viewer = await join(ada.id, 'viewer');
  const seen = await call(path, viewer);
  t.equal(addressIn(seen), first);
  t.notMatch(seen.text, `action="${path}/badge"`);
  t.match(await post(`${path}/badge`, viewer, { revision: '1' }), { code: 'forbidden_role' });
  t.match(await post(`${path}/badge`, { ...ada, token: 'x' }, {}), { code: /./ });
  t.equal(addressIn(await call(path, ada)), first);
  t.match(await post(`${path}/badge`, ada, {}), { status: 303, location: path });
  const second = addressIn(await call(path, ada));
  t.match(second, /badge/);
  t.not(second, first);
  t.match(
    (await post(`${path}/badge`, ada, { revision: '1' })).status,
    400,
    'from a page that is out of date',
  );
  await registry.changeService('nas-example-com', { visibility: 'public' });
  const service = await registry.findService('nas-example-com');
  directory.load(service === null ? [] : [service]);
  const open = await call(path, ada);
  t.equal(addressIn(open), '');
  t.match(open.text, '/api/badge/nas-example-com');
});
