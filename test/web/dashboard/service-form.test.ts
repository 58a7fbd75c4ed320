/** The form of a service: what is wrong with it, who sees it, and the trial of its check. */
import t from 'tap';
import type { CheckTarget } from '../../../src/domain/check-target.ts';
import { failureOf } from '../../../src/domain/failure.ts';
import { DEFAULT_CHECK, MONITORING_KINDS } from '../../../src/domain/service.ts';
import { NOW } from '../../site/site-world.ts';
import { owned } from '../../store/registry-fixtures.ts';
import { goodAttempt } from '../../support/attempts.ts';
import { dashboard } from '../dashboard-world.ts';
import { chosen, fieldOf } from './form-fields.ts';

const hasNotice = (text: string) => /class="card notice" role="alert"/.test(text);

t.test('a check is tried once without being saved, within a limit', async (t) => {
  const targets: CheckTarget[] = [];
  const failure = failureOf('status', 'first_byte', { code: 'status', statusCode: 503 });
  const { registry, ada, post } = await dashboard(t, undefined, {
    async tryCheck(target) {
      targets.push(target);
      return target.domain === 'down.example.com'
        ? goodAttempt({ statusCode: 503, failure })
        : goodAttempt({ responseTimeMs: 84 });
    },
  });
  const path = '/dashboard/services/new/save';
  const typed = { domain: 'api.example.com', kind: 'http', 'settings.path': '/v1', try: 'yes' };
  const { status, text } = await post(path, ada, { ...typed, 'settings.token': 's3cret' });
  t.equal(status, 200);
  t.match(text, /Tried once:.*pill up.*HTTP 200, 84\sms.*Nothing has been saved/s);
  t.notMatch(text, /s3cret/);
  t.equal(fieldOf(text, 'settings.path').value, '/v1');
  t.match(targets, [
    {
      ...{ domain: 'api.example.com', origin: 'owner', accountId: ada.id },
      check: { kind: 'http', settings: { path: '/v1', token: 's3cret' } },
    },
  ]);
  t.match(await post(path, ada, { ...typed, domain: 'down.example.com' }), {
    text: /pill down.*HTTP 503.*503/s,
  });
  t.match(await post(path, ada, { ...typed, domain: '' }), { status: 400, text: /The domain / });
  t.equal(targets.length, 2, 'what cannot be read is not tried');
  t.match(await post('/dashboard/services/mine/save', ada, { ...typed, name: 'Mine' }), {
    status: 200,
    text: /Tried once/,
  });
  for (let count = targets.length; count < 10; count++) await post(path, ada, typed);
  t.match(await post(path, ada, typed), { status: 400, text: /Too many trials/ });
  t.equal(targets.length, 10);
  t.same(await registry.servicesOf(ada.id), []);
});

t.test('the form of a service says who sees it', async (t) => {
  const { ada, call, post, directory, registry } = await dashboard(t);
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  const add = (more: Record<string, string>) =>
    post('/dashboard/services/new/save', ada, { domain: 'shop.example', kind: 'root', ...more });
  t.match((await call('/dashboard/services/new', ada)).text, /name="visibility" value="" checked/);
  t.equal((await add({ visibility: '' })).status, 303);
  const path = '/dashboard/services/shop-example';
  t.match((await call(path, ada)).text, /name="visibility" value="public" checked/);
  const fields = { name: 'Shop', category: 'cloud', kind: 'root' };
  t.equal((await post(`${path}/save`, ada, { ...fields, visibility: 'private' })).status, 303);
  t.match(await registry.servicesOf(ada.id), [{ visibility: 'private' }]);
  t.match((await call(path, ada)).text, /name="visibility" value="private" checked/);
  t.match(await post(`${path}/save`, ada, { ...fields, visibility: 'secret' }), {
    status: 400,
    text: /id="problem-save-visibility"/,
  });
});

t.test('it says beside a field of a service what is wrong, and keeps what was written', async (t) => {
  const { ada, post, registry } = await dashboard(t);
  await registry.addService(owned('mine.example', ada.id, { slug: 'mine', name: 'Mine' }));
  const fields = {
    name: 'Mine anew',
    category: 'cloud',
    kind: 'heartbeat',
    period: '5m',
    grace: 'soon',
    dependencies: 'public',
  };
  const { status, text } = await post('/dashboard/services/mine/save', ada, fields);
  t.equal(status, 400);
  t.match(fieldOf(text, 'grace'), { value: 'soon', problem: /durations/ });
  t.equal(fieldOf(text, 'period').problem, null);
  t.same([fieldOf(text, 'name').value, fieldOf(text, 'period').value], ['Mine anew', '5m']);
  t.same(
    ['category', 'kind', 'dependencies'].map((name) => chosen(text, name)),
    ['cloud', 'heartbeat', 'public'],
  );
  t.equal(hasNotice(text), false);
  const gone = await post('/dashboard/services/mine/delete', ada, { confirm: 'other.example' });
  t.match(fieldOf(gone.text, 'confirm'), {
    value: 'other.example',
    problem: /enter its domain: mine\.example/,
  });
});

