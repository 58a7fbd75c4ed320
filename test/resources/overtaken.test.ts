/**
 * A change that another one has overtaken, by every way in and for everything that accounts own: it is refused, changes nothing, and
 * shows what was entered.
 */

import { globSync, readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { applyDocument } from '../../src/apply/apply.ts';
import { ApplyDocumentSchema } from '../../src/apply/apply-lists.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { channelChanges } from '../../src/resources/channels/channels.ts';
import { incidentChanges } from '../../src/resources/incidents/incidents.ts';
import type { Outcome } from '../../src/resources/kit/change.ts';
import type { Changes, ResourceKey, Revised } from '../../src/resources/kit/create-changes.ts';
import { maintenanceChanges } from '../../src/resources/maintenances/maintenances.ts';
import { pageChanges } from '../../src/resources/pages/pages.ts';
import { ruleChanges } from '../../src/resources/rules/rules.ts';
import { serviceChanges } from '../../src/resources/services/services.ts';
import { changeContext } from '../../src/web/dashboard/dashboard-forms.ts';
import { sendWith } from '../site/send-with.ts';
import { startApi } from '../site/site-world.ts';
import { dashboard } from '../web/dashboard-world.ts';

type World = Awaited<ReturnType<typeof dashboard>>;
type Context = ReturnType<typeof contextOf>;

const entered = 'Entered in a form that was open';
const check = { kind: 'heartbeat' };
const settings = { server: 'https://push.example.com', token: 'secret' };
const work = { starts_at: '2027-07-06T22:00', duration: '1h', recurrence: 'FREQ=WEEKLY' };

/** A resource: how one is made and changed, and the ways in. */
function resource<Entity extends Revised, Key extends ResourceKey, Document>(
  changes: Changes<Entity, Key, Document, Context>,
  key: Key,
  ways: {
    /** What it is made from. */
    readonly made: object;
    /** The patch of another person; each number is another change. */
    readonly other: (n: number) => object;
    /** Its path in the API. */
    readonly path: string;
    /** Bodies of operations of the API by their ids. */
    readonly operations: Readonly<Record<string, object | null>>;
    readonly form: { readonly path: string; readonly names: readonly string[]; readonly fields: Fields };
    /** As a document of `apply` lists it; null: none does. */
    readonly applied: object | null;
  },
) {
  const principal = ({ ada }: World) => ({ role: 'owner', accountId: ada.id }) as const;
  /** Of the newest one: some have random numbers. */
  let newest = key;
  return {
    ...ways,
    /** A path of the newest one. */
    at: (path: string) => path.replace(`${key}`, `${newest}`),
    add: async (world: World) => {
      const outcome = await changes.add(contextOf(world), principal(world), ways.made);
      if (outcome.ok) newest = changes.keyOf(outcome.value);
      return outcome;
    },
    change: (world: World, n: number): Promise<Outcome<unknown>> =>
      changes.patch(contextOf(world), principal(world), { key: newest, revisions: null }, ways.other(n)),
    patch: (world: World, context: Context, patch: object): Promise<Outcome<unknown>> =>
      changes.patch(context, principal(world), { key: newest, revisions: null }, patch),
    document: async (world: World): Promise<unknown> => {
      const found = await changes.find(contextOf(world), principal(world), newest);
      return found.ok ? await changes.documentOf(contextOf(world), found.value) : null;
    },
  };
}

type Fields = Readonly<Record<string, string>>;

const RESOURCES = {
  services: resource(serviceChanges, 'shop-example', {
    made: { domain: 'shop.example', name: 'Shop', category: 'cloud', check },
    other: (n) => ({ name: `Other ${n}` }),
    path: '/api/v1/services/shop-example',
    operations: {
      changeService: { category: 'ai' },
      removeService: null,
      createHeartbeatAddress: null,
      removeHeartbeatAddress: null,
      renewBadgeAddress: null,
    },
    form: {
      path: '/dashboard/services/shop-example',
      names: ['save', 'pause', 'address', 'delete'],
      fields: {
        ...{ category: 'cloud', kind: 'heartbeat', dependencies: 'private' },
        ...{ name: entered, period: '2h', confirm: 'shop.example' },
      },
    },
    applied: { domain: 'shop.example', name: 'Applied', check },
  }),
  pages: resource(pageChanges, 'acme', {
    made: { slug: 'acme', title: 'Acme' },
    other: (n) => ({ title: `Other ${n}` }),
    path: '/api/v1/pages/acme',
    operations: { changePage: { text: 'Lost' }, removePage: null },
    form: {
      path: '/dashboard/pages/acme',
      names: ['save', 'look', 'domain', 'group', 'delete'],
      fields: {
        ...{ title: entered, text: '', colour: '#123456', access: 'members' },
        ...{ custom_domain: 'status.shop.example', group_name: entered, confirm: 'acme' },
      },
    },
    applied: { slug: 'acme', title: 'Applied' },
  }),
  channels: resource(channelChanges, 1, {
    made: { name: 'Phone', kind: 'gotify', settings },
    other: (n) => ({ settings: { priority: n % 10 } }),
    path: '/api/v1/channels/1',
    operations: { changeChannel: { language: 'de' }, removeChannel: null },
    form: {
      path: '/dashboard/channels/1',
      names: ['save', 'remove'],
      fields: { name: entered, language: 'en', 'settings.server': settings.server, 'settings.token': 'x' },
    },
    applied: { name: 'Phone', kind: 'gotify', language: 'de', settings },
  }),
  rules: resource(ruleChanges, 1, {
    made: { name: 'Mine', own: true, channels: ['Phone'] },
    other: (n) => ({ after: `${n}m` }),
    path: '/api/v1/rules/1',
    operations: { changeRule: { enabled: false }, removeRule: null },
    form: {
      path: '/dashboard/rules/1',
      names: ['save', 'remove'],
      fields: { own: 'on', 'channel.Phone': 'on', 'event.down': 'on', enabled: 'on', name: entered },
    },
    applied: { name: 'Mine', own: true, channels: ['Phone'], enabled: false },
  }),
  incidents: resource(incidentChanges, 'owner-1', {
    made: { title: 'Late', text: 'We look.', pages: ['acme'] },
    other: (n) => ({ title: `Other ${n}` }),
    path: '/api/v1/account/incidents/owner-1',
    operations: {
      correctIncident: { severity: 'major' },
      updateIncident: { text: 'Lost.' },
      removeIncident: null,
    },
    form: {
      path: '/dashboard/incidents/owner-1',
      names: ['update', 'remove', 'save'],
      fields: { title: entered, text: entered, status: 'resolved', severity: 'major', 'page:acme': 'on' },
    },
    applied: null,
  }),
  maintenances: resource(maintenanceChanges, 'm1', {
    made: { title: 'Disks', pages: ['acme'], ...work },
    other: (n) => ({ text: `Other ${n}` }),
    path: '/api/v1/maintenances/m1',
    operations: {
      changeMaintenance: { duration: '2h' },
      changeOccurrence: { action: 'skip' },
      withdrawMaintenance: null,
    },
    form: {
      path: '/dashboard/maintenances/m1',
      names: ['skip', 'remove', 'save'],
      fields: {
        ...{ starts: '2027-07-06T22:00', duration: '1h', zone: 'UTC', 'page:acme': 'on' },
        ...{ title: entered, text: entered, recurrence: '' },
      },
    },
    applied: { title: 'Disks', pages: ['acme'], ...work, duration: '2h' },
  }),
};
const ROWS = Object.entries(RESOURCES);

function contextOf({ sources }: World) {
  return { ...changeContext(sources), kinds: sources.kinds, registry: sources.registry };
}

/** The dashboard with one of each thing that an account owns. */
async function openOwned(t: Test): Promise<World> {
  const world = await dashboard(t);
  const { registry, directory } = world;
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  for (const [name, { add }] of ROWS) t.match(await add(world), { ok: true }, `${name}: one is made`);
  return world;
}

const documentsOf = (world: World) => Promise.all(ROWS.map(([, { document }]) => document(world)));

t.test('every resource is in the table', (t) => {
  const files = globSync('src/resources/*/*.ts').filter((file) =>
    /= createChanges</.test(readFileSync(file, 'utf8')),
  );
  t.same(files.map((file) => file.split('/')[2]).sort(), Object.keys(RESOURCES).sort());
  const lists = Object.keys(ApplyDocumentSchema.properties).filter((name) => name !== '$schema');
  t.same(lists.sort(), ROWS.flatMap(([name, { applied }]) => (applied === null ? [] : [name])).sort());
  t.end();
});

t.test('a request of the API names the revision that it is for', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const send = sendWith(world);
  const key = world.makeKey({ accountId: 1, scopes: ['read', 'write'] });
  const { json } = await send('GET', '/api/v1/openapi.json');
  const paths: Record<
    string,
    Record<string, { operationId: string; parameters?: { name: string }[] }>
  > = json.paths;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const ids = operations
    .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'If-Match'))
    .map(({ operationId }) => operationId);
  t.same(ids.sort(), ROWS.flatMap(([, row]) => Object.keys(row.operations)).sort(), 'all are in the table');
  const changed = (wanted: string) => {
    const found = operations.find(({ operationId }) => operationId === wanted);
    if (found === undefined) throw new Error(`there is no ${wanted}`);
    return found;
  };
  const ownOf = new Map<string, string>();
  for (const [name, row] of ROWS) {
    const [first = ''] = Object.keys(row.operations);
    const { path } = changed(first);
    const list = path.slice(0, path.lastIndexOf('/'));
    const made = await send('POST', list, row.made, key);
    t.equal(made.status, 201, `${name}: one is made`);
    ownOf.set(name, made.json.slug ?? `${made.json.id}`);
  }
  let n = 0;
  for (const [name, row] of ROWS) {
    const [first = ''] = Object.keys(row.operations);
    const own = ownOf.get(name) ?? '';
    const ownPath = row.path.replace(/[^/]+$/, own);
    const pathOf = (id: string) => changed(id).path.replace(/\{\w+\}/, own);
    const etagOf = async () => {
      const read = await send('GET', ownPath, undefined, key);
      if (read.status === 200) return read.headers.get('etag') ?? '';
      return (await send('PATCH', pathOf(first), {}, key)).headers.get('etag') ?? '';
    };
    for (const [id, body] of Object.entries(row.operations)) {
      const etag = await etagOf();
      t.match(await send('PATCH', pathOf(first), row.other(++n), key), { status: 200 }, `before ${id}`);
      const stored = await send('PATCH', pathOf(first), {}, key);
      const method = changed(id).method.toUpperCase();
      const refused = await send(method, pathOf(id), body ?? undefined, { ...key, 'if-match': etag });
      t.match(refused, { status: 412, json: { code: 'precondition_failed' } }, id);
      t.match(refused.json.errors?.[0]?.code, /_stale$/, id);
      const after = await send('PATCH', pathOf(first), {}, key);
      t.strictSame(definitionOf(after.json), definitionOf(stored.json), `${id} changes nothing`);
    }
  }
});

