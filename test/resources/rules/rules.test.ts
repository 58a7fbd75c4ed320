/** Channels and rules of an account, changed over a real registry. */

import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { ALERT_EVENTS } from '../../../src/domain/alert/rule.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import {
  channelChanges,
  channelDocumentOf,
  replayMessage,
  testChannel,
} from '../../../src/resources/channels/channels.ts';
import type { Outcome } from '../../../src/resources/kit/change.ts';
import { ruleChanges } from '../../../src/resources/rules/rules.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { service } from '../../site/site-world.ts';
import { TEST_KINDS } from '../../support/channel-kinds.ts';
import { publicOnly } from '../../support/destinations.ts';
import { registryHere } from '../../support/registry-here.ts';

const NOW = Date.UTC(2026, 10, 20, 10);

async function start(t: Test) {
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 9 });
  const registry = registryHere(methods, systemClock);
  t.teardown(() => registry.close());
  const { id: accountId } = await registry.ensureAccount('ada', NOW);
  const mine = { domain: 'shop.example.com', name: 'Shop', category: 'developer', paused: false } as const;
  const { check } = service(1, 'x');
  await registry.addServices([
    { ...mine, origin: 'owner', accountId, verified: true, check, statusPage: null },
  ]);
  const [own] = await registry.servicesOf(accountId);
  const known = service(900, 'known', { domain: 'known.example' });
  const foreign = service(901, 'hers', { origin: 'owner', accountId: accountId + 1 });
  const all = [known, foreign, ...(own === undefined ? [] : [own])];
  const context = {
    registry,
    kinds: TEST_KINDS,
    destinations: publicOnly,
    now: () => NOW,
    siteUrl: 'https://upbeat.test',
    charge: async () => {},
    findService: (slug: string) => all.find((one) => one.slug === slug) ?? null,
    findServiceById: (id: number) => all.find((one) => one.id === id) ?? null,
  };
  const ada = { role: 'editor', accountId } as const;
  return { registry, context, ada, accountId };
}

const GOTIFY = {
  name: 'Ops',
  kind: 'gotify',
  settings: { server: 'https://push.example.com', token: 's3cret' },
};

/** The codes of the refusals by their fields; null: it was accepted. */
function refusalsOf(outcome: Outcome<unknown>): Record<string, string> | null {
  if (outcome.ok) return null;
  return Object.fromEntries(outcome.refusals.map(({ field, refusal }) => [field ?? '', refusal.code]));
}

function acceptedOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(JSON.stringify(outcome.refusals));
}

t.test('it adds a channel, and shows everything but its secrets', async (t) => {
  const { context, ada, registry, accountId } = await start(t);
  const made = acceptedOf(await channelChanges.add(context, ada, GOTIFY));
  t.match(made, { ...GOTIFY, language: 'en', confirmedAt: NOW, accountId });
  t.strictSame(channelDocumentOf(TEST_KINDS, made), {
    ...GOTIFY,
    settings: { server: 'https://push.example.com' },
  });
  t.strictSame(await registry.channelsOf(accountId), [made]);
  const letter = await channelChanges.add(context, ada, {
    name: 'Mail',
    kind: 'email',
    settings: { to: 'a@b.example' },
  });
  t.equal(acceptedOf(letter).confirmedAt, null, 'the receiver has to agree first');
});

t.test('it names each wrong member of a channel', async (t) => {
  const { context, ada } = await start(t);
  await channelChanges.add(context, ada, GOTIFY);
  const table: readonly (readonly [document: unknown, refusals: object])[] = [
    [GOTIFY, { name: 'channel_name_taken' }],
    [{}, { name: 'member_invalid', kind: 'member_invalid' }],
    [{ ...GOTIFY, name: ' ' }, { name: 'channel_name_missing' }],
    [{ ...GOTIFY, name: 'a\u202eb' }, { name: 'name_invalid' }],
    [{ ...GOTIFY, kind: 'pigeon' }, { kind: 'member_invalid' }],
    [{ ...GOTIFY, kind: 'slack' }, { kind: 'member_invalid' }],
    [{ ...GOTIFY, language: 'fr' }, { language: 'member_invalid' }],
    [
      { name: 'x', kind: 'gotify', settings: { server: 'ftp://x', priority: 11 } },
      {
        'settings.server': 'setting_invalid',
        'settings.token': 'setting_invalid',
        'settings.priority': 'setting_invalid',
      },
    ],
    [
      { ...GOTIFY, name: 'x', settings: { ...GOTIFY.settings, colour: 'red' } },
      { 'settings.colour': 'setting_invalid' },
    ],
    [{ name: 'x', kind: 'email', settings: { to: 'nobody' } }, { 'settings.to': 'setting_invalid' }],
  ];
  for (const [document, refusals] of table)
    t.strictSame(
      refusalsOf(await channelChanges.add(context, ada, document)),
      refusals,
      JSON.stringify(document),
    );
});

