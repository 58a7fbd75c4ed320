/** The same refusal by a form of the dashboard over HTTP and by the command line, of the program as it runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { describeRefusal, type Refusal } from '../../src/domain/refusal.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { PICTURE_BOUNDS } from '../../src/domain/status-page.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { escapeMarkup } from '../../src/language/phrase.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { runCommandHere } from '../cli/run-command.ts';
import { pngOf } from '../support/pictures.ts';
import { install } from '../support/program.ts';

t.setTimeout(300_000);

interface Row {
  readonly refusal: Refusal;
  /** A form of the dashboard with its fields, sent by `who`; null: no form can come to it. */
  readonly form: {
    readonly path: string;
    readonly fields: Record<string, string>;
    readonly who?: 'busy';
  } | null;
  /** The exit status and the command; null: no command can come to it. */
  readonly command: readonly [status: 1 | 2, ...words: string[]] | null;
}

/** The program with a catalogue of one, and ada, who has a service and pages; others have what she cannot have. */
async function setUp() {
  const installation = await install([{ slug: 'github', name: 'GitHub', check: { kind: 'root' } }], {
    checks: { controlTargets: [] },
    limits: { domainsPerAccount: 500 },
  });
  const program = await installation.start();
  const dataDir = join(installation.folder, 'data');
  const registry = await openRegistry({
    dataDir,
    clock: systemClock,
    log: silentLog,
    domainsPerAccount: 500,
  });
  t.teardown(async () => {
    await registry.close();
    await program.killHard();
    installation.remove();
  });
  const now = Date.now();
  const account = async (name: string) => (await registry.ensureAccount(name, now)).id;
  const [ada, grace, busy] = [await account('ada'), await account('grace'), await account('busy')];
  const sessions = createSessions({ registry, clock: systemClock });
  const signIn = async (accountId: number) => {
    const identity = { provider: 'acme', subject: String(accountId), name: 'someone' };
    const person = await registry.linkIdentity(accountId, identity, now);
    const { token } = await sessions.open(person.id);
    return {
      cookie: `${createSiteCookie(installation.siteUrl).name}=${token}`,
      token: (await sessions.find(token))?.formToken ?? '',
    };
  };
  const people = { ada: await signIn(ada), busy: await signIn(busy) };
  const service = (domain: string, accountId: number) => ({
    ...({ name: domain, domain, category: 'developer', origin: 'owner', accountId, verified: true } as const),
    ...({ paused: true, check: { ...DEFAULT_CHECK, kind: 'heartbeat' }, statusPage: null } as const),
  });
  const many = Array.from({ length: 101 }, (_, index) => service(`n${index}.example.com`, ada));
  await registry.addServices([service('mine.example.com', ada), service('hers.example.com', grace), ...many]);
  const states = await registry.loadServices();
  const idOf = (slug: string) => states.find((state) => state.service.slug === slug)?.service.id ?? 0;
  const page = (accountId: number, slug: string, groups: { name: string; services: number[] }[] = []) =>
    registry.addPage({ accountId, slug, title: slug, text: '', groups, now });
  await page(ada, 'acme', [{ name: '', services: [idOf('mine-example-com')] }]);
  await page(
    ada,
    'groups',
    Array.from({ length: 20 }, (_, index) => ({ name: `${index}`, services: [] })),
  );
  await page(ada, 'full', [
    { name: '', services: Array.from({ length: 100 }, (_, index) => idOf(`n${index}-example-com`)) },
  ]);
  await page(grace, 'taken');
  for (let index = 0; index < 20; index++) await page(busy, `busy-${index}`);
  const hook = (url: string) =>
    registry.addWebhook({ accountId: busy, url, secret: 'whsec_c2VjcmV0', createdAt: now });
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const sha256 = new Uint8Array(32).fill(index);
      const key = { accountId: busy, name: 'k', prefix: 'upb_', sha256, createdAt: now, expiresAt: null };
      await registry.createKey(key);
      await registry.addClaim(busy, { domain: `w${index}.example.com`, kind: 'root', createdAt: now });
      if (index < 10) await hook(`https://hooks.example/${index}`);
    }),
  );
  await program.until('/api/v1/services?limit=1', ({ total }: { total: number }) => total > 103);

  const send = async (path: string, body: URLSearchParams | FormData, who: keyof typeof people) => {
    body.append('token', people[who].token);
    body.append('confirmed', 'yes');
    const headers = { cookie: people[who].cookie };
    const response = await fetch(installation.siteUrl + path, {
      ...{ method: 'POST', body, headers, redirect: 'manual' },
    });
    return { status: response.status, text: await response.text() };
  };
  const run = (words: readonly string[]) =>
    runCommandHere([...words, '--config', join(installation.folder, 'upbeat.yaml')]);
  const write = (name: string, bytes: string | Uint8Array) => {
    const file = join(installation.folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  return { send, run, write, registry, ada };
}

const NEW_PAGE = ['--account-id', '1', '--title', 'Anew'];
const long = 'x'.repeat(121);

const SAVE = { revision: '1', name: 'Mine', category: 'developer', kind: 'heartbeat', period: '', grace: '' };
const save = (fields: Record<string, string>) => ({
  path: '/dashboard/services/mine-example-com/save',
  fields: { ...SAVE, ...fields },
});
const set = (...words: string[]) => ['services', 'set', 'mine-example-com', ...words];
const newPage = (fields: Record<string, string>) => ({
  path: '/dashboard/pages/add',
  fields: { slug: 'anew', title: 'Anew', ...fields },
});
const ofPage = (slug: string, action: string, fields: Record<string, string>) => ({
  path: `/dashboard/pages/${slug}/${action}`,
  fields: { revision: '1', ...fields },
});
const groups = (...texts: string[]) => [
  ...['pages', 'add', 'anew', ...NEW_PAGE],
  ...texts.flatMap((text) => ['--group', text]),
];

const TABLE: readonly Row[] = [
  {
    refusal: { code: 'key_name_missing' },
    form: { path: '/dashboard/keys/add', fields: { name: ' ', expires: '30d' } },
    command: [2, 'keys', 'create', '--account-id', '1', '--name', ' '],
  },
  {
    refusal: { code: 'name_invalid', problem: { code: 'length', maxLength: 100 } },
    form: { path: '/dashboard/keys/add', fields: { name: long, expires: '30d' } },
    command: [2, 'keys', 'create', '--account-id', '1', '--name', long],
  },
  { refusal: { code: 'service_name_missing' }, form: save({ name: '' }), command: [2, ...set('--name', '')] },
  {
    refusal: { code: 'name_invalid', problem: { code: 'character', character: 'U+202E' } },
    form: save({ name: 'a\u202eb' }),
    command: [2, ...set('--name', 'a\u202eb')],
  },
  {
    refusal: { code: 'scopes_invalid' },
    form: { path: '/dashboard/keys/add', fields: { name: 'laptop', expires: '30d', scopes: 'read all' } },
    command: [2, 'keys', 'create', '--account', 'ada', '--name', 'laptop', '--scope', 'all'],
  },
  {
    refusal: { code: 'lifetime_invalid' },
    form: { path: '/dashboard/keys/add', fields: { name: 'x', expires: 'constructor' } },
    command: [2, 'keys', 'create', '--account-id', '1', '--name', 'x', '--expires', 'constructor'],
  },
  {
    refusal: { code: 'too_many_keys', max: 100 },
    form: { path: '/dashboard/keys/add', fields: { name: 'x' }, who: 'busy' },
    command: null,
  },
  {
    refusal: { code: 'no_key', id: 9_999 },
    form: { path: '/dashboard/keys/revoke', fields: { id: '9999' } },
    command: [1, 'keys', 'revoke', '9999'],
  },
  {
    refusal: { code: 'no_account', account: '99' },
    form: null,
    command: [1, 'keys', 'create', '--account-id', '99', '--name', 'x'],
  },
  {
    refusal: { code: 'domain_invalid', problem: { code: 'one_label' } },
    form: { path: '/dashboard/services/new/save', fields: { domain: 'localhost', kind: 'root' } },
    command: [1, 'services', 'add', 'localhost', '--account-id', '1'],
  },
  {
    refusal: { code: 'kind_invalid' },
    form: { path: '/dashboard/services/new/save', fields: { domain: 'a.example.com', kind: 'push' } },
    command: null,
  },
  {
    refusal: { code: 'too_many_claims', max: 100 },
    form: {
      path: '/dashboard/services/new/save',
      fields: { domain: 'hers.example.com', kind: 'root' },
      who: 'busy',
    },
    command: null,
  },
  {
    refusal: { code: 'domain_taken', domain: 'hers.example.com', free: null },
    form: null,
    command: [1, 'services', 'add', 'hers.example.com', '--account-id', '1'],
  },
  {
    refusal: { code: 'catalogue_owns', domain: 'api.github.example', parent: 'github.example' },
    form: null,
    command: [1, 'services', 'add', 'api.github.example', '--account-id', '1'],
  },
  {
    refusal: { code: 'name_taken', name: 'GitHub', other: 'GitHub' },
    form: save({ name: 'GitHub' }),
    command: [1, ...set('--name', 'GitHub')],
  },
  {
    refusal: { code: 'category_invalid' },
    form: save({ category: 'constructor' }),
    command: [2, ...set('--category', 'constructor')],
  },
  {
    refusal: { code: 'duration_invalid' },
    form: save({ grace: 'soon' }),
    command: [2, ...set('--grace', 'soon')],
  },
  {
    refusal: { code: 'duration_invalid' },
    form: save({ period: '2y' }),
    command: [2, ...set('--period', '2y')],
  },
  {
    refusal: { code: 'schedule_invalid', never: false },
    form: save({ schedule: 'every day' }),
    command: [2, ...set('--schedule', 'every day')],
  },
  {
    refusal: { code: 'timezone_invalid' },
    form: save({ schedule: '@daily', timezone: 'Mars' }),
    command: [2, ...set('--schedule', '@daily', '--timezone', 'Mars')],
  },
  {
    refusal: { code: 'period_and_schedule' },
    form: save({ period: '1h', schedule: '@daily' }),
    command: [1, ...set('--period', '1h', '--schedule', '@daily')],
  },
  {
    refusal: { code: 'timezone_alone' },
    form: null,
    command: [1, ...set('--timezone', 'UTC')],
  },
  {
    refusal: { code: 'no_owned_service', slug: 'github' },
    form: null,
    command: [1, 'services', 'remove', 'github'],
  },
  {
    refusal: { code: 'no_owned_service', slug: 'nothing' },
    form: null,
    command: [1, 'services', 'set', 'nothing', '--paused'],
  },
  {
    refusal: { code: 'page_slug_invalid', minLength: 3, maxLength: 60 },
    form: newPage({ slug: 'not a slug' }),
    command: [2, 'pages', 'add', 'not a slug', ...NEW_PAGE],
  },
  {
    refusal: { code: 'page_slug_reserved', slug: 'api' },
    form: newPage({ slug: 'API' }),
    command: [2, 'pages', 'add', 'API', ...NEW_PAGE],
  },
  {
    refusal: { code: 'page_slug_taken', slug: 'taken' },
    form: newPage({ slug: 'taken' }),
    command: [1, 'pages', 'add', 'taken', ...NEW_PAGE],
  },
  {
    refusal: { code: 'page_slug_of_service', slug: 'github', name: 'GitHub' },
    form: newPage({ slug: 'github' }),
    command: [1, 'pages', 'add', 'github', ...NEW_PAGE],
  },
  {
    refusal: { code: 'too_many_pages', max: 20 },
    form: { ...newPage({}), who: 'busy' },
    command: [1, 'pages', 'add', 'anew', '--account-id', '3', '--title', 'Anew'],
  },
  {
    refusal: { code: 'page_title_missing' },
    form: newPage({ title: ' ' }),
    command: [2, 'pages', 'add', 'anew', '--account-id', '1', '--title', ' '],
  },
  {
    refusal: { code: 'page_text_too_long', field: 'title', maxLength: 120, length: 121 },
    form: newPage({ title: long }),
    command: [2, 'pages', 'add', 'anew', '--account-id', '1', '--title', long],
  },
  {
    refusal: { code: 'page_text_character', field: 'text', character: 'U+0007' },
    form: ofPage('acme', 'save', { title: 'Acme', text: '\u0007' }),
    command: [2, 'pages', 'add', 'anew', ...NEW_PAGE, '--text', '\u0007'],
  },
  {
    refusal: { code: 'no_page_service', slug: 'hers-example-com' },
    form: ofPage('acme', 'add', { service: 'hers-example-com' }),
    command: [1, ...groups('Web: github, hers-example-com')],
  },
  {
    refusal: { code: 'page_has_service' },
    form: ofPage('acme', 'add', { service: 'mine-example-com' }),
    command: [2, ...groups('mine-example-com', 'Again: mine-example-com')],
  },
  {
    refusal: { code: 'page_services_full', max: 100 },
    form: ofPage('full', 'add', { service: 'github' }),
    command: [2, ...groups(Array.from({ length: 101 }, (_, index) => `n${index}-example-com`).join())],
  },
  {
    refusal: { code: 'page_groups_full', max: 20 },
    form: ofPage('groups', 'group', { group_name: 'One more' }),
    command: [2, ...groups(...Array.from({ length: 21 }, () => 'g:'))],
  },
  {
    refusal: { code: 'page_text_too_long', field: 'group', maxLength: 80, length: 121 },
    form: ofPage('acme', 'rename', { group: '0', name: long }),
    command: [2, ...groups(`${long}:`)],
  },
  {
    refusal: { code: 'page_group_name_missing' },
    form: ofPage('acme', 'group', { group_name: ' ' }),
    command: null,
  },
  {
    refusal: { code: 'page_stale' },
    form: ofPage('acme', 'save', { title: 'Acme', text: '', revision: '7' }),
    command: null,
  },
  { refusal: { code: 'no_page', slug: 'nothing' }, form: null, command: [1, 'pages', 'remove', 'nothing'] },
  {
    refusal: { code: 'webhook_url_invalid' },
    form: { path: '/dashboard/webhooks/add', fields: { url: 'https://user:word@hooks.example/' } },
    command: null,
  },
  {
    refusal: { code: 'too_many_webhooks', max: 10 },
    form: { path: '/dashboard/webhooks/add', fields: { url: 'https://hooks.example/' }, who: 'busy' },
    command: null,
  },
  ...(['remove', 'test'] as const).map((action) => ({
    // Of another account.
    refusal: { code: 'no_webhook', id: 1 } as const,
    form: { path: `/dashboard/webhooks/${action}`, fields: { id: '1' } },
    command: null,
  })),
  {
    refusal: { code: 'no_delivery', id: 1 },
    form: { path: '/dashboard/webhooks/replay', fields: { id: '1' } },
    command: null,
  },
];

const { send, run, write, registry, ada } = await setUp();

t.test('it refuses the same by form and by command, with the same sentence', async (t) => {
  for (const { refusal, form, command } of TABLE) {
    const sentence = describeRefusal(refusal);
    if (form !== null) {
      const { status, text } = await send(form.path, new URLSearchParams(form.fields), form.who ?? 'ada');
      t.equal(status, 400, `${refusal.code} by ${form.path}`);
      t.ok(text.includes(`role="alert">${escapeMarkup(sentence)}`), `${form.path}: ${sentence}`);
    }
    if (command !== null) {
      const [expected, ...words] = command;
      const { status, stdout, stderr } = await run(words);
      t.strictSame([status, stdout], [expected, ''], `${refusal.code} by ${words.join(' ').slice(0, 80)}`);
      t.ok(stderr.startsWith(`upbeat: ${sentence}`), `${stderr}: ${sentence}`);
    }
  }
  const pictures: readonly (readonly [Refusal, string | Uint8Array])[] = [
    [{ code: 'picture_missing' }, ''],
    [
      { code: 'picture_svg', formats: PICTURE_BOUNDS.logo.formats },
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    [{ code: 'picture_unreadable', formats: PICTURE_BOUNDS.logo.formats }, 'hello'],
    [{ code: 'picture_dimensions', min: 16, max: 2_048, width: 8, height: 64 }, pngOf(8, 64)],
    [{ code: 'picture_too_large', maxBytes: 262_144 }, new Uint8Array(262_145)],
  ];
  for (const [refusal, bytes] of pictures) {
    const sentence = describeRefusal(refusal);
    const body = new FormData();
    body.append('revision', '1');
    body.append('logo', new Blob([Buffer.from(bytes)]), 'logo.png');
    const { status, text } = await send('/dashboard/pages/acme/logo', body, 'ada');
    t.equal(status, 400, refusal.code);
    t.ok(text.includes(escapeMarkup(sentence)), sentence);
    const words = ['pages', 'add', 'anew', ...NEW_PAGE, '--logo', write('logo', bytes)];
    t.match(await run(words), { status: 1, stdout: '', stderr: `upbeat: ${sentence}\n` }, sentence);
  }
  t.equal(await registry.findPage('anew'), null, 'nothing was made');
  t.strictSame(await registry.listKeys(ada), []);
  t.match(await registry.findPage('acme'), { revision: 1, logo: null });
});

t.test('it names every field of a form that is refused', async (t) => {
  const { status, text } = await send(
    '/dashboard/services/mine-example-com/save',
    new URLSearchParams({ ...SAVE, name: ' ', period: 'x', grace: 'y' }),
    'ada',
  );
  t.equal(status, 400);
  t.same(
    [...text.matchAll(/aria-describedby="problem-save-(\w+)"( autofocus)?/g)].map(([, field, focus]) => [
      field,
      focus !== undefined,
    ]),
    [
      ['name', true],
      ['period', false],
      ['grace', false],
    ],
  );
  t.match(await run(set('--period', '1h', '--grace', '5m')), { status: 0 });
  t.match(await run(set('--period', 'default')), { status: 0, stderr: 'mine-example-com is changed\n' });
});
