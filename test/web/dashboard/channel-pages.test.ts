/** The pages of channels and rules, over a real registry. */
import t from 'tap';
import { CHANNEL_KINDS } from '../../../src/domain/alert/channel.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { german } from '../../../src/web/language/german.ts';
import { NOW, service } from '../../site/site-world.ts';
import { dashboard } from '../dashboard-world.ts';

const GOTIFY = {
  name: 'Ops',
  language: 'en',
  'settings.server': 'https://push.example.com',
  'settings.token': 's3cret',
};

t.test('an account without channels sees what to do, and its first channel makes a rule', async (t) => {
  const { ada, call, post, registry } = await dashboard(t);
  const empty = await call('/dashboard/channels', ada);
  t.match(empty.text, /No alerts yet/);
  t.match(empty.text, /href="\/dashboard\/channels\/new\/gotify"/);
  t.notMatch(empty.text, /new\/slack/, 'only kinds that there are');
  const form = await call('/dashboard/channels/new/gotify', ada);
  t.match(form.text, /Address of your Gotify\./, 'each field says where to find its value');
  t.match(form.text, /name="settings.token"[^>]* type="password"/);
  t.equal((await call('/dashboard/channels/new/slack', ada)).code, 'route_not_found');

  const wrong = await post('/dashboard/channels/new/gotify/save', ada, {
    ...GOTIFY,
    'settings.server': 'push',
  });
  t.equal(wrong.status, 400);
  t.match(wrong.text, /id="problem-save-settings.server"/);
  t.match(wrong.text, /value="push"/, 'what was entered stays');
  t.notMatch(wrong.text, 's3cret', 'but no secret');

  const made = await post('/dashboard/channels/new/gotify/save', ada, GOTIFY);
  const [channel] = await registry.channelsOf(ada.id);
  t.equal(made.location, `/dashboard/channels/${channel?.id}?new=rule`);
  t.match(channel, { name: 'Ops', settings: { server: 'https://push.example.com', token: 's3cret' } });
  t.match(await registry.rulesOf(ada.id), [
    {
      name: 'Everything of mine',
      of: { own: true },
      events: ['down', 'up', 'certificate'],
      channels: [channel?.id],
    },
  ]);
  const shown = await call(made.location, ada);
  t.match(shown.text, /A first rule uses it/);
  t.notMatch(shown.text, 's3cret');
  await post('/dashboard/channels/new/gotify/save', ada, { ...GOTIFY, name: 'Second' });
  t.equal((await registry.rulesOf(ada.id)).length, 1, 'only the first channel makes a rule');
});

t.test('a channel is changed, and its secret stays', async (t) => {
  const { ada, grace, call, post, registry } = await dashboard(t);
  await post('/dashboard/channels/new/gotify/save', ada, { ...GOTIFY, 'settings.priority': '5' });
  const [{ id } = { id: 0 }] = await registry.channelsOf(ada.id);
  const path = `/dashboard/channels/${id}`;
  const saved = await post(`${path}/save`, ada, {
    ...GOTIFY,
    name: 'Ops 2',
    language: 'de',
    'settings.token': '',
  });
  t.equal(saved.location, path);
  const { server } = { server: 'https://push.example.com' };
  const [channel] = await registry.channelsOf(ada.id);
  t.strictSame(
    channel?.settings,
    { server, token: 's3cret' },
    'an empty field removes a setting, but no secret',
  );
  t.match(channel, { name: 'Ops 2', language: 'de' });
  const moved = { ...GOTIFY, 'settings.server': 'https://elsewhere.example', 'settings.token': '' };
  t.match((await post(`${path}/save`, ada, moved)).text, /id="problem-save-settings.token"/);
  for (const action of ['save', 'test', 'remove', 'replay'])
    t.equal((await post(`${path}/${action}`, grace, GOTIFY)).code, 'channel_not_found');
  t.equal((await call(path, grace)).code, 'channel_not_found');
  t.equal((await post(`${path}/remove`, ada, {})).location, '/dashboard/channels');
  t.strictSame(await registry.channelsOf(ada.id), []);
});

t.test('a viewer sees channels and rules without secrets, and changes nothing', async (t) => {
  const { ada, join, call, post } = await dashboard(t);
  await post('/dashboard/channels/new/gotify/save', ada, GOTIFY);
  const viewer = await join(ada.id, 'viewer');
  for (const path of ['/dashboard/channels', '/dashboard/channels/1', '/dashboard/rules']) {
    const { status, text } = await call(path, viewer);
    t.equal(status, 200, path);
    t.notMatch(text, /<form method="post" action="\/dashboard\/(channels|rules)/, path);
    t.notMatch(text, 's3cret', path);
  }
  for (const path of ['/dashboard/rules/new', '/dashboard/rules/1', '/dashboard/channels/new/gotify'])
    t.equal((await call(path, viewer)).code, 'forbidden_role', path);
});

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

t.test('a visitor who asks to be told of a service returns to its form after signing in', async (t) => {
  const { ada, call } = await dashboard(t);
  const asked = await call('/dashboard/rules/new?service=post', null);
  t.match(asked, { location: '/sign-in', cookie: /^upbeat-return=/ });
  const { cookie } = ada;
  const back = await call('/dashboard', ada, { headers: { cookie: `${cookie}; ${asked.cookie}` } });
  t.match(back, { location: '/dashboard/rules/new?service=post', cookie: 'upbeat-return=' });
  const planted = encodeURIComponent('//evil.example/');
  const headers = { cookie: `${cookie}; upbeat-return=${planted}` };
  t.match(await call('/dashboard', ada, { headers }), { status: 200 });
});

t.test('it says in German where to find the value of each setting', async (t) => {
  for (const [kind, { settings }] of Object.entries(CHANNEL_KINDS_TABLE))
    for (const name of Object.keys(settings.properties))
      t.ok(
        CHANNEL_KINDS.some((one) => one === kind && german.alerts.setting(one, name)),
        `${kind}.${name}`,
      );
});

t.test('an editor has the receiver of a channel asked once more', async (t) => {
  const { ada, grace, call, post, registry } = await dashboard(t);
  const settings = { to: 'ops@example.com' };
  const made = {
    accountId: ada.id,
    name: 'Mail',
    kind: 'email',
    settings,
    language: 'en',
    createdAt: NOW,
  } as const;
  const { id } = await registry.addChannel({ ...made, confirmedAt: null });
  t.equal(await registry.askChannels(NOW), 1);
  t.equal(await registry.askChannels(NOW), 0);
  const page = await call(`/dashboard/channels/${id}`, ada);
  t.match(page.text, new RegExp(`action="/dashboard/channels/${id}/ask"`));
  t.notMatch(page.text, /Send a test</, 'nothing else is sent before');
  t.equal((await post(`/dashboard/channels/${id}/ask`, grace, {})).status === 303, false);
  t.equal(await registry.askChannels(NOW), 0);
  t.equal((await post(`/dashboard/channels/${id}/ask`, ada, {})).location, `/dashboard/channels/${id}`);
  t.equal(await registry.askChannels(NOW), 1);
});