t.test('a service is added with the fields of its kind, whatever the kind', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  const form = await call('/dashboard/services/new?kind=tcp&domain=db.example.com', ada);
  t.match(fieldOf(form.text, 'domain'), { value: 'db.example.com' });
  t.equal(chosen(form.text, 'kind'), 'tcp');
  t.match(fieldOf(form.text, 'settings.port'), { value: '' });
  const [select = ''] = /<select name="kind"[\s\S]*?<\/select>/.exec(form.text) ?? [];
  const offered = [...select.matchAll(/<option value="([^"]*)"/g)].map(([, kind = '']) => kind);
  t.same([...offered].sort(), [...MONITORING_KINDS].sort());
  const tcp = { domain: 'db.example.com', kind: 'tcp' };
  const asked = await post('/dashboard/services/new/save', ada, tcp);
  t.match(asked, { status: 400, text: /is missing/ });
  t.same(await registry.servicesOf(ada.id), [], 'nothing is stored');
  t.match(
    await post('/dashboard/services/new/save', ada, { ...tcp, 'settings.port': '443', interval: '5m' }),
    {
      status: 303,
      location: '/dashboard/services/db-example-com?saved=new',
    },
  );
  t.match(await registry.servicesOf(ada.id), [
    {
      name: 'db.example.com',
      check: { kind: 'tcp', settings: { port: 443 }, intervalMs: 300_000 },
      verified: false,
    },
  ]);
  const again = await post('/dashboard/services/new/save', ada, { ...tcp, 'settings.port': '443' });
  t.match(fieldOf(again.text, 'domain'), {
    problem: /registered already.* needs a slug, such as db-example-com-tcp/,
  });
  const other = { domain: 'db.example.com', kind: 'tls' };
  const more = await post('/dashboard/services/new/save', ada, other);
  t.match(
    more,
    { location: '/dashboard/services/db-example-com-tls?saved=new' },
    'another check of the host',
  );
  const wrong = await post('/dashboard/services/new/save', ada, { ...other, slug: 'bank' });
  t.match(fieldOf(wrong.text, 'slug'), { value: 'bank', problem: /begins with db-example-com-/ });
  const named = { ...other, slug: 'db-example-com-cert' };
  t.match(await post('/dashboard/services/new/save', ada, named), { status: 303 });
  const kinds = (await registry.servicesOf(ada.id)).map(({ check }) => check.kind);
  t.same(kinds, ['tcp', 'tls', 'tls'], 'its kind stays');
});

t.test('another kind shows its fields before anything is saved, and what was entered stays', async (t) => {
  const { registry, ada, post } = await dashboard(t);
  const typed = { domain: 'a.example.com', name: 'Shop', kind: 'http', interval: '10m' };
  for (const path of ['/dashboard/services/new/save', '/dashboard/services/mine/save']) {
    const { status, text } = await post(path, ada, { ...typed, show: 'yes' });
    t.equal(status, 200);
    t.match(text, /<textarea name="settings.assertions"/);
    t.equal(fieldOf(text, 'name').value, 'Shop');
    t.equal(fieldOf(text, 'interval').value, '10m');
  }
  t.same(await registry.servicesOf(ada.id), []);
});

t.test('a domain of another account is proved first, and the form keeps what was entered', async (t) => {
  const { registry, ada, grace, call, post } = await dashboard(t);
  await registry.addService(owned('hers.example.org', grace.id));
  await registry.addService(owned('proved.example.org', grace.id));
  const path = '/dashboard/services/new/save';
  const typed = { kind: 'tls', 'settings.minDays': '20' };
  const refused = await post(path, ada, { ...typed, domain: 'hers.example.org' });
  t.match(refused, { status: 400, text: /value="_upbeat\.hers\.example\.org"/ });
  t.equal(fieldOf(refused.text, 'settings.minDays').value, '20');
  await post(path, ada, { kind: 'root', domain: 'hers.example.org' });
  t.match(await registry.claimsOf(ada.id), [{ domain: 'hers.example.org', kind: 'tls' }]);
  t.match(await call('/dashboard', ada), { text: /new\?domain=hers\.example\.org&amp;kind=tls/ });
  t.match(await post(path, ada, { ...typed, domain: 'proved.example.org' }), { status: 303 });
  t.match(await registry.servicesOf(ada.id), [
    { verified: true, check: { kind: 'tls', settings: { minDays: 20 } } },
  ]);
});

