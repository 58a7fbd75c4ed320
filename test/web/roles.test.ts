/** What each role of an account may see and send on the dashboard, over all its routes. */
import t from 'tap';
import { includesRole, ROLES, type Role } from '../../src/domain/role.ts';
import { incidentChanges } from '../../src/resources/incidents/incidents.ts';
import { maintenanceChanges } from '../../src/resources/maintenances/maintenances.ts';
import { NOW } from '../site/site-world.ts';
import { dashboard } from './dashboard-world.ts';

/** The role that each page needs. */
const PAGES: Readonly<Record<string, Role>> = {
  '/dashboard': 'viewer',
  '/dashboard/services/new': 'editor',
  '/dashboard/start': 'editor',
  '/dashboard/start/notify': 'editor',
  '/dashboard/services/:slug': 'viewer',
  '/dashboard/keys': 'owner',
  '/dashboard/webhooks': 'editor',
  '/dashboard/incidents': 'viewer',
  '/dashboard/incidents/:id': 'editor',
  '/dashboard/maintenances': 'viewer',
  '/dashboard/maintenances/:id': 'editor',
  '/dashboard/pages': 'viewer',
  '/dashboard/pages/:slug': 'editor',
  '/dashboard/members': 'viewer',
  '/dashboard/account': 'viewer',
  '/dashboard/channels': 'viewer',
  '/dashboard/channels/new/:kind': 'editor',
  '/dashboard/channels/:id': 'viewer',
  '/dashboard/rules': 'viewer',
  '/dashboard/rules/new': 'editor',
  '/dashboard/rules/:id': 'editor',
};

/** The role that each form needs. */
const FORMS: Readonly<Record<string, Role>> = {
  '/dashboard/keys/add': 'owner',
  '/dashboard/keys/revoke': 'owner',
  '/dashboard/domains/drop': 'editor',
  '/dashboard/alerts/acknowledge': 'editor',
  '/dashboard/notices/drop': 'editor',
  '/dashboard/services/new/save': 'editor',
  '/dashboard/start/watch': 'editor',
  '/dashboard/start/notify/:kind': 'editor',
  '/dashboard/services/:slug/save': 'editor',
  '/dashboard/services/:slug/address': 'editor',
  '/dashboard/services/:slug/badge': 'editor',
  '/dashboard/services/:slug/pause': 'editor',
  '/dashboard/services/:slug/resume': 'editor',
  '/dashboard/services/:slug/verify': 'editor',
  '/dashboard/services/:slug/delete': 'editor',
  '/dashboard/channels/new/:kind/save': 'editor',
  '/dashboard/channels/:id/save': 'editor',
  '/dashboard/channels/:id/test': 'editor',
  '/dashboard/channels/:id/rule': 'editor',
  '/dashboard/channels/:id/ask': 'editor',
  '/dashboard/channels/:id/replay': 'editor',
  '/dashboard/channels/:id/remove': 'editor',
  '/dashboard/rules/new/save': 'editor',
  '/dashboard/rules/:id/save': 'editor',
  '/dashboard/rules/:id/remove': 'editor',
  '/dashboard/incidents/add': 'editor',
  '/dashboard/incidents/:id/save': 'editor',
  '/dashboard/incidents/:id/update': 'editor',
  '/dashboard/incidents/:id/explain': 'editor',
  '/dashboard/incidents/:id/remove': 'editor',
  '/dashboard/maintenances/add': 'editor',
  '/dashboard/maintenances/:id/save': 'editor',
  '/dashboard/maintenances/:id/end': 'editor',
  '/dashboard/maintenances/:id/extend': 'editor',
  '/dashboard/maintenances/:id/skip': 'editor',
  '/dashboard/maintenances/:id/remove': 'editor',
  '/dashboard/webhooks/add': 'editor',
  '/dashboard/webhooks/remove': 'editor',
  '/dashboard/webhooks/test': 'editor',
  '/dashboard/webhooks/replay': 'editor',
  '/dashboard/pages/add': 'editor',
  '/dashboard/pages/:slug/save': 'editor',
  '/dashboard/pages/:slug/entry': 'editor',
  '/dashboard/pages/:slug/add': 'editor',
  '/dashboard/pages/:slug/arrange': 'editor',
  '/dashboard/pages/:slug/group': 'editor',
  '/dashboard/pages/:slug/rename': 'editor',
  '/dashboard/pages/:slug/favicon': 'editor',
  '/dashboard/pages/:slug/logo': 'editor',
  '/dashboard/pages/:slug/look': 'editor',
  '/dashboard/pages/:slug/domain': 'editor',
  '/dashboard/pages/:slug/verify': 'editor',
  '/dashboard/pages/:slug/unfavicon': 'editor',
  '/dashboard/pages/:slug/unlogo': 'editor',
  '/dashboard/pages/:slug/delete': 'editor',
  '/dashboard/members/invite': 'owner',
  '/dashboard/members/withdraw': 'owner',
  '/dashboard/members/role': 'owner',
  '/dashboard/members/remove': 'owner',
  '/dashboard/account/password': 'viewer',
  '/dashboard/account/password/remove': 'viewer',
  '/dashboard/account/codes': 'viewer',
  '/dashboard/account/passkeys': 'viewer',
  '/dashboard/account/passkeys/challenge': 'viewer',
  '/dashboard/account/passkeys/rename': 'viewer',
  '/dashboard/account/passkeys/remove': 'viewer',
  '/dashboard/account/sessions/end': 'viewer',
  // The last one, because it ends the session.
  '/dashboard/members/leave': 'viewer',
};