const definitionOf = ({ updated_at: _, ...body }: Record<string, unknown>) => body;

t.test('a form whose subject was changed elsewhere changes nothing and says so', async (t) => {
  const world = await openOwned(t);
  const { ada, post, revisionOf } = world;
  let n = 0;
  for (const [name, { form, change, at }] of ROWS) {
    for (const action of form.names) {
      const path = at(`${form.path}/${action}`);
      const revision = await revisionOf(path, ada);
      t.type(revision, 'string', `${path} sends a revision`);
      t.match(await change(world, ++n), { ok: true }, `${name} before ${path}`);
      const stored = await documentsOf(world);
      const { status, text } = await post(path, ada, { ...form.fields, revision: revision ?? '' });
      t.equal(status, 400, path);
      t.match(text, /changed elsewhere in the meantime\.[\s\S]*See the current state/, path);
      t.strictSame(await documentsOf(world), stored, `${path} changes nothing`);
      if (/(save|update|group)$/.test(path)) t.match(text, entered, `${path} shows what was entered`);
    }
  }
});

t.test(
  'a command, which has seen no revision, changes the newest state and loses no other change',
  async (t) => {
    const world = await openOwned(t);
    for (const [name, row] of ROWS) {
      const [patch] = Object.values(row.operations);
      const context = contextOf(world);
      const others = new Set<string>();
      const overtaken = (write: string) => /^(change|put)[A-Z]/.test(write) && !/Content$/.test(write);
      const registry = new Proxy(context.registry, {
        get(target, write, receiver) {
          const method: unknown = Reflect.get(target, write, receiver);
          if (typeof write !== 'string' || typeof method !== 'function' || !overtaken(write)) return method;
          return async (...args: unknown[]) => {
            if (!others.has(write)) {
              others.add(write);
              t.match(await row.change(world, 7), { ok: true }, `${name}: another change comes first`);
            }
            return await Reflect.apply(method, target, args);
          };
        },
      });
      t.match(await row.patch(world, { ...context, registry }, patch ?? {}), { ok: true }, name);
      t.equal(others.size, 1, name);
      t.match(await row.document(world), deepen({ ...row.other(7), ...patch }), `${name} has both changes`);
    }
  },
);