t.test('it refuses every setting whose URL leads to a host that is not public', async (t) => {
  const { context, ada, registry } = await start(t);
  const all = { ...context, kinds: CHANNEL_KINDS_TABLE };
  let tried = 0;
  for (const [kind, { settings }] of Object.entries(CHANNEL_KINDS_TABLE)) {
    const properties = Object.entries(settings.properties);
    // The others only have the right types.
    const others = properties.flatMap(([name, { type, examples: [example] = ['x'] }]) =>
      settings.required?.includes(name) ? [[name, type === 'integer' ? 1 : example]] : [],
    );
    for (const [setting, { examples: [example] = [] }] of properties) {
      if (typeof example !== 'string' || !/^https?:/.test(example)) continue;
      tried++;
      const url = example.replace(/^(https?:\/\/)[^/]+/, '$1[::ffff:10.0.0.1]');
      const given = { ...Object.fromEntries(others), [setting]: url };
      const outcome = await channelChanges.add(all, ada, { name: 'x', kind, settings: given });
      const wrong = outcome.ok ? [] : outcome.refusals.filter(({ field }) => field === `settings.${setting}`);
      const problem = { code: 'not_public', host: '::ffff:a00:1' };
      t.match(wrong.at(-1)?.refusal, { code: 'setting_invalid', setting, problem }, `${kind} ${setting}`);
    }
  }
  t.ok(tried >= 10, `${tried} settings`);

  const { id } = acceptedOf(await channelChanges.add(context, ada, GOTIFY));
  const patch = (change: object) => channelChanges.patch(context, ada, { key: id, revisions: null }, change);
  const moved = { settings: { server: 'http://nas.local:8080', token: 'new' } };
  t.same(refusalsOf(await patch(moved)), { 'settings.server': 'setting_invalid' });
  const [known] = await registry.channelsOf(ada.accountId);
  const edit = { name: 'Ops', language: 'en', settings: moved.settings } as const;
  await registry.changeChannel(ada.accountId, id, edit, [known?.revision ?? 0]);
  t.match(acceptedOf(await patch({ name: 'Older' })), { name: 'Older', settings: moved.settings });
});

t.test('a change keeps secrets, but never sends them to another server', async (t) => {
  const { context, ada } = await start(t);
  const { id, revision } = acceptedOf(await channelChanges.add(context, ada, GOTIFY));
  const patch = (change: object, revisions: readonly number[] | null = null) =>
    channelChanges.patch(context, ada, { key: id, revisions }, change);
  const renamed = acceptedOf(await patch({ name: 'Ops 2', settings: { priority: 5 } }, [revision]));
  t.match(renamed, { name: 'Ops 2', settings: { ...GOTIFY.settings, priority: 5 } });
  const moved = { settings: { server: 'https://elsewhere.example' } };
  t.same(refusalsOf(await patch(moved)), { 'settings.token': 'setting_invalid' });
  t.match(acceptedOf(await patch({ settings: { server: 'https://push.example.com/sub' } })).settings, {
    token: 's3cret',
  });
  t.match(acceptedOf(await patch({ settings: { ...moved.settings, token: 'new' } })).settings, {
    token: 'new',
  });
  t.same(refusalsOf(await patch({ kind: 'email', settings: { to: 'a@b.example' } })), {
    kind: 'channel_kind_fixed',
  });
  t.same(
    refusalsOf(
      await channelChanges.patch(context, { ...ada, accountId: 99 }, { key: id, revisions: null }, {}),
    ),
    {
      '': 'no_channel',
    },
  );
});

t.test('an address that is changed has to be confirmed again', async (t) => {
  const { context, ada, registry, accountId } = await start(t);
  const mail = { name: 'Mail', kind: 'email', settings: { to: 'a@b.example' } };
  const { id } = acceptedOf(await channelChanges.add(context, ada, mail));
  t.same(refusalsOf(await testChannel(context, ada, id)), { '': 'channel_unconfirmed' });
  await registry.changeChannel(accountId, id, { confirmedAt: NOW });
  t.equal(
    acceptedOf(await channelChanges.patch(context, ada, { key: id, revisions: null }, { language: 'de' }))
      .confirmedAt,
    NOW,
  );
  const moved = await channelChanges.patch(
    context,
    ada,
    { key: id, revisions: null },
    { settings: { to: 'c@d.example' } },
  );
  t.equal(acceptedOf(moved).confirmedAt, null);
});

t.test('a test waits in the queue of its channel, and is sent again', async (t) => {
  const { context, ada, registry, accountId } = await start(t);
  const { id } = acceptedOf(await channelChanges.add(context, ada, GOTIFY));
  const thread = acceptedOf(await testChannel(context, ada, id));
  const [message] = await registry.messagesOf(accountId, id);
  t.match(message, { message: { type: 'test', thread }, dueAt: NOW, deliveredAt: null });
  const messageId = message?.id ?? 0;
  t.equal(refusalsOf(await replayMessage(context, ada, id, messageId)), null);
  t.same(refusalsOf(await replayMessage(context, ada, id, 999)), { '': 'no_message' });
  t.same(refusalsOf(await replayMessage(context, { ...ada, accountId: 99 }, id, messageId)), {
    '': 'no_channel',
  });
  t.equal(refusalsOf(await channelChanges.remove(context, ada, { key: id, revisions: null })), null);
  t.same(refusalsOf(await channelChanges.remove(context, ada, { key: id, revisions: null })), {
    '': 'no_channel',
  });
});

