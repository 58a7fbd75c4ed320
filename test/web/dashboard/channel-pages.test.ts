/** The pages of channels, over a real registry. */
import t from 'tap';
import { CHANNEL_KINDS, type Channel } from '../../../src/domain/alert/channel.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { channelFields } from '../../../src/web/dashboard/channel-pages.ts';
import { createLogos } from '../../../src/web/home/logos.ts';
import { german } from '../../../src/web/language/german.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { NOW } from '../../site/site-world.ts';
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

t.test('a kind of channel has its logo, where that is free, else a general icon', async (t) => {
  const { pathOfName } = createLogos();
  const withLogo = CHANNEL_KINDS.filter((kind) => pathOfName(kind) !== null);
  t.same(withLogo, [
    ...['discord', 'mattermost', 'google-chat', 'telegram', 'matrix', 'ntfy', 'pagerduty', 'opsgenie'],
  ]);
  const { ada, call, registry } = await dashboard(t);
  t.match((await call('/dashboard/channels', ada)).text, /gotify"><svg class="icon"/);
  const settings = { url: 'https://discord.example/api/webhooks/1/x' };
  const made = { accountId: ada.id, name: 'Chat', kind: 'discord', settings, language: 'en' } as const;
  const { id } = await registry.addChannel({ ...made, createdAt: NOW, confirmedAt: NOW });
  const { text } = await call(`/dashboard/channels/${id}`, ada);
  t.match(text, `<img class="mark" src="${pathOfName('discord')}" alt=""`);
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

const GOTIFY_FIELDS = { 'settings.server': 'https://push.example.com/', 'settings.token': 't0ken' };

t.test('a channel that is in no rule says so and can be added to one', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  for (const name of ['First', 'Second'])
    await post('/dashboard/channels/new/gotify/save', ada, { name, ...GOTIFY_FIELDS });
  const [first, second] = await registry.channelsOf(ada.id);
  const path = `/dashboard/channels/${second?.id}`;
  t.match(await call(path, ada), { text: /No rule sends alerts to this channel yet/ });
  t.match(await call('/dashboard/channels', ada), { text: /Second<\/a>.*In no rule/s });
  const [rule] = await registry.rulesOf(ada.id);
  t.match(await post(`${path}/rule`, ada, { rule: String(rule?.id) }), { status: 303 });
  t.match(await registry.rulesOf(ada.id), [{ channels: [first?.id, second?.id] }]);
  t.notMatch((await call(path, ada)).text, /No rule sends alerts/);
});

t.test('a problem names the field as the form does, and the line and word of an assertion', async (t) => {
  const { ada, post } = await dashboard(t);
  const problems = async (path: string, fields: Record<string, string>) => {
    const { text } = await post(path, ada, fields);
    return [...text.matchAll(/class="problem"[^>]*>([^<]*)</g)].map(([, said = '']) =>
      said.replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
  };
  const http = { domain: 'a.example.com', kind: 'http' };
  const path = '/dashboard/services/new/save';
  const table: readonly (readonly [lines: string, said: string])[] = [
    ['status is 200\n\ntime over 3', 'Line 3: "over" is not an operator. Use is, is not, below, above.'],
    ['speed is 3', 'Line 1: "speed" is not part of a response. Begin with status, time, header, body, json.'],
    [
      'json status is ok',
      'Line 1: "status" is not followed by the name of a header or a JSON path such as $.status.',
    ],
    ['time below soon', 'Line 1: there is no value that fits at "soon".'],
    ['body exists', 'Line 1: "exists" is not an operator. Use is, is not, contains, lacks, matches.'],
  ];
  for (const [lines, said] of table)
    t.same(await problems(path, { ...http, 'settings.assertions': lines }), [said], lines);
  t.same(await problems(path, { ...http, 'settings.headers': 'Cookie: a=b' }), [
    'Enter a header such as "Accept: text/html"; those with credentials belong to "Headers with credentials".',
  ]);
  t.same(await problems(path, { ...http, 'settings.username': 'ada', 'settings.token': 't' }), [
    'Bearer token cannot be combined with User name.',
  ]);
  t.same(
    await problems('/dashboard/channels/new/gotify/save', {
      name: 'Ops',
      'settings.server': 'x',
      'settings.token': 't',
    }),
    ['Enter an address such as https://example.com/health, without user and password.'],
  );
});

t.test('the form of a new webhook has a secret to copy, and that of an old one shows none', async (t) => {
  const { en } = LANGUAGES;
  const kinds = CHANNEL_KINDS_TABLE;
  const secretOf = (channel: Channel | null) =>
    channelFields({ kinds, kind: 'webhook', channel }, null, en).find(({ key }) => key === 'settings.secret');
  const made = secretOf(null);
  t.match(made, { secret: false, isMade: true, value: /^whsec_[A-Za-z0-9+/]{43}=$/ });
  t.not(secretOf(null)?.value, made?.value);
  const url = 'https://example.com/hook';
  t.same(kinds.webhook.refuse?.({ url, secret: made?.value ?? '' }), []);
  const { ada, registry } = await dashboard(t);
  const settings = { url, secret: made?.value ?? '' };
  const { id } = await registry.addChannel({
    ...{ accountId: ada.id, name: 'Hook', kind: 'webhook', settings, language: 'en' },
    ...{ createdAt: NOW, confirmedAt: NOW },
  });
  const [channel = null] = (await registry.channelsOf(ada.id)).filter((one) => one.id === id);
  t.match(secretOf(channel), { secret: true, isMade: false, value: '' });
});
