/** Catalogues that are no lists, and problems with their lines. */
import fc from 'fast-check';
import t from 'tap';
import { CatalogueError, readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { CATEGORIES, PROBED_KINDS, STATUS_PAGE_KINDS } from '../../src/domain/service.ts';
import { propertyRuns } from '../support/property-runs.ts';

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
