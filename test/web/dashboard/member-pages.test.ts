/** Invitations to accounts and the switch between accounts: who may do what, and the attacks on them. */
import t from 'tap';
import { NOW } from '../../site/site-world.ts';
import { dashboard } from '../dashboard-world.ts';

async function setUp(t: import('tap').Test) {
  const world = await dashboard(t);
  const { ada, post, registry } = world;
  /** Invites by the form; the path of the invitation. */
  const invite = async (role = 'editor', who = ada, fields: Record<string, string> = {}) => {
    const { text } = await post('/dashboard/members/invite', who, { role, ...fields });
    return /\/invitations\/[\w-]{43}/.exec(text)?.[0] ?? '';
  };
  const rolesIn = async (accountId: number) =>
    (await registry.membersOf(accountId)).map(({ name, role }) => `${name}: ${role}`);
  return { ...world, invite, rolesIn };
}

t.test('a person who is invited accepts by a form, and switches between accounts', async (t) => {
  const { ada, grace, call, post, invite, rolesIn, registry } = await setUp(t);
  const path = await invite();
  const visitor = await call(path, null);
  t.match(visitor, { status: 200, text: /ada invites you to the account ada\./ });
  t.match(visitor.text, /href="\/sign-in"/);
  t.notMatch(visitor.text, /accept"/, 'a visitor cannot accept');
  const back = await call('/dashboard', grace, { headers: { cookie: `${visitor.cookie}; ${grace.cookie}` } });
  t.match(back, { status: 303, location: path }, 'after signing in');
  t.match(back.cookie, /^upbeat-invitation=$/, 'and only once');
  t.match(await call(path, grace), {
    status: 200,
    text: /You are signed in as grace\..*<form method="post"/s,
  });
  t.same(await rolesIn(ada.id), ['ada: owner'], 'a request for the page accepts nothing');
  t.match(await post(`${path}/accept`, grace, {}), { status: 303, location: '/dashboard' });
  t.same(await rolesIn(ada.id), ['ada: owner', 'grace: editor']);

  const home = await call('/dashboard', grace);
  t.match(home.text, /ada, Editor<\/span>.*action="\/dashboard\/switch"/s);
  t.match(
    await post('/dashboard/switch', grace, { account: String(grace.id) }),
    { code: 'forbidden_form' },
    'the form of the account before',
  );
  const renewed = await grace.renew();
  t.match(await post('/dashboard/switch', renewed, { account: String(grace.id) }), {
    location: '/dashboard',
  });
  t.match((await call('/dashboard', grace)).text, /grace, Owner<\/span>/);
  const again = await grace.renew();
  for (const account of ['999', '', 'x', '1e3'])
    t.match(await post('/dashboard/switch', again, { account }), { code: 'forbidden_role' }, account);
  t.match(await registry.membershipsOf(grace.personId), [{ role: 'editor' }, { role: 'owner' }]);
  const german = await call(path, null, { headers: { 'accept-language': 'de' } });
  t.match(german, { status: 404, text: /Diese Einladung ist abgelaufen/ });
});

t.test('an invitation is of no use to others', async (t) => {
  const { ada, grace, join, call, post, invite, rolesIn } = await setUp(t);
  const path = await invite('owner');
  const eve = await join(grace.id, 'viewer', 'eve');
  t.match(await call(path, grace), { status: 200 });
  const unknown = await call(`/invitations/${'A'.repeat(43)}`, eve);
  t.match(unknown, { status: 404 });
  t.equal((await call(path, eve)).text, unknown.text, 'bound to grace: as if there were none');
  t.equal((await call('/invitations/x', eve)).text, unknown.text);
  t.match(await call(path, null), { status: 404 });
  t.match(await post(`${path}/accept`, eve, {}), { status: 400 });
  t.match(await post(`${path}/accept`, null, {}), { code: 'forbidden_form' });
  t.match(
    await post(`${path}/accept`, grace, { token: eve.token }),
    { code: 'forbidden_form' },
    'a form of another session',
  );
  t.match(
    await call(`${path}/accept`, grace),
    { code: 'method_not_allowed' },
    'a link preview accepts nothing',
  );
  t.same(await rolesIn(ada.id), ['ada: owner']);
  t.match(await post(`${path}/accept`, grace, { role: 'owner', account: String(eve.id) }), { status: 303 });
  t.match(
    await post(`${path}/accept`, await grace.renew(), {}),
    { status: 400, text: /has expired, was used/ },
    'replay',
  );
  t.same(await rolesIn(ada.id), ['ada: owner', 'grace: owner']);
});

t.test('nobody gets more than the owner gave', async (t) => {
  const { ada, grace, join, call, post, invite, rolesIn, registry } = await setUp(t);
  const [editor, viewer] = [await join(ada.id, 'editor'), await join(ada.id, 'viewer')];
  for (const who of [editor, viewer]) {
    t.equal(await invite('owner', who), '');
    t.match(await post('/dashboard/members/invite', who, { role: 'viewer' }), { code: 'forbidden_role' });
    const self = { person: String(who.personId), role: 'owner' };
    t.match(await post('/dashboard/members/role', who, self), { code: 'forbidden_role' });
    t.match(await post('/dashboard/members/remove', who, { person: String(ada.personId) }), {
      code: 'forbidden_role',
    });
  }
  for (const role of ['admin', '', 'constructor', 'Owner', 'operator'])
    t.match(
      await post('/dashboard/members/invite', ada, { role }),
      { status: 400, text: /no such role/ },
      role,
    );
  const path = await invite('viewer', ada, {
    account: String(grace.id),
    accountId: String(grace.id),
    inviterId: String(grace.personId),
  });
  t.match(
    (await call(path, grace)).text,
    /ada invites you to the account ada\..*Viewer/s,
    'the form cannot name another account',
  );
  t.match(await post(`${path}/accept`, grace, { role: 'owner' }), { status: 303 });
  t.ok((await rolesIn(ada.id)).includes('grace: viewer'));
  const [own] = await registry.invitationsOf(ada.id, NOW);
  t.equal(own, undefined);
  const upward = await invite('owner');
  await call(upward, viewer);
  t.match(await post(`${upward}/accept`, viewer, {}), {
    status: 400,
    text: /a member of this account already/,
  });
  const [open] = await registry.invitationsOf(ada.id, NOW);
  const stranger = await join((await registry.ensureAccount('other', NOW)).id, 'owner', 'eve');
  await registry.linkIdentity(stranger.id, { provider: 'acme', subject: 'mallory', name: 'mallory' }, NOW);
  t.match(await post('/dashboard/members/withdraw', stranger, { id: String(open?.id) }), { status: 400 });
  t.match(await post('/dashboard/members/remove', stranger, { person: String(ada.personId) }), {
    status: 400,
    text: /no member/,
  });
  t.equal((await registry.invitationsOf(ada.id, NOW)).length, 1);
  t.match(await post('/dashboard/members/withdraw', ada, { id: String(open?.id) }), { status: 303 });
  t.match(await call(upward, viewer), { status: 404 }, 'withdrawn');
});

t.test('an account keeps an owner, and the invitations of a former owner end', async (t) => {
  const { ada, grace, join, call, post, invite, rolesIn } = await setUp(t);
  const other = await join(ada.id, 'owner', 'other');
  const path = await invite('owner', other);
  const self = { person: String(ada.personId), role: 'viewer' };
  t.match(await post('/dashboard/members/role', ada, { ...self, person: String(other.personId) }), {
    status: 303,
  });
  t.match(await call(path, grace), { status: 404 }, 'a former owner cannot return by an invitation');
  const opened = { person: String(other.personId), seen: 'owner', role: 'editor' };
  t.match(await post('/dashboard/members/role', ada, opened), {
    status: 400,
    text: /The role of this member was changed elsewhere in the meantime\./,
  });
  t.same(await rolesIn(ada.id), ['ada: owner', 'other: viewer']);
  t.match((await call('/dashboard/members', ada)).text, /name="seen" value="viewer"/);
  t.match(await post('/dashboard/members/role', ada, self), { status: 400, text: /keeps an owner/ });
  t.match(await post('/dashboard/members/leave', ada, {}), { status: 400, text: /keeps an owner/ });
  t.match(await post('/dashboard/members/remove', ada, self), { status: 400, text: /keeps an owner/ });
  t.match(await post('/dashboard/members/leave', other, {}), { status: 303, location: '/sign-in' });
  t.match(await call('/dashboard', other), { status: 303, location: '/sign-in' });
  t.same(await rolesIn(ada.id), ['ada: owner']);
});

t.test(
  'a person who leaves an account goes on in another one, and the account hears which keys stay',
  async (t) => {
    const { ada, grace, call, post, invite, registry } = await setUp(t);
    await post('/dashboard/keys/add', ada, { name: 'ci', expires: '90d' });
    const path = await invite('owner');
    await call(path, grace);
    t.match(await post(`${path}/accept`, grace, {}), { status: 303 });
    t.match((await call('/dashboard', grace)).text, /ada, Owner<\/span>/);
    const left = await post('/dashboard/members/leave', await grace.renew(), {});
    t.match(left, { status: 303, location: '/dashboard' });
    t.not(left.cookie, grace.cookie);
    t.match((await call('/dashboard', { ...grace, cookie: left.cookie })).text, /grace, Owner<\/span>/);
    t.match(
      await call('/dashboard', grace),
      { status: 303, location: '/sign-in' },
      'the session of before has ended',
    );
    const notice =
      'grace is an owner of the account no longer. Keys belong to the account, and its valid keys (1) stay';
    t.ok((await call('/dashboard', ada)).text.includes(notice));
    t.match(
      (await registry.listKeys(ada.id)).map(({ revokedAt }) => revokedAt),
      [null],
    );
  },
);

t.test('the page of an invitation cannot be framed, cached, indexed or told to other sites', async (t) => {
  const { routes, invite, grace } = await setUp(t);
  const secret = (await invite()).split('/').at(-1) ?? '';
  const route = routes.find(({ path }) => path === '/invitations/:secret');
  for (const cookie of ['', grace.cookie]) {
    const request = {
      method: 'GET',
      params: { secret },
      query: '',
      headers: { cookie },
      client: '203.0.113.1',
    };
    const answer = await route?.handle?.(request);
    t.match(answer?.headers, {
      'X-Frame-Options': 'DENY',
      'Content-Security-Policy': /frame-ancestors 'none'/,
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      'X-Robots-Tag': 'noindex',
    });
  }
});