const RULE = { name: 'Mine', own: true, channels: ['Ops'] };

t.test('a rule is read back as it was written', async (t) => {
  const { context, ada } = await start(t);
  await channelChanges.add(context, ada, GOTIFY);
  const full = {
    name: 'Night',
    own: true,
    services: ['known', 'shop.example.com'],
    categories: ['developer'],
    publicCategories: ['ai'],
    events: ['down', 'up', 'slow'],
    channels: ['Ops'],
    after: '2m',
    repeat: '1h',
    quiet: { from: '22:00', to: '07:30', timezone: 'Europe/Berlin', except: ['down'] },
    enabled: false,
  };
  for (const document of [RULE, full, { name: 'None', services: [], channels: [] }]) {
    const rule = acceptedOf(await ruleChanges.add(context, ada, document));
    const found = acceptedOf(await ruleChanges.find(context, ada, rule.id));
    t.strictSame(found, rule, document.name);
    t.strictSame(await ruleChanges.documentOf(context, found), document, document.name);
  }
  const names = (await ruleChanges.list(context, ada.accountId)).map(({ entity }) => entity.name);
  t.strictSame(names, ['Mine', 'Night', 'None']);
});

t.test('it names each wrong member of a rule', async (t) => {
  const { context, ada } = await start(t);
  await channelChanges.add(context, ada, GOTIFY);
  await ruleChanges.add(context, ada, RULE);
  const quiet = { from: '22:00', to: '07:00' };
  const table: readonly (readonly [change: object, refusals: object])[] = [
    [{ name: 'Mine' }, { name: 'rule_name_taken' }],
    [{ name: '' }, { name: 'rule_name_missing' }],
    [{ own: false }, { services: 'rule_services_missing' }],
    [
      { services: ['known', 'hers', 'none.example'] },
      { 'services.1': 'no_page_service', 'services.2': 'no_page_service' },
    ],
    [{ pages: ['acme'] }, { 'pages.0': 'rule_page_unknown' }],
    [{ channels: ['Ops', 'Other'] }, { 'channels.1': 'rule_channel_unknown' }],
    [{ channels: undefined }, { channels: 'member_invalid' }],
    [{ events: ['gone'] }, { 'events.0': 'member_invalid' }],
    [{ after: '25h' }, { after: 'rule_time_invalid' }],
    [
      { after: 'soon', repeat: '1m' },
      { after: 'rule_time_invalid', repeat: 'rule_time_invalid' },
    ],
    [{ quiet: { ...quiet, from: '24:00' } }, { 'quiet.from': 'rule_quiet_invalid' }],
    [{ quiet: { ...quiet, timezone: 'Mars/Base' } }, { 'quiet.timezone': 'timezone_invalid' }],
    [{ colour: 'red' }, { colour: 'member_invalid' }],
  ];
  for (const [change, refusals] of table) {
    const document = JSON.parse(JSON.stringify({ ...RULE, name: 'Other', ...change }));
    if ('channels' in change && change.channels === undefined) delete document.channels;
    t.strictSame(refusalsOf(await ruleChanges.add(context, ada, document)), refusals, JSON.stringify(change));
  }
});

t.test('a rule is changed member by member, and follows the names of channels', async (t) => {
  const { context, ada } = await start(t);
  const channel = acceptedOf(await channelChanges.add(context, ada, GOTIFY));
  const { id, revision } = acceptedOf(
    await ruleChanges.add(context, ada, { ...RULE, repeat: '1h', after: '5m' }),
  );
  const document = async () =>
    ruleChanges.documentOf(context, acceptedOf(await ruleChanges.find(context, ada, id)));
  acceptedOf(
    await ruleChanges.patch(
      context,
      ada,
      { key: id, revisions: [revision] },
      { repeat: null, events: [...ALERT_EVENTS] },
    ),
  );
  t.strictSame(await document(), { ...RULE, events: [...ALERT_EVENTS], after: '5m' });
  await channelChanges.patch(context, ada, { key: channel.id, revisions: null }, { name: 'Ops team' });
  t.strictSame((await document()).channels, ['Ops team']);
  await channelChanges.remove(context, ada, { key: channel.id, revisions: null });
  t.strictSame((await document()).channels, []);
  t.same(
    refusalsOf(await ruleChanges.patch(context, { ...ada, accountId: 99 }, { key: id, revisions: null }, {})),
    {
      '': 'no_rule',
    },
  );
  t.equal(refusalsOf(await ruleChanges.remove(context, ada, { key: id, revisions: null })), null);
  t.same(refusalsOf(await ruleChanges.remove(context, ada, { key: id, revisions: null })), { '': 'no_rule' });
});
