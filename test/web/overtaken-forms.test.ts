/** Forms that another change has overtaken: they change nothing, and show what was entered. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { dashboard } from './dashboard-world.ts';

type World = Awaited<ReturnType<typeof dashboard>>;

/** One of each thing that an account owns. */
async function createOwned(world: World) {
  const { registry, ada, post } = world;
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  const shop = { domain: 'shop.example', name: 'Shop', category: 'cloud', paused: false, check } as const;
  await registry.registerService(
    ada.id,
    { ...shop, publicDependencies: false },
    { isProven: false, now: Date.now() },
  );
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  await post('/dashboard/channels/new/gotify/save', ada, { ...channel, name: 'Phone' });
  const said = { title: 'Late', text: 'We look.', 'page:acme': 'on' };
  await post('/dashboard/incidents/add', ada, { ...said, severity: 'minor' });
  const weekly = { starts: '2027-07-06T22:00', duration: '1h', zone: 'UTC', recurrence: 'FREQ=WEEKLY' };
  await post('/dashboard/maintenances/add', ada, { ...said, ...weekly });
}

const entered = 'Entered in a form that was open';
const channel = { language: 'en', 'settings.server': 'https://push.example', 'settings.token': 'secret' };
const rule = { own: 'on', 'channel.Phone': 'on', 'event.down': 'on', enabled: 'on' };
const service = { category: 'cloud', kind: 'heartbeat', dependencies: 'private' };
const maintenance = { starts: '2027-07-06T22:00', duration: '1h', zone: 'UTC', 'page:acme': 'on' };

/** Each form: its path, what is entered, and the change of another form that comes first. */
const FORMS: readonly {
  readonly path: string;
  readonly fields: Record<string, string>;
  readonly first: readonly [path: string, fields: Record<string, string>];
}[] = [
  ...['save', 'pause', 'address', 'delete'].map((form) => ({
    path: `/dashboard/services/shop-example/${form}`,
    fields: { ...service, name: entered, period: '2h', confirm: 'shop.example' },
    first: ['/dashboard/services/shop-example/save', { ...service, name: 'First', grace: '5m' }] as const,
  })),
  ...['save', 'remove'].map((form) => ({
    path: `/dashboard/rules/1/${form}`,
    fields: { ...rule, name: entered },
    first: ['/dashboard/rules/1/save', { ...rule, name: 'First', after: '5m' }] as const,
  })),
  ...['save', 'remove'].map((form) => ({
    path: `/dashboard/channels/1/${form}`,
    fields: { ...channel, name: entered },
    first: ['/dashboard/channels/1/save', { ...channel, name: 'Phone', 'settings.priority': '5' }] as const,
  })),
  ...['save', 'look', 'domain', 'group', 'delete'].map((form) => ({
    path: `/dashboard/pages/acme/${form}`,
    fields: {
      title: entered,
      text: '',
      colour: '#123456',
      access: 'members',
      custom_domain: 'status.shop.example',
      group_name: entered,
      confirm: 'acme',
    },
    first: ['/dashboard/pages/acme/save', { title: 'First', text: '' }] as const,
  })),
  ...['update', 'remove', 'save'].map((form) => ({
    path: `/dashboard/incidents/owner-1/${form}`,
    fields: { title: entered, text: entered, status: 'resolved', severity: 'major', 'page:acme': 'on' },
    first: ['/dashboard/incidents/owner-1/update', { text: 'First', status: 'identified' }] as const,
  })),
  ...['skip', 'remove', 'save'].map((form) => ({
    path: `/dashboard/maintenances/m1/${form}`,
    fields: { ...maintenance, title: entered, text: entered, recurrence: '' },
    first: ['/dashboard/maintenances/m1/save', { ...maintenance, title: 'First', text: '' }] as const,
  })),
];

t.test('a form whose subject was changed elsewhere changes nothing and says so', async (t) => {
  const world = await dashboard(t);
  const { registry, directory, ada, post, revisionOf } = world;
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  await createOwned(world);
  const owned = async () =>
    JSON.stringify([
      await registry.servicesOf(ada.id),
      await registry.pagesOf(ada.id),
      await registry.channelsOf(ada.id),
      await registry.rulesOf(ada.id),
      await registry.ownerIncidentsOf(ada.id),
      await registry.ownerMaintenancesOf(ada.id),
    ]);
  for (const { path, fields, first } of FORMS) {
    const revision = await revisionOf(path, ada);
    t.type(revision, 'string', `${path} sends a revision`);
    t.match(await post(first[0], ada, first[1]), { status: 303 }, `${first[0]} before ${path}`);
    const stored = await owned();
    const { status, text } = await post(path, ada, { ...fields, revision: revision ?? '' });
    t.equal(status, 400, path);
    t.match(text, /changed elsewhere in the meantime\.[\s\S]*See the current state/, path);
    t.equal(await owned(), stored, `${path} changes nothing`);
    if (/(save|update|group)$/.test(path)) t.match(text, entered, `${path} shows what was entered`);
  }
});

t.test('what an API set survives a form that was open before', async (t) => {
  const world = await dashboard(t);
  const { registry, directory, ada, post, revisionOf } = world;
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  await createOwned(world);
  const path = '/dashboard/services/shop-example/save';
  const seen = await revisionOf(path, ada);
  const [before] = await registry.servicesOf(ada.id);
  const check = {
    ...DEFAULT_CHECK,
    kind: 'heartbeat',
    graceMs: 600_000,
    addressHash: 'a'.repeat(64),
  } as const;
  const { revision } = await registry.changeService('shop-example', { check }, [before?.revision ?? 0]);
  const typed = { ...service, name: 'Shop', period: '1d', grace: '' };
  const overtaken = await post(path, ada, { ...typed, revision: seen ?? '' });
  t.match(overtaken.text, new RegExp(`name="revision" value="${revision}"[\\s\\S]*name="period" value="1d"`));
  t.match((await registry.servicesOf(ada.id))[0], { revision, check });
  const invalid = await post(path, ada, { ...typed, name: '', revision: seen ?? '' });
  t.equal(invalid.status, 400);
  const again = await post(path, ada, { ...typed, grace: '10m' });
  t.equal(again.status, 303);
  t.match((await registry.servicesOf(ada.id))[0]?.check, { ...check, periodMs: 86_400_000 });
});

t.test('a form that is wrong keeps the revision that it was opened with', async (t) => {
  const world = await dashboard(t);
  const { registry, directory, ada, post, revisionOf } = world;
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  await createOwned(world);
  const path = '/dashboard/rules/1/save';
  const revision = (await revisionOf(path, ada)) ?? '';
  const wrong = await post(path, ada, { ...rule, name: '', revision });
  await post(path, ada, { ...rule, name: 'First' });
  t.match(wrong, { status: 400, text: new RegExp(`name="revision" value="${revision}"`) });
  const stale = await post(path, ada, { ...rule, name: 'Second', revision });
  t.match(stale, { status: 400, text: /changed elsewhere/ });
});
