/** Domains of owners for status pages, over HTTP: proof, routing by the `Host` header, addresses, and hostile hosts. */
import t, { type Test } from 'tap';
import { recheckDomains } from '../../src/auth/domain-proof.ts';
import { systemClock } from '../../src/clock.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts';
import { pngOf } from '../support/pictures.ts';
import { requestAt } from './request-at.ts';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi } from './site-world.ts';

const DOMAIN = 'status.acme.example';
const PNG = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;
const PAGE = {
  slug: 'acme',
  title: 'Acme',
  groups: [{ name: 'Web', services: ['known'] }],
  custom_domain: DOMAIN,
  brand_colour: '#0a7d4f',
  logo: PNG,
  favicon: PNG,
};

async function start(t: Test) {
  const world = await startApi({ services: [service(1, 'known', { name: 'Known' })] });
  t.teardown(world.close);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  const send = sendWith(world);
  const at = requestAt(world.port);
  const verify = async (slug: string, key: Record<string, string>) => {
    const answer = await send('POST', `/api/v1/pages/${slug}/verify`, undefined, key);
    await world.pageDomains.refresh();
    return answer;
  };
  /** A page at its domain. */
  const open = async (more: object = {}) => {
    await send('POST', '/api/v1/pages', { ...PAGE, ...more }, ada);
    world.proofs.add(DOMAIN);
    await verify('acme', ada);
  };
  return { world, ada, grace, send, at, verify, open };
}

t.test('a page is at its domain once that is proved, and its address on this site leads there', async (t) => {
  const { world, ada, send, at, verify } = await start(t);
  const made = await send('POST', '/api/v1/pages', PAGE, ada);
  t.match(made.json, {
    url: 'https://upbeat.test/p/acme',
    definition: { custom_domain: DOMAIN },
    custom_domain: {
      domain: DOMAIN,
      proof_missing_since: null,
      verification: {
        verified: false,
        txt_record: { name: `_upbeat.${DOMAIN}`, value: 'upbeat-verify=1' },
        file: { url: `https://${DOMAIN}/.well-known/upbeat-verify` },
      },
    },
  });
  const refused = await verify('acme', ada);
  t.match([refused.status, refused.json.code], [409, 'domain_unverified']);
  t.match((await at(DOMAIN, '/')).text, /<title>Upbeat/, 'an unproved host is served as this site');
  t.equal((await world.get(`/tls-ask?domain=${DOMAIN}`)).status, 404);

  world.proofs.add(DOMAIN);
  t.match((await verify('acme', ada)).json, {
    url: `https://${DOMAIN}/`,
    custom_domain: { verification: { verified: true } },
  });
  t.equal((await world.get(`/tls-ask?domain=${DOMAIN}`)).status, 200);
  for (const host of ['upbeat.test', 'gone.example', '', `x.${DOMAIN}`])
    t.equal((await world.get(`/tls-ask?domain=${host}`)).status, 404, host);

  for (const [path, location] of [
    ['/p/acme?show=past', '/?show=past'],
    ['/p/acme.json', '/page.json'],
    ['/p/ACME/incidents.atom', '/incidents.atom'],
    ['/p/ACME/incidents.json', '/incidents.json'],
    ['/p/acme/calendar.ics', '/calendar.ics'],
  ] as const) {
    const moved = await world.get(path);
    t.match([moved.status, moved.headers.get('location')], [302, `https://${DOMAIN}${location}`], path);
  }
  for (const path of [
    '/p/acme/embed',
    '/p/acme/logo',
    '/p/acme/favicon',
    '/p/acme/brand.css',
    '/api/v1/pages/acme',
  ])
    t.equal((await world.get(path)).status, 200, `${path} stays for those who embed it`);

  const page = await at(DOMAIN, '/');
  t.equal(page.status, 200);
  t.match(page.text, `<link rel="canonical" href="https://${DOMAIN}/">`);
  t.match(page.text, `<link rel="alternate" hreflang="de" href="https://${DOMAIN}/?lang=de">`);
  t.match(page.text, `<meta property="og:url" content="https://${DOMAIN}/">`);
  t.match(page.text, `content="https://${DOMAIN}/logo?v=`);
  t.match(page.text, /<a href="https:\/\/upbeat\.test\/status\/known-example">/);
  const addresses = [...page.text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, path = '']) => path);
  t.ok(addresses.length > 5);
  for (const path of addresses) t.equal((await at(DOMAIN, path.replaceAll('&amp;', '&'))).status, 200, path);
});

