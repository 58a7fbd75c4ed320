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

t.test('it tells every problem with its line', async (t) => {
  const text = `services:
  - { slug: a, name: A, domain: a.example, category: developer }
  - { slug: a, name: B, domain: a.example, category: cars }
  - { slug: A B, name: "", domain: "https://x", category: ai, chek: 1 }
  - { slug: c, name: C, domain: c.d.example, category: ai, check: { accept: [7xx], url: "ftp://x" } }
  - { slug: a, name: D, domain: c-d.example, category: ai }
  - { slug: e, name: E, domain: c.d-example, category: ai }
  - { slug: f, name: F, domain: c-d-example, category: ai, statusPage: { url: "https://x.example", kind: fax } }
  - just words
`;
  try {
    readCatalogue(text, 'c.yaml');
    t.fail('it was taken');
  } catch (error) {
    t.same((error as Error).message.split('\n'), [
      'c.yaml:3: a: category must be one of ai, social-media, gaming, streaming, productivity, cloud, finance, communication, ecommerce, developer, education, delivery, vpn, entertainment, isp, dating, logistics, travel',
      'c.yaml:4: A B: has an unknown member "chek"',
      'c.yaml:4: A B: slug does not have the form ^[a-z0-9]+(?:-[a-z0-9]+)*$',
      'c.yaml:4: A B: name must NOT have fewer than 1 characters',
      'c.yaml:4: A B: domain does not have the form ^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$',
      'c.yaml:5: c: check.url does not have the form ^https?://[^\\s/]+',
      'c.yaml:5: c: check.accept.0 must be a status code or a class such as 2xx',
      'c.yaml:8: f: statusPage.kind must be one of statuspage, incidentio, instatus, betterstack, statusio, gcp, aws, azure, slack, heroku, salesforce, rss, atom, custom',
      'c.yaml:9: must be object',
      'c.yaml:6: the slug "a" stands in line 2 already',
      'c.yaml:7: the dashed domain "c-d-example" stands in line 6 already',
    ]);
  }
});

t.test('it refuses what is no list at all', async (t) => {
  t.throws(() => readCatalogue('', 'c.yaml'), {
    code: 'bad_catalogue',
    message: 'c.yaml: must hold a list named "services"',
  });
  t.throws(() => readCatalogue('services: [', 'c.yaml'), { code: 'bad_catalogue', message: /^c\.yaml:1: / });
  t.throws(() => readCatalogue('services: [*x]', 'c.yaml'), { code: 'bad_catalogue' });
});