/** Routes of people, whatever their role is. */
const OTHERS = ['/dashboard/switch', '/invitations/:secret', '/invitations/:secret/accept'];

/** IDs of incidents and of maintenances by the number of the role that they are for. */
type Posted = readonly { readonly said: number; readonly work: number }[];

/** The path of a route with the slug of ada's service or page, or the ID of her channel, rule, incident or maintenance. */
const pathOf = (route: string, posted: Posted, id = 1) =>
  route
    .replace(':slug', route.includes('/pages/') ? 'acme' : 'mine')
    .replace(':kind', 'gotify')
    .replace('incidents/:id', `incidents/owner-${posted[id - 1]?.said}`)
    .replace('maintenances/:id', `maintenances/m${posted[id - 1]?.work}`)
    .replace(':id', String(id));

async function setUp(t: import('tap').Test) {
  const world = await dashboard(t, []);
  const { registry, ada, join } = world;
  await registry.addPage({ accountId: ada.id, slug: 'acme', title: 'Acme', text: '', groups: [], now: NOW });
  const writer = { role: 'owner', accountId: ada.id } as const;
  const said = { title: 'Disks', pages: ['acme'] };
  const words = { registry, siteUrl: 'https://upbeat.test', now: () => NOW };
  const posted: { said: number; work: number }[] = [];
  // One for each role, because the forms remove them.
  for (const name of ROLES) {
    const settings = { server: 'https://push.example.com', token: 'hooks.example' };
    const owned = { accountId: ada.id, name, createdAt: NOW };
    await registry.addChannel({ ...owned, kind: 'gotify', language: 'en', settings, confirmedAt: NOW });
    const of = { own: true, services: [], categories: [], publicCategories: [], pages: [] };
    const timing = { afterMs: 0, repeatMs: null, quiet: null, enabled: true };
    await registry.addRule({ ...owned, of, events: ['down'], channels: [1], ...timing });
    const over = await incidentChanges.add(words, writer, { ...said, status: 'resolved', text: 'Over.' });
    const work = await maintenanceChanges.add(words, writer, { ...said, duration: '1h' });
    if (over.ok && work.ok) posted.push({ said: over.value.id, work: work.value.id });
  }
  await registry.addClaim(ada.id, { domain: 'new.example', kind: 'root', createdAt: NOW });
  const people = {
    owner: await join(ada.id, 'owner'),
    editor: await join(ada.id, 'editor'),
    viewer: await join(ada.id, 'viewer'),
  };
  return { ...world, people, posted };
}

/** Forms with a file. */
const IS_UPLOAD = /\/(logo|favicon)$/;