t.test('everything of the page is at its domain, with its addresses', async (t) => {
  const { at, open } = await start(t);
  await open();
  const feed = await at(DOMAIN, '/incidents.atom');
  t.match(
    feed.text,
    `<link rel="self" type="application/atom+xml" href="https://${DOMAIN}/incidents.atom"/>`,
  );
  const json = JSON.parse((await at(DOMAIN, '/page.json')).text);
  t.match(json.page, { url: `https://${DOMAIN}/`, logo_url: new RegExp(`^https://${DOMAIN}/logo\\?v=`) });
  t.match((await at(DOMAIN, '/embed')).text, `href="https://${DOMAIN}/"`);
  t.match((await at(DOMAIN, '/logo')).headers, { 'content-type': 'image/png' });
  t.match((await at(DOMAIN, '/')).text, '<link rel="icon" href="/favicon?v=');
  for (const path of ['/favicon', '/favicon.ico'])
    t.match((await at(DOMAIN, path)).headers, { 'content-type': 'image/png' }, path);
  t.match((await at(DOMAIN, '/brand.css')).text, /#0a7d4f/);
  t.match((await at(DOMAIN, '/calendar.ics')).text, /^BEGIN:VCALENDAR/);
  t.equal((await at(DOMAIN, '/.well-known/upbeat-verify')).text, 'upbeat-verify=1\n');
  const form = await at(DOMAIN, '/subscribe?service=known&lang=de');
  t.match(form.text, /Acme[\s\S]*action="\/subscribe"/, 'the form is about the page alone');
  t.match(form.text, /<header class="own-head">[\s\S]*<a href="\/">Acme<\/a>/, 'and has its head');
  t.notMatch(form.text, /href="\/(docs|dashboard|sign-in)/);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await at(DOMAIN, '/subscribe', {
    method: 'POST',
    body: 'address=eve%40acme.example',
    headers,
  });
  t.equal(sent.status, 200);
});

