/** The form of a rule, over a real registry. */
import t from 'tap';
import { service } from '../../site/site-world.ts';
import { dashboard } from '../dashboard-world.ts';

const GOTIFY = {
  name: 'Ops',
  language: 'en',
  'settings.server': 'https://push.example.com',
  'settings.token': 's3cret',
};

t.test('a rule is written by a form, searched services included', async (t) => {
  const { ada, call, post, registry, directory } = await dashboard(t);
  await post('/dashboard/channels/new/gotify/save', ada, GOTIFY);
  const own = { name: 'API of mine', domain: 'mine.example', origin: 'owner', accountId: ada.id } as const;
  const api = service(5, 'mine-example-api', { ...own, isFurther: true });
  directory.apply({ seq: 1, serviceId: 5, slug: api.slug, service: api });
  for (const [slug, name] of [
    ['mine', 'mine.example'],
    ['mine-example-api', 'mine-example-api'],
  ] as const)
    t.match(
      (await call(`/dashboard/rules/new?service=${slug}`, ada)).text,
      new RegExp(`name="service\\.${name}" value="on" checked`),
      'the service that was asked for, not the first one of its host',
    );
  const fresh = await call('/dashboard/rules/new?service=post', ada);
  t.match(fresh.text, /name="service.post" value="on" checked/);
  t.match(fresh.text, /name="name"[^>]* value="Post"/);
  t.match(fresh.text, /name="channel.Ops" value="on" checked/, 'the only channel is chosen');
  const fields = {
    name: 'Post',
    'service.post': 'on',
    'event.down': 'on',
    'event.slow': 'on',
    'channel.Ops': 'on',
    after: '5m',
    repeat: '',
    quiet_from: '22:00',
    quiet_to: '7:00',
    quiet_zone: 'Europe/Berlin',
    'except.down': 'on',
    enabled: 'on',
  };
  const found = await post('/dashboard/rules/new/save', ada, { ...fields, q: 'libr', find: '1' });
  t.equal(found.status, 200);
  t.match(found.text, /name="service.library" value="on">/, 'what was found can be chosen');
  t.match(found.text, /name="service.post" value="on" checked/, 'and what was chosen stays');
  t.equal(
    (await post('/dashboard/rules/new/save', ada, { ...fields, q: 'hers', find: '1' })).text.includes(
      'service.hers',
    ),
    false,
  );

  const wrong = await post('/dashboard/rules/new/save', ada, {
    ...fields,
    quiet_from: '25:00',
    quiet_zone: 'Mars',
  });
  t.match(wrong.text, /problem-save-quiet_from/);
  t.match(wrong.text, /problem-save-quiet_zone/);
  const { 'channel.Ops': _, ...nowhere } = fields;
  t.match((await post('/dashboard/rules/new/save', ada, nowhere)).text, /problem-save-channels/);
  const { 'service.post': __, ...nothing } = fields;
  t.match((await post('/dashboard/rules/new/save', ada, nothing)).text, /problem-save-services/);

  const saved = { ...fields, 'service.library': 'on', 'public.developer': 'on' };
  t.equal((await post('/dashboard/rules/new/save', ada, saved)).location, '/dashboard/rules');
  const rule = (await registry.rulesOf(ada.id)).find(({ name }) => name === 'Post');
  t.match(rule, {
    of: { own: false, services: [1, 2], publicCategories: ['developer'] },
    events: ['down', 'slow'],
    afterMs: 300_000,
    repeatMs: null,
    quiet: { from: 1_320, to: 420, timeZone: 'Europe/Berlin', except: ['down'] },
    enabled: true,
  });
  const list = (await call('/dashboard/rules', ada)).text;
  t.match(list, /Post, Library, public services of Developer/);
  t.match(list, /if it lasts 5m, quiet from 22:00 to 07:00 \(Europe\/Berlin\)/);
  const path = `/dashboard/rules/${rule?.id}`;
  t.match((await call(path, ada)).text, /name="service.library" value="on" checked/);
  const { enabled: ___, ...off } = saved;
  t.equal((await post(`${path}/save`, ada, { ...off, 'service.post': '' })).location, '/dashboard/rules');
  t.match(await registry.rulesOf(ada.id), [{}, { name: 'Post', enabled: false }]);
  t.equal((await post(`${path}/remove`, ada, {})).location, '/dashboard/rules');
  t.equal((await registry.rulesOf(ada.id)).length, 1);
});