t.test('it lets each role see and send what the role permits, and nothing else', async (t) => {
  const { routes, people, posted, grace, call, post, upload } = await setUp(t);
  t.same(
    routes.map(({ path }) => path).sort(),
    [...Object.keys(PAGES), ...Object.keys(FORMS), ...OTHERS].sort(),
    'every route of the dashboard is listed here',
  );
  for (const [path, member] of Object.entries({ ...PAGES, ...FORMS }))
    t.strictSame(
      routes.find((route) => route.path === path)?.access,
      { member },
      `${path} declares its role`,
    );
  // From the lesser role, because the forms of the greater one change what is there.
  for (const [index, role] of ROLES.toReversed().entries()) {
    for (const [route, needed] of Object.entries(PAGES)) {
      const { status, code } = await call(pathOf(route, posted, index + 1), people[role]);
      t.same(
        [status, code],
        includesRole(role, needed) ? [200, ''] : [0, 'forbidden_role'],
        `${role} sees ${route}`,
      );
    }
    for (const [route, needed] of Object.entries(FORMS)) {
      const path = pathOf(route, posted, index + 1);
      const use = IS_UPLOAD.exec(path)?.[1];
      const sent = use
        ? upload(path, people[role], new Uint8Array(), {}, use)
        : post(path, people[role], { id: '1', domain: 'new.example' });
      // Forms that need a name server or a service of the registry fail here when they are permitted.
      const code = await sent.then(
        (answer) => answer.code,
        () => 'failed',
      );
      t.equal(code === 'forbidden_role', !includesRole(role, needed), `${role} sends ${route}: ${code}`);
    }
  }
  for (const [route] of Object.entries({ ...PAGES, ...FORMS })) {
    if (!route.includes(':slug')) continue;
    const path = pathOf(route, posted);
    const { code } =
      route in PAGES
        ? await call(path, grace)
        : await post(path, grace, {}).catch(() => ({ code: 'failed' }));
    if (!IS_UPLOAD.test(path))
      t.match(code, /^(service|page)_not_found$/, `an owner of another account finds no ${path}`);
  }
  for (const route of Object.keys(FORMS)) {
    if (IS_UPLOAD.test(route)) continue;
    t.match(await post(pathOf(route, posted), null, {}), { code: 'forbidden_form' }, `nobody sends ${route}`);
  }
});

t.test('it shows no form that the role may not send, and nothing secret', async (t) => {
  const { registry, people, posted, ada, call } = await setUp(t);
  const secret = 'whsec_c2VjcmV0';
  await registry.addWebhook({ accountId: ada.id, url: 'https://hooks.example/x', secret, createdAt: NOW });
  const forms = Object.entries(FORMS).map(([route, needed]) => ({ path: pathOf(route, posted), needed }));
  const shown: Record<Role, number> = { owner: 0, editor: 0, viewer: 0 };
  // What people sign in with is their own, whatever their role.
  const pages = Object.keys(PAGES).filter((path) => path !== '/dashboard/account');
  for (const role of ROLES) {
    for (const route of pages) {
      const { text } = await call(pathOf(route, posted), people[role]);
      t.notMatch(text, /\bundefined\b|\[object /, `${route} for ${role}`);
      for (const [, action = ''] of text.matchAll(
        /(?:form method="post"|class="[^"]*" method="post"|id="texts" method="post") action="([^"]+)"/g,
      )) {
        if (action.startsWith('/sign-out')) continue;
        const first = action
          .replace(/(?<=\/channels\/)\d+/, '1')
          .replace(/(?<=\/incidents\/owner-)\d+/, `${posted[0]?.said}`)
          .replace(/(?<=\/maintenances\/m)\d+/, `${posted[0]?.work}`);
        const form = forms.find(({ path }) => path === first);
        t.ok(form !== undefined && includesRole(role, form.needed), `${role} is shown ${action} on ${route}`);
        shown[role] += 1;
      }
      t.equal(text.split('method="post"').length - 1, text.split(/method="post" action="/).length - 1);
      if (role === 'viewer')
        t.notMatch(text, /hooks\.example|UPBEAT_KEY|<input(?! type="hidden" name="token")/);
    }
  }
  t.equal(shown.viewer, 1, 'the form that leaves the account');
  t.ok(shown.editor > 10);
  t.ok(shown.owner > shown.editor);
});

t.test('a member who is removed or gets another role feels it at the next request', async (t) => {
  const { registry, people, ada, call, post } = await setUp(t);
  const { editor } = people;
  await registry.setRole(ada.id, editor.personId, 'viewer');
  t.match(await post('/dashboard/pages/acme/save', editor, {}), { code: 'forbidden_role' });
  await registry.removeMember(ada.id, editor.personId);
  t.match(await call('/dashboard', editor), { status: 303, location: '/sign-in' });
  t.match(await post('/dashboard/pages/acme/save', editor, {}), { code: 'forbidden_form' });
});