/** Members of patches as documents have them. */
const deepen = (document: object) => JSON.parse(JSON.stringify(document));

t.test('a document of apply whose subject was changed since the plan changes nothing', async (t) => {
  const world = await openOwned(t);
  const { ada, sources } = world;
  const context = {
    ...contextOf(world),
    loadPublic: async () => ({ find: () => null, findById: () => null, domains: new Set<string>() }),
    now: sources.now,
  };
  const principal = { role: 'operator', accountId: ada.id } as const;
  let n = 0;
  for (const [name, { applied, change }] of ROWS) {
    if (applied === null) continue;
    let stored: unknown;
    const outcome = await applyDocument(
      context,
      principal,
      { [name]: [applied] },
      {
        ...{ dryRun: false, prune: false },
        async onPlan({ changes }) {
          t.match(changes, [{ action: 'change' }], name);
          t.match(await change(world, ++n), { ok: true }, name);
          stored = await documentsOf(world);
        },
      },
    );
    const code = `${name.slice(0, -1)}_stale`;
    t.match(outcome, { ok: false, made: [], refusals: [{ field: `${name}.0`, refusal: { code } }] }, name);
    t.strictSame(await documentsOf(world), stored, `${name}: nothing is changed`);
  }
});

t.test('what an API set survives a form that was open before', async (t) => {
  const world = await openOwned(t);
  const { registry, ada, post, revisionOf } = world;
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
  const typed = { ...RESOURCES.services.form.fields, name: 'Shop', period: '1d', grace: '' };
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
  const world = await openOwned(t);
  const { ada, post, revisionOf } = world;
  const path = '/dashboard/rules/1/save';
  const revision = (await revisionOf(path, ada)) ?? '';
  const wrong = await post(path, ada, { ...RESOURCES.rules.form.fields, name: '', revision });
  await post(path, ada, { ...RESOURCES.rules.form.fields, name: 'First' });
  t.match(wrong, { status: 400, text: new RegExp(`name="revision" value="${revision}"`) });
  const stale = await post(path, ada, { ...RESOURCES.rules.form.fields, name: 'Second', revision });
  t.match(stale, { status: 400, text: /changed elsewhere/ });
});
