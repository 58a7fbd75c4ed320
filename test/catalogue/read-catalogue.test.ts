import fc from 'fast-check';
import t from 'tap';
import { CatalogueError, readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { CATEGORIES } from '../../src/domain/category.ts';
import { PROBED_KINDS, STATUS_PAGE_KINDS } from '../../src/domain/service.ts';
import { propertyRuns } from '../support/property-runs.ts';

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

t.test('it reports every problem with its line', async (t) => {
  const text = `services:
  - { slug: a, name: A, domain: a.example, category: developer }
  - { slug: a, name: B, domain: a.example, category: cars }
  - { slug: A B, name: "", domain: "https://x", category: ai, chek: 1 }
  - slug: c
    name: C
    domain: c.d.example
    category: ai
    check:
      accept: [10xx, 200, 99]
      url: "ftp://x"
  - { slug: a, name: D, domain: c-d.example, category: ai }
  - { slug: e, name: E, domain: c.d-example, category: ai }
  - { slug: f, name: F, domain: c-d-example, category: ai, statusPage: { url: "https://x.example", kind: fax } }
  - just words
  - { slug: g, name: 7, category: [ai], check: { url: "https://[", accept: [] }, statusPage: "https://x.example" }
  - { slug: h--i, name: H, domain: H.example, category: ai, check: { url: "https://me:pw@x.example", kind: heartbeat } }
incidents: []
`;
  try {
    readCatalogue(text, 'c.yaml');
    t.fail('it was taken');
  } catch (error) {
    const slug = 'must be lower-case letters and digits, in groups joined by single dashes';
    const domain = 'must be a host name in lower-case ASCII, without scheme, port or path';
    const url = 'must be an address that begins with http:// or https://, without password';
    const code = 'must be a status code from 100 to 999 or a class such as 2xx';
    t.same((error as Error).message.split('\n'), [
      `c.yaml:3: a: category must be one of ${CATEGORIES.join(', ')}`,
      'c.yaml:3: the slug "a" stands in line 2 already',
      'c.yaml:3: the domain "a.example" stands in line 2 already',
      'c.yaml:4: A B: has an unknown member "chek"',
      `c.yaml:4: A B: slug ${slug}`,
      'c.yaml:4: A B: name must not be empty',
      `c.yaml:4: A B: domain ${domain}`,
      `c.yaml:10: c: check.accept.0 ${code}`,
      `c.yaml:10: c: check.accept.2 ${code}`,
      `c.yaml:11: c: check.url ${url}`,
      'c.yaml:12: the slug "a" stands in line 2 already',
      'c.yaml:12: the dashed domain "c-d-example" stands in line 5 already',
      'c.yaml:13: the dashed domain "c-d-example" stands in line 5 already',
      `c.yaml:14: f: statusPage.kind must be one of ${STATUS_PAGE_KINDS.join(', ')}`,
      'c.yaml:14: the dashed domain "c-d-example" stands in line 5 already',
      'c.yaml:15: must be a group of members',
      'c.yaml:16: g: lacks "domain"',
      'c.yaml:16: g: name must be text',
      `c.yaml:16: g: category must be one of ${CATEGORIES.join(', ')}`,
      'c.yaml:16: g: statusPage must be a group of members',
      `c.yaml:16: g: check.url ${url}`,
      'c.yaml:16: g: check.accept must not be empty',
      `c.yaml:17: h--i: slug ${slug}`,
      `c.yaml:17: h--i: domain ${domain}`,
      `c.yaml:17: h--i: check.kind must be one of ${PROBED_KINDS.join(', ')}`,
      `c.yaml:17: h--i: check.url ${url}`,
      'c.yaml:18: has an unknown member "incidents"',
    ]);
  }
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

t.test(
  'it ends every bad text in a CatalogueError, and gives only services with addresses that can be asked',
  async () => {
    const near = fc.record(
      {
        slug: fc.oneof(fc.constantFrom('a', 'b-c', 'B'), fc.string()),
        name: fc.oneof(fc.constant('A'), fc.jsonValue()),
        domain: fc.oneof(fc.domain(), fc.string()),
        category: fc.constantFrom('ai', 'cloud', 'cars'),
        check: fc.record({
          url: fc.oneof(
            fc.webUrl(),
            fc.string().map((text) => `https://${text}`),
          ),
        }),
      },
      { requiredKeys: ['slug', 'domain'] },
    );
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(near, { maxLength: 3 }).map((services) => JSON.stringify({ services })),
    );
    fc.assert(
      fc.property(text, (given) => {
        try {
          for (const { domain, check } of readCatalogue(given, 'c.yaml'))
            new URL(check.url ?? `https://${domain}/`);
        } catch (error) {
          if (!(error instanceof CatalogueError)) throw error;
        }
      }),
      { numRuns: propertyRuns(150) },
    );
  },
);

t.test('it refuses what is no list at all', async (t) => {
  const noList = { code: 'bad_catalogue', message: 'c.yaml: must hold a list named "services"' };
  for (const text of ['', 'services:', 'services: {}', '- a', 'words'])
    t.throws(() => readCatalogue(text, 'c.yaml'), noList);
  t.throws(() => readCatalogue('services: [', 'c.yaml'), { code: 'bad_catalogue', message: /^c\.yaml:1: / });
  t.throws(() => readCatalogue('services: [*x]', 'c.yaml'), { code: 'bad_catalogue' });
  t.same(readCatalogue('services: []', 'c.yaml'), []);
});
