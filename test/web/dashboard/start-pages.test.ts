import t from 'tap';
import { failureOf } from '../../../src/domain/failure.ts';
import { owned } from '../../store/registry-fixtures.ts';
import { goodAttempt } from '../../support/attempts.ts';
import { dashboard } from '../dashboard-world.ts';

const START = '/dashboard/start';

t.test('what is pasted is read, tried and added, and the rest stays typed', async (t) => {
  const tried: string[] = [];
  const { ada, call, post, registry } = await dashboard(t, undefined, {
    tryCheck: async ({ domain, check }) => {
      tried.push(`${check.kind} ${domain} ${JSON.stringify(check.settings ?? {})}`);
      return goodAttempt();
    },
  });
  t.match(await call(START, null), { status: 303, location: '/sign-in' });
  const first = await call(START, ada);
  t.match(first.text, /<h1>What do you want to watch\?<\/h1>/);
  t.match(first.text, /<a href="\/dashboard\/start\/notify">Skip<\/a>/);
  const addresses = [
    'https://proved.example.org/login',
    'tls proved.example.net # Git',
    'https://root:s3cret@sub.library.example',
    'redis://:s3cret@a_bad_host!',
    '10.0.0.0/24',
  ].join('\n');
  const { status, text } = await post(`${START}/watch`, ada, { addresses });
  t.equal(status, 200);
  t.match(text, /<h1>3 services are watched<\/h1>/);
  t.match(text, /proved\.example\.org\/login<\/a>[\s\S]*Custom HTTP request, proved\.example\.org:443/);
  t.match(text, />Git<\/a>[\s\S]*TLS handshake and certificate, proved\.example\.net:443/);
  t.match(text, /10\.0\.0\.0\/24<\/code>: This is a range of addresses/);
  t.match(text, /\*\*\*@a_bad_host!<\/code>: This is not a host name/);
  t.match(text, />sub\.library\.example<\/a>[\s\S]*Its domain has to be verified first/);
  t.match(text, /<textarea [^>]*>redis:\/\/:\*\*\*@a_bad_host!\n10\.0\.0\.0\/24<\/textarea>/);
  t.notMatch(text, /s3cret/);
  t.match(text, /<a class="button" href="\/dashboard\/start\/notify">Continue<\/a>/);
  t.ok(tried.includes('tls proved.example.net {}'));
  const added = (await registry.servicesOf(ada.id)).map(({ domain, name, check }) => [
    domain,
    name,
    check.kind,
  ]);
  t.same(added.sort(), [
    ['proved.example.net', 'Git', 'tls'],
    ['proved.example.org', 'proved.example.org/login', 'http'],
    ['sub.library.example', 'sub.library.example', 'http'],
  ]);

  const again = await post(`${START}/watch`, ada, { addresses: 'tls proved.example.net' });
  t.match(again.text, /You watch this already\./);
  t.equal((await registry.servicesOf(ada.id)).length, 3);
  t.match(
    (await post(`${START}/watch`, ada, { addresses: ' \n# nothing' })).text,
    /Type at least one address/,
  );
});

t.test('lines beyond the limit stay in a field that does not grow without end', async (t) => {
  const { ada, call, post } = await dashboard(t);
  t.match((await call(START, ada)).text, /one per line, up to 50 at a time/);
  const addresses = Array.from({ length: 100 }, (_, n) => `10.0.0.0/${n}`).join('\n');
  const { text } = await post(`${START}/watch`, ada, { addresses });
  t.match(text, /<textarea name="addresses" rows="20"/);
  t.match(text, /10\.0\.0\.0\/99<\/code>: At most 50 lines are taken at a time\./);
});

t.test('a certificate of a public host that is not valid is a failure', async (t) => {
  const refused = { ...goodAttempt(), failure: failureOf('tls', 'tls', { code: 'certificate_expired' }) };
  const { ada, post, registry } = await dashboard(t, undefined, { tryCheck: async () => refused });
  const { text } = await post(`${START}/watch`, ada, { addresses: 'https://proved.shop.example/x' });
  t.match(text, /<span class="pill down">/);
  t.notMatch(text, /Its certificate is not verified/);
  t.strictSame((await registry.servicesOf(ada.id))[0]?.check.settings, { path: '/x' });
});

t.test('a channel is added, hears of everything, and is tested', async (t) => {
  const { ada, call, post, registry } = await dashboard(t);
  const kinds = await call(`${START}/notify`, ada);
  t.match(
    kinds.text,
    /<h1>Where should we notify you\?<\/h1>[\s\S]*href="\/dashboard\/start\/notify\?kind=gotify"/,
  );
  const chosen = await call(`${START}/notify?kind=gotify`, ada);
  t.match(chosen.text, /action="\/dashboard\/start\/notify\/gotify"[\s\S]*name="settings\.server"/);
  const wrong = await post(`${START}/notify/gotify`, ada, {
    name: 'Gotify',
    language: 'en',
    'settings.server': 'x',
  });
  t.match([wrong.status, wrong.text], [400, /role="alert"/]);
  t.same(await registry.channelsOf(ada.id), []);
  const fields = {
    name: 'Gotify',
    language: 'en',
    'settings.server': 'https://hooks.example.com/a',
    'settings.token': 'x',
  };
  const added = await post(`${START}/notify/gotify`, ada, fields);
  t.match(added.text, /The test is on its way/);
  t.match(added.text, /Gotify is notified of every outage of your services\.[\s\S]*href="\/dashboard">Done/);
  const [channel] = await registry.channelsOf(ada.id);
  t.match(await registry.rulesOf(ada.id), [{ channels: [channel?.id] }]);
  // The page knows the channel that it has added, and changes it.
  const known = { channel: String(channel?.id), revision: String(channel?.revision) };
  await post(`${START}/notify/gotify`, ada, {
    ...fields,
    ...known,
    'settings.server': 'https://hooks.example.com/b',
  });
  t.match(await registry.channelsOf(ada.id), [{ settings: { server: 'https://hooks.example.com/b' } }]);
  const other = {
    name: 'Second',
    language: 'en',
    'settings.server': 'https://hooks.example.com/c',
    'settings.token': 'x',
  };
  await post(`${START}/notify/gotify`, ada, other);
  t.match(await registry.rulesOf(ada.id), [{ channels: { length: 2 } }]);
});

t.test('a rule about a private service is still about it when a second channel is added', async (t) => {
  const { ada, post, registry, directory } = await dashboard(t);
  const hidden = await registry.addService(owned('nas.example.org', ada.id, { visibility: 'private' }));
  directory.apply({ seq: 1, serviceId: hidden.id, slug: hidden.slug, service: hidden });
  const add = (name: string) =>
    post(`${START}/notify/gotify`, ada, {
      ...{ name, language: 'en', 'settings.server': 'https://hooks.example.com/a' },
      'settings.token': 'x',
    });
  await add('First');
  const [rule] = await registry.rulesOf(ada.id);
  if (rule === undefined) throw new Error('there is no rule');
  const of = { own: false, services: [hidden.id], pages: [], categories: [], publicCategories: [] };
  await registry.changeRule(ada.id, rule.id, { ...rule, of }, [rule.revision]);
  await add('Second');
  t.match(await registry.rulesOf(ada.id), [{ of: { services: [hidden.id] }, channels: { length: 2 } }]);
});