t.test('nothing else of the site is at a domain', async (t) => {
  const { at, open, ada } = await start(t);
  await open();
  for (const path of [
    ...['/dashboard', '/sign-in', '/sign-out', '/docs', '/metrics', '/healthz', '/mcp', '/robots.txt'],
    ...[
      '/api/v1/services',
      '/api/v1/status/known',
      '/api/badge/known',
      '/api/v1/openapi.json',
      '/search.json',
    ],
    ...[
      '/status/known-example',
      '/p/acme',
      '/p/other',
      '/tls-ask?domain=status.acme.example',
      '/p/acme/logo',
    ],
    ...[
      '//',
      '/./',
      '/%2e',
      '/PAGE.JSON',
      '/constructor',
      '/__proto__',
      '/assets/..%2f..%2fpackage.json',
      '*',
    ],
    ...['http://upbeat.test/dashboard', '/subscribe/end/none', '/assets/', '/embed.js'],
  ]) {
    const answer = await at(DOMAIN, path, { headers: { accept: 'text/html', ...ada } });
    t.equal(answer.status, 404, path);
    t.notMatch(answer.text, /href="\/(docs|dashboard|sign-in)/, path);
    t.equal(answer.headers['set-cookie'], undefined, path);
  }
  for (const method of ['POST', 'PUT', 'DELETE'])
    t.equal((await at(DOMAIN, '/', { method })).status, 405, method);
});

t.test('a host is compared without case, port and final dot, and hostile ones are none', async (t) => {
  const { at, open } = await start(t);
  await open();
  for (const host of [DOMAIN.toUpperCase(), `${DOMAIN}:8443`, `${DOMAIN}.`, `${DOMAIN}.:443`])
    t.match((await at(host, '/')).text, /<title>Acme/, host);
  for (const host of [
    ...['upbeat.test', 'UPBEAT.TEST:443', '127.0.0.1', `x.${DOMAIN}`, `${DOMAIN}..`, `${DOMAIN}:80:80`],
    ...[`${DOMAIN}, evil.example`, `evil.example:80@${DOMAIN}`, `[${DOMAIN}]`, '__proto__', '', `${DOMAIN}/`],
  ])
    t.match((await at(host, '/')).text, /<title>Upbeat/, host);
});

t.test('domains that no page may have are refused', async (t) => {
  const { ada, send } = await start(t);
  const { custom_domain: _, ...plain } = PAGE;
  await send('POST', '/api/v1/pages', plain, ada);
  for (const [domain, code] of [
    ['co.uk', 'page_domain_public'],
    ['github.io', 'page_domain_public'],
    ['COM', 'domain_invalid'],
    ['localhost', 'domain_invalid'],
    ['10.0.0.1', 'domain_invalid'],
    ['0x7f.1', 'domain_invalid'],
    ['[::1]', 'domain_invalid'],
    ['https://status.example.com', 'domain_invalid'],
    ['status.example.com:443', 'domain_invalid'],
    ['status.example.com/x', 'domain_invalid'],
    ['a b.example.com', 'domain_invalid'],
    [`${'a'.repeat(64)}.example.com`, 'domain_invalid'],
    ['*.example.com', 'domain_invalid'],
  ] as const) {
    const { status, json } = await send('PATCH', '/api/v1/pages/acme', { custom_domain: domain }, ada);
    t.match([status, json.errors], [400, [{ field: 'custom_domain', code }]], domain);
  }
  for (const [given, kept] of [
    ['STATUS.Bücher.example.', 'status.xn--bcher-kva.example'],
    [' Status.Acme.Example ', DOMAIN],
  ] as const) {
    const { json } = await send('PATCH', '/api/v1/pages/acme', { custom_domain: given }, ada);
    t.match(json.definition, { custom_domain: kept });
  }
});

t.test("a site's own host is never a page's", async (t) => {
  const { world, ada, send, at, verify } = await start(t);
  const refused = [{ field: 'custom_domain', code: 'page_domain_of_site' }];
  const entered = await send('POST', '/api/v1/pages', { ...PAGE, custom_domain: 'upbeat.test' }, ada);
  t.match(entered.json.errors, refused);
  await send('POST', '/api/v1/pages', PAGE, ada);
  await world.registry.changePage(
    { accountId: 1, slug: 'acme', revision: 1 },
    { domain: 'upbeat.test' },
    NOW,
  );
  world.proofs.add('upbeat.test');
  t.match((await verify('acme', ada)).json.errors, refused);
  t.ok(
    await world.registry.provePageDomain(1, 'acme', 'upbeat.test', NOW),
    'as an earlier address of the site',
  );
  await world.pageDomains.refresh();
  t.match((await at('upbeat.test', '/')).text, /<title>Upbeat/);
  t.equal((await world.get('/tls-ask?domain=upbeat.test')).status, 404);
});

t.test('the newest proof counts, and a changed or withdrawn domain has to be proved again', async (t) => {
  const { world, ada, grace, send, at, verify, open } = await start(t);
  await open();
  await send('POST', '/api/v1/pages', { ...PAGE, slug: 'other', title: 'Other' }, grace);
  t.match((await at(DOMAIN, '/')).text, /<title>Acme/, 'a claim alone takes nothing');
  await verify('other', grace);
  t.match((await at(DOMAIN, '/')).text, /<title>Other/);
  t.equal((await world.get('/p/acme')).status, 200);
  t.match(await world.registry.noticesOf(1), [{ notice: { code: 'page_domain_lost', domain: DOMAIN } }]);
  await send('PATCH', '/api/v1/pages/other', { title: 'Still' }, grace);
  t.match((await at(DOMAIN, '/')).text, /<title>Still/, 'other changes keep the proof');
  await send('PATCH', '/api/v1/pages/other', { custom_domain: null }, grace);
  await send('PATCH', '/api/v1/pages/other', { custom_domain: DOMAIN }, grace);
  await world.pageDomains.refresh();
  t.match((await at(DOMAIN, '/')).text, /<title>Upbeat/);
  await verify('other', grace);
  await send('PATCH', '/api/v1/pages/other', { members_only: true }, grace);
  await world.pageDomains.refresh();
  t.match((await at(DOMAIN, '/')).text, /<title>Upbeat/, 'members are signed in on this site');
  t.equal((await world.get('/p/other', grace)).status, 200);
  await send('DELETE', '/api/v1/pages/other', undefined, grace);
  await verify('acme', ada);
  t.match((await at(DOMAIN, '/')).text, /<title>Acme/);
});

t.test('a trusted account needs no proof of a domain that no other page has', async (t) => {
  const { world, ada, grace, send, at, verify } = await start(t);
  const { registry } = world;
  await send('POST', '/api/v1/pages', { ...PAGE, slug: 'before', custom_domain: 'before.acme.example' }, ada);
  await registry.trustAccount(1, 'command:root', NOW);
  const titleAt = async (host: string) => {
    await world.pageDomains.refresh();
    return /<title>(\w+)/.exec((await at(host, '/')).text)?.[1];
  };
  t.equal(await titleAt('before.acme.example'), 'Acme', 'a page that was there already');
  const home = await send('POST', '/api/v1/pages', { ...PAGE, custom_domain: 'status.home.arpa' }, ada);
  t.match(home.json, {
    url: 'https://status.home.arpa/',
    custom_domain: { verification: { verified: true } },
  });
  t.equal(await titleAt('status.home.arpa'), 'Acme');
  for (const domain of ['localhost', 'a.localhost', 'nas', '192.168.1.5', '[::1]', 'co.uk'])
    t.equal((await send('PATCH', '/api/v1/pages/acme', { custom_domain: domain }, ada)).status, 400, domain);
  t.match(await verify('acme', ada), { status: 200 });
  const clock = { ...systemClock, now: () => NOW + 5 * DAY_MS };
  const proofs = { check: async () => ({ code: 'no_page_domain' }) as const };
  for (let day = 0; day < 2; day++) await recheckDomains({ registry, proofs, clock, isAble: () => true });
  t.equal(await titleAt('status.home.arpa'), 'Acme', 'nothing is checked of it');

  await send('PATCH', '/api/v1/pages/acme', { custom_domain: DOMAIN }, ada);
  t.equal(await titleAt(DOMAIN), 'Acme');
  await send('POST', '/api/v1/pages', { ...PAGE, slug: 'other', title: 'Other' }, grace);
  t.equal((await verify('other', grace)).status, 409);
  world.proofs.add(DOMAIN);
  await verify('other', grace);
  t.equal(await titleAt(DOMAIN), 'Other', 'a proof counts for more than trust');
  await send('PATCH', '/api/v1/pages/acme', { custom_domain: null }, ada);
  await send('PATCH', '/api/v1/pages/acme', { custom_domain: DOMAIN }, ada);
  t.equal(await titleAt(DOMAIN), 'Other');

  await registry.trustAccount(1, null, NOW);
  t.equal(await titleAt('before.acme.example'), 'Upbeat', 'the domain goes with the trust');
});

t.test('a proof that is missing for three days does not count any longer', async (t) => {
  const { world, ada, verify, at, open } = await start(t);
  await open();
  const { registry } = world;
  let timeMs = NOW;
  let isAble = true;
  const proofs = {
    check: async () => (world.proofs.has(DOMAIN) ? null : ({ code: 'no_page_domain' } as const)),
  };
  const recheckAfter = async (ms: number) => {
    timeMs += ms;
    const clock = { ...systemClock, now: () => timeMs };
    await recheckDomains({ registry, proofs, clock, isAble: () => isAble });
    await world.pageDomains.refresh();
    const [found] = await registry.provedPageDomains();
    return found === undefined ? null : found.missingSince;
  };
  world.proofs.delete(DOMAIN);
  t.equal(await recheckAfter(HOUR_MS), null, 'it was checked today');
  isAble = false;
  t.equal(await recheckAfter(DAY_MS), null, 'this process is offline');
  isAble = true;
  const since = NOW + DAY_MS + 2 * HOUR_MS;
  t.equal(await recheckAfter(HOUR_MS), since);
  world.proofs.add(DOMAIN);
  t.equal(await recheckAfter(HOUR_MS), null, 'it is there again');
  world.proofs.delete(DOMAIN);
  t.equal(await recheckAfter(DAY_MS), since + HOUR_MS + DAY_MS);
  t.equal(await recheckAfter(2 * DAY_MS), since + HOUR_MS + DAY_MS);
  t.match((await at(DOMAIN, '/')).text, /<title>Acme/);
  await recheckAfter(DAY_MS);
  t.match((await at(DOMAIN, '/')).text, /<title>Upbeat/);
  const lapsed = [{ notice: { code: 'page_domain_lapsed', domain: DOMAIN } }];
  t.match(await registry.noticesOf(1), lapsed);

  world.proofs.add(DOMAIN);
  t.equal((await verify('acme', ada)).status, 200);
  world.proofs.delete(DOMAIN);
  await registry.trustAccount(1, 'command:root', timeMs);
  for (let day = 0; day < 7; day++) await recheckAfter(DAY_MS);
  t.match((await at(DOMAIN, '/')).text, /<title>Acme/, 'a trusted account needs none');
  t.equal((await registry.noticesOf(1)).length, lapsed.length);
  await registry.trustAccount(1, null, timeMs);
  await world.pageDomains.refresh();
  t.match((await at(DOMAIN, '/')).text, /<title>Upbeat/);
});
