/** The fields of a check. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { NOW } from '../../site/site-world.ts';
import { owned } from '../../store/registry-fixtures.ts';
import { dashboard } from '../dashboard-world.ts';
import { chosen, fieldOf } from './form-fields.ts';

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
