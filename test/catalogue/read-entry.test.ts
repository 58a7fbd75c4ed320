/** Entries of the catalogue. */
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';

t.test('it reads an entry with everything, and one with the least', async (t) => {
  const text = `
services:
  - slug: github
    name: GitHub
    domain: github.com
    category: developer
    statusPage: { url: https://www.githubstatus.com, kind: statuspage, components: [API] }
  - slug: local-example
    name: Local example
    domain: 127.0.0.1
    category: developer
    check: { kind: root, url: "http://127.0.0.1:9001/", method: HEAD, accept: [2xx, 3xx, 401], caFile: ca.pem }
`;
  const common = {
    category: 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
  };
  t.same(readCatalogue(text, 'c.yaml'), [
    {
      ...common,
      slug: 'github',
      name: 'GitHub',
      domain: 'github.com',
      check: { kind: 'root', url: null, method: null, accept: null, caFile: null },
      statusPage: {
        url: 'https://www.githubstatus.com',
        kind: 'statuspage',
        feedUrl: null,
        components: ['API'],
      },
    },
    {
      ...common,
      slug: 'local-example',
      name: 'Local example',
      domain: '127.0.0.1',
      check: {
        kind: 'root',
        url: 'http://127.0.0.1:9001/',
        method: 'HEAD',
        accept: ['2xx', '3xx', 401],
        caFile: 'ca.pem',
      },
      statusPage: null,
    },
  ]);
});

const read = (check: object) =>
  readCatalogue(
    JSON.stringify({ services: [{ slug: 'a', name: 'A', domain: 'a.example', category: 'ai', check }] }),
    'c.yaml',
  );

t.test('it takes times and regions of a check within their bounds', async (t) => {
  const members = {
    interval: '1s',
    timeout: '900ms',
    slowOver: '0.2s',
    confirmAfter: ['1s'],
    regions: ['eu'],
  };
  t.strictSame(read(members)[0]?.check, {
    ...{ kind: 'root', url: null, method: null, accept: null, caFile: null },
    ...{ intervalMs: 1_000, timeoutMs: 900, slowOverMs: 200, confirmAfterMs: [1_000], regions: ['eu'] },
  });
  t.strictSame(read({ confirmAfter: [] })[0]?.check.confirmAfterMs, []);
  const refused: readonly (readonly [object, string])[] = [
    [{ interval: '999ms' }, 'check.interval must be at least 1s'],
    [{ interval: '25h' }, 'check.interval must be at most 1d'],
    [{ interval: 30 }, 'check.interval must be text'],
    [{ timeout: '5 s' }, 'check.timeout must be a duration such as 30s, 5m or 1h'],
    [{ interval: '5s', timeout: '6s' }, 'check.timeout must not be longer than the interval, which is 5s'],
    [{ timeout: '1s', slowOver: '2s' }, 'check.slowOver must not be longer than the timeout, which is 1s'],
    [{ confirmAfter: '2s' }, 'check.confirmAfter must be a list'],
    [{ confirmAfter: ['11m'] }, 'check.confirmAfter must be at most 10m'],
    [{ regions: [] }, 'check.regions must not be empty'],
    [{ regions: ['EU'] }, 'check.regions.0 must be a name of 1 to 32 of a-z, 0-9 and -'],
  ];
  for (const [check, problem] of refused)
    t.throws(() => read(check), { message: `c.yaml:1: a: ${problem}` }, problem);
});

t.test('it takes settings of a check by the schema of its kind', async (t) => {
  t.match(read({ kind: 'tcp', settings: { port: 5432 } })[0]?.check, {
    kind: 'tcp',
    settings: { port: 5432 },
  });
  t.strictSame(read({ kind: 'tls' })[0]?.check.settings, undefined);
  const request = { method: 'POST', body: '{}', headers: ['X-Key: public'] };
  t.strictSame(read({ kind: 'http', settings: request })[0]?.check.settings, request);
  const refused: readonly (readonly [object, string])[] = [
    [{ kind: 'tcp' }, 'check.settings.port is missing'],
    [{ kind: 'tcp', settings: { port: 70_000 } }, 'check.settings.port must be at most 65535'],
    [{ kind: 'tls', settings: { minDays: '9' } }, 'check.settings.minDays must be a whole number'],
    [{ settings: { port: 1 } }, 'check.settings.port does not exist for this kind'],
    [{ kind: 'tcp', settings: 7 }, 'check.settings must be a group of members'],
  ];
  for (const [check, problem] of refused) t.throws(() => read(check), { message: `c.yaml:1: a: ${problem}` });
});

t.test('it knows which texts are slugs and domains', async (t) => {
  const entry = (slug: string, domain: string) =>
    readCatalogue(JSON.stringify({ services: [{ slug, name: 'X', domain, category: 'ai' }] }), 'c.yaml');
  for (const slug of ['a', '7', 'a-b-7', '1-and-1']) t.equal(entry(slug, 'x.example')[0]?.slug, slug);
  for (const slug of ['', '-', 'a-', '-a', 'a--b', 'A', 'a_b', 'a.b', 'ä', 'a\n'])
    t.throws(() => entry(slug, 'x.example'), { code: 'bad_catalogue' }, JSON.stringify(slug));
  for (const domain of ['127.0.0.1', 'localhost', 'x.example', 'xn--bcher-kva.example', 'a-b.c_d.e'])
    t.equal(entry('x', domain)[0]?.domain, domain);
  for (const domain of [
    '',
    'X.example',
    'x..example',
    '.x',
    'x.',
    '-x.example',
    'x y',
    'x:80',
    '::1',
    '1.2.3',
    'a.0x7',
    'bücher.example',
  ])
    t.throws(() => entry('x', domain), { code: 'bad_catalogue' }, JSON.stringify(domain));
});
