/** Checks of registrations against an RDAP server on loopback with answers in the form of RFC 9083. */
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { readDocument } from '../../src/kinds/domain.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { listenOn } from '../support/loopback.ts';

const DAY_MS = 86_400_000;
const GOOD = { answered: true, statusCode: 200, failure: null, via: 'domain', suspect: null };

/** A domain as registries describe it. */
function document(days: number | null, status: readonly string[] = ['active']): string {
  const at = (ms: number) => new Date(ms).toISOString();
  return JSON.stringify({
    rdapConformance: ['rdap_level_0', 'icann_rdap_response_profile_1'],
    ...{ objectClassName: 'domain', handle: '2336799_DOMAIN', ldhName: 'EXAMPLE.COM', status },
    events: [
      { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
      ...(days === null
        ? []
        : [{ eventAction: 'expiration', eventDate: at(Date.now() + days * DAY_MS + 3_600_000) }]),
      { eventAction: 'last update of RDAP database', eventDate: at(Date.now()) },
    ],
    entities: [{ objectClassName: 'entity', roles: ['registrar'] }],
    secureDNS: { delegationSigned: true },
  });
}

/** A registry that answers each request by what `answers` has, or the last of it. */
async function serve(t: Test, answers: readonly (string | number)[]) {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    const answer = answers[Math.min(asked.push(url), answers.length) - 1] ?? 500;
    if (typeof answer === 'number') response.writeHead(answer, { location: '/moved/' }).end();
    else response.writeHead(200, { 'content-type': 'application/rdap+json' }).end(answer);
  });
  const { port, close } = await listenOn(server);
  t.teardown(close);
  const probe = openProbe(t);
  const settings = { server: `http://127.0.0.1:${port}/rdap` };
  const check = (more: CheckSettings = {}, trial: Trial = {}) =>
    probe(null, {
      domain: 'www.example.com',
      check: { kind: 'domain', settings: { ...settings, ...more } },
      ...trial,
    });
  return { check, asked };
}

const content = (detail: string) => ({
  answered: true,
  suspect: null,
  failure: { class: 'content', detail },
});
const noVerdict = (detail: string) => ({ suspect: 'own_fault', failure: { detail } });

t.test('it asks the registry for the registered domain, and seldom', async (t) => {
  const { check, asked } = await serve(t, [302, document(40)]);
  t.match(await check(), GOOD);
  t.same(asked, ['/rdap/domain/example.com', '/moved/'], 'redirects are followed');
  t.match(await check(), GOOD);
  t.match(
    await check({ minDays: 60 }),
    content('the registration of the domain ends in 40 days, fewer than 60'),
  );
  t.equal(asked.length, 2, 'what is known is not asked again');
  t.match(await check({}, { number: 1 }), GOOD);
  t.equal(asked.length, 3, 're-checks ask');
});

t.test('an address that one service may not dial is asked for the next', async (t) => {
  const { check, asked } = await serve(t, [document(40)]);
  t.match(await check({}, { origin: 'owner' }), { failure: { class: 'forbidden_address' } });
  t.match(await check(), GOOD);
  t.equal(asked.length, 1);
});

t.test('it judges what the registry says', async (t) => {
  const rows: readonly (readonly [string | number, object])[] = [
    [document(13), content('the registration of the domain ends in 13 days, fewer than 14')],
    [document(-2), content('the registration of the domain has ended')],
    [
      document(300, ['active', 'client hold']),
      content('the registry has taken the domain out of use (client hold)'),
    ],
    [
      document(null, ['redemption period']),
      content('the registry has taken the domain out of use (redemption period)'),
    ],
    [404, content('the registry does not know the domain')],
    [
      document(null),
      noVerdict('the registry does not say when the registration ends (it does not publish the end)'),
    ],
    [429, noVerdict('the registry does not say when the registration ends (it answers with status 429)')],
    ['<html>', noVerdict('the registry does not say when the registration ends (its answer is no RDAP)')],
    [
      ' '.repeat(300_000),
      noVerdict('the registry does not say when the registration ends (its answer is no RDAP)'),
    ],
  ];
  for (const [answer, expected] of rows) {
    const { check } = await serve(t, [answer]);
    t.match(await check(), { via: 'domain', ...expected }, String(answer).slice(0, 300));
  }
});

t.test('a registry that is silent for a while changes nothing', async (t) => {
  const { check, asked } = await serve(t, [document(100), 503, document(99)]);
  t.match(await check(), GOOD);
  t.match(await check({}, { number: 1 }), GOOD, 'the end that is known counts');
  t.match(await check(), GOOD);
  t.equal(asked.length, 2);
  const deleted = await serve(t, [document(100), document(null, ['active', 'Pending Delete'])]);
  t.match(await deleted.check(), GOOD);
  t.match(
    await deleted.check({}, { number: 1 }),
    content('the registry has taken the domain out of use (Pending Delete)'),
    'a status without an end counts',
  );
  const probe = openProbe(t);
  t.match(await probe(null, { domain: 'example.test', check: { kind: 'domain' } }), {
    ...noVerdict('no registry is known for .test: name its RDAP server'),
    answered: false,
  });
  t.match(
    await probe(null, {
      domain: 'example.com',
      check: { kind: 'domain', settings: { server: 'http://127.0.0.1:9/' } },
    }),
    noVerdict('the registry does not say when the registration ends (the connection was refused)'),
  );
});

t.test('it reads no document that is none', async (t) => {
  for (const text of ['', '[]', 'null', '"a"', '{}', '{"objectClassName":"entity"}'])
    t.equal(readDocument(text), null, text);
  const odd = {
    objectClassName: 'domain',
    events: [
      ...[null, 3, { eventAction: 'expiration', eventDate: 'soon' }],
      { eventAction: 'expiration', eventDate: { toString: 1, valueOf: 1 } },
    ],
    status: [1, {}],
  };
  t.same(readDocument(JSON.stringify(odd)), { expiresAt: null, statuses: [] });
  t.same(
    readDocument(JSON.stringify({ ...odd, status: ['active', 'x'.repeat(100_000), 'client hold'] })),
    { expiresAt: null, statuses: ['client hold'] },
    'no other status is kept',
  );
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const text = `{"objectClassName":"domain","events":[{"eventAction":"expiration","eventDate":${deep}}]}`;
  t.same(readDocument(text), { expiresAt: null, statuses: [] }, 'a date in many lists');
});