t.test('a service has the fields of its kind of check, made from the schema of the kind', async (t) => {
  const { ada, post, registry } = await dashboard(t);
  await registry.addService(owned('mine.example', ada.id, { slug: 'mine', name: 'Mine' }));
  const path = '/dashboard/services/mine';
  const fields = { name: 'Mine', category: 'cloud', dependencies: 'private', period: '', grace: '' };
  const asked = await post(`${path}/save`, ada, { ...fields, kind: 'tcp' });
  t.equal(asked.status, 400, 'the kind needs a setting');
  t.equal(chosen(asked.text, 'kind'), 'tcp');
  t.match(fieldOf(asked.text, 'settings.port'), { value: '', problem: /^Port is missing\.$/ });
  t.match(fieldOf(asked.text, 'settings.banner'), { value: '', problem: null });
  const { period: _period, grace: _grace, ...others } = fields;
  const own = await post(`${path}/save`, ada, { ...others, kind: 'tcp' });
  t.notMatch(own.text, /name="(period|schedule)"/, 'only heartbeats have a period or a schedule');
  const beats = await post(`${path}/save`, ada, { ...others, name: '', kind: 'heartbeat' });
  t.match(beats.text, /name="period".*name="schedule"/s);
  const tcp = { ...fields, kind: 'tcp', 'settings.port': '443', 'settings.banner': '<220 "' };
  t.match(await post(`${path}/save`, ada, { ...tcp, 'settings.port': '5432' }), {
    status: 400,
    text: /checks\.ports/,
  });
  t.match(await post(`${path}/save?lang=de`, ada, { ...tcp, 'settings.port': 'x' }), {
    status: 400,
    text: /eine ganze Zahl/,
  });
});

t.test('a service has fields for its times and regions, within the bounds for owners', async (t) => {
  const { ada, post, registry } = await dashboard(t);
  await registry.addService(owned('mine.example', ada.id, { slug: 'mine', name: 'Mine' }));
  const fields = { name: 'Mine', category: 'cloud', kind: 'root', dependencies: 'private' };
  const typed = { interval: '10s', timeout: '40s', confirmAfter: 'soon', regions: 'eu ap', method: 'HEAD' };
  const { status, text } = await post('/dashboard/services/mine/save', ada, { ...fields, ...typed });
  t.equal(status, 400);
  t.same(
    ['interval', 'timeout', 'slowOver', 'confirmAfter', 'regions'].map((name) => fieldOf(text, name)),
    [
      { value: '10s', problem: 'Check interval must be at least 30s.' },
      { value: '40s', problem: 'Timeout must not be longer than the interval, which is 10s.' },
      { value: '', problem: null },
      {
        value: 'soon',
        problem: 'Retry delays must be delays such as &quot;2s 4s&quot;, or &quot;none&quot;.',
      },
      { value: 'eu ap', problem: 'Regions names ap, where no node makes checks: choose from eu, us.' },
    ],
  );
  t.equal(chosen(text, 'method'), 'HEAD');
  t.match(text, /name="interval"[^>]* placeholder="1m"/, 'the setting that counts without a time of its own');
  t.match(text, /name="confirmAfter"[^>]* placeholder="2s 4s"/);
  const german = await post('/dashboard/services/mine/save?lang=de', ada, { ...fields, interval: '2d' });
  t.match(fieldOf(german.text, 'interval').problem, /^„Prüfabstand“ darf höchstens 1d sein\.$/);
  const beats = await post('/dashboard/services/mine/save', ada, { ...fields, name: '', kind: 'heartbeat' });
  t.notMatch(beats.text, /name="(interval|timeout|confirmAfter|regions|method)"/);
  t.match(beats.text, /name="slowOver"/, 'which a reported response time is compared with');
});

t.test('a service has a field for the address of its check', async (t) => {
  const { ada, call, post, directory, registry } = await dashboard(t);
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  const check = { ...DEFAULT_CHECK, kind: 'health' } as const;
  const shop = { domain: 'shop.example', name: 'Shop', category: 'cloud', paused: false, check } as const;
  const { slug } = await registry.registerService(
    ada.id,
    { ...shop, publicDependencies: false },
    { isProven: false, now: NOW },
  );
  const path = `/dashboard/services/${slug}`;
  const fields = { name: 'Shop', category: 'cloud', kind: 'health', dependencies: 'private' };
  const save = (url: string) => post(`${path}/save`, ada, { ...fields, url });
  const foreign = await save('https://other.example/');
  t.equal(foreign.status, 400);
  t.match(fieldOf(foreign.text, 'url'), {
    value: 'https://other.example/',
    problem: 'The address of a check must be at shop.example or at a name below it.',
  });
  t.match(foreign.text, /name="url"[^>]* placeholder="https:\/\/shop\.example\/api\/health"/);
  t.match(
    fieldOf((await save('ftp://shop.example/')).text, 'url').problem,
    /^Enter an address such as https:/,
  );
  const own = 'https://api.shop.example/live';
  t.equal((await save(own)).status, 303);
  t.equal(directory.bySlug(slug)?.check.url, own);
  t.equal(fieldOf((await call(path, ada)).text, 'url').value, own);
  t.equal((await save('')).status, 303);
  t.equal(directory.bySlug(slug)?.check.url, null);
  const tcp = await post(`${path}/save`, ada, { ...fields, kind: 'tcp' });
  t.notMatch(tcp.text, /name="url"/, 'other kinds request no address');
});
