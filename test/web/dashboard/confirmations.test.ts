/** What cannot be had back is asked first. */
import t from 'tap';
import { CONFIRMATIONS } from '../../../src/web/dashboard/confirmations.ts';
import { dashboard } from '../dashboard-world.ts';

const GOTIFY = { 'settings.server': 'https://push.example.com/', 'settings.token': 't0ken' };

t.test('what cannot be had back is asked first, and taken once it is confirmed', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  await post('/dashboard/channels/new/gotify/save', ada, { name: 'Ops', ...GOTIFY });
  const [channel] = await registry.channelsOf(ada.id);
  const path = `/dashboard/channels/${channel?.id}`;
  const asked = await post(`${path}/remove`, ada, { confirmed: '' });
  t.match(asked, {
    status: 200,
    text: /<h1>Remove this channel\?<\/h1>.*Ops:.*href="\/dashboard\/channels\/\d+">Cancel/s,
  });
  t.match(
    asked.text,
    new RegExp(`action="${path}/remove".*name="revision" value="1".*name="confirmed" value="yes"`),
  );
  t.equal((await registry.channelsOf(ada.id)).length, 1);
  t.match(await post(`${path}/remove`, ada, {}), { status: 303 });
  t.same(await registry.channelsOf(ada.id), []);
  const { routes } = await dashboard(t);
  const paths = new Set(routes.map((route) => route.path));
  for (const path of Object.keys(CONFIRMATIONS)) t.ok(paths.has(path), path);
  const destructive = [...paths].filter((path) => /(?:remove|revoke|withdraw|leave)$/.test(path));
  for (const path of destructive) t.ok(Object.hasOwn(CONFIRMATIONS, path), path);
  t.match(await call('/dashboard/channels', ada), { status: 200 });
});
