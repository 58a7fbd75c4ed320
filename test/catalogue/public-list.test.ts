import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { CATEGORIES } from '../../src/domain/category.ts';
import { readHostName } from '../../src/domain/host-name.ts';
import { dashDomain } from '../../src/domain/service.ts';

const FILE = join(import.meta.dirname, '../../config/catalogue.yaml');
const services = readCatalogue(readFileSync(FILE, 'utf8'), FILE);

t.test('it lists at least 600 services, at least 12 in every category', async (t) => {
  t.ok(services.length >= 600, `${services.length} services`);
  for (const category of CATEGORIES) {
    const count = services.filter((service) => service.category === category).length;
    t.ok(count >= 12, `${category}: ${count}`);
  }
});

t.test('it gives each service a slug, a domain and a dashed domain of its own', async (t) => {
  for (const keyOf of [
    ({ slug }: { slug: string }) => slug,
    ({ domain }: { domain: string }) => domain,
    ({ domain }: { domain: string }) => dashDomain(domain),
  ]) {
    t.equal(new Set(services.map(keyOf)).size, services.length);
  }
});

t.test('it names public hosts only, and asks them by HTTPS', async (t) => {
  t.same(
    services.filter(({ domain }) => !readHostName(domain).ok).map(({ domain }) => domain),
    [],
  );
  const addresses = services.flatMap(({ check, statusPage }) => [check.url, statusPage?.url ?? null]);
  t.same(
    addresses.filter((url) => url !== null && !(URL.canParse(url) && url.startsWith('https://'))),
    [],
  );
});

t.test('it asks each service at its own host', async (t) => {
  t.same(
    services.filter(
      ({ domain, check }) => check.url !== null && !`.${new URL(check.url).hostname}`.endsWith(`.${domain}`),
    ),
    [],
  );
});

t.test(
  'it is sorted by slug within each category, the categories in the order of the contract',
  async (t) => {
    const order = services.map(({ category, slug }) => [CATEGORIES.indexOf(category), slug] as const);
    const sorted = [...order].sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1));
    t.same(order, sorted);
  },
);

t.test('it says the same of a status page wherever it names it', async (t) => {
  const said = new Set(
    services.flatMap(({ statusPage }) =>
      statusPage === null ? [] : `${statusPage.url} ${statusPage.kind} ${statusPage.feedUrl}`,
    ),
  );
  const urls = [...said].map((line) => line.split(' ')[0]);
  t.same(
    urls.filter((url, index) => urls.indexOf(url) < index),
    [],
  );
});

t.test('it names a feed where a page is of a kind whose feed follows from nothing', async (t) => {
  const unnamed = services.filter(
    ({ statusPage }) =>
      statusPage !== null && ['rss', 'atom', 'statusio'].includes(statusPage.kind) && !statusPage.feedUrl,
  );
  t.same(unnamed, []);
  const feeds = services.flatMap(({ statusPage }) => statusPage?.feedUrl ?? []);
  t.same(
    feeds.filter((url) => !url.startsWith('https://')),
    [],
  );
  t.same(
    services.filter(({ statusPage }) => statusPage?.kind === 'custom' && statusPage.feedUrl !== null),
    [],
  );
});

t.test('it knows the status page of a good part of them', async (t) => {
  const known = services.filter(({ statusPage }) => statusPage !== null).length;
  t.ok(known >= 300, `${known} pages`);
});
