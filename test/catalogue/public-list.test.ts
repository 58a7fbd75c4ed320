import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { readHostName } from '../../src/domain/host-name.ts';
import { CATEGORIES, dashDomain } from '../../src/domain/service.ts';

const FILE = join(import.meta.dirname, '../../config/catalogue.yaml');
const services = readCatalogue(readFileSync(FILE, 'utf8'), FILE);

t.test('it lists at least 600 services, at least 12 in every category', async (t) => {
  t.ok(services.length >= 600, `${services.length} services`);
  for (const category of CATEGORIES) {
    const count = services.filter((service) => service.category === category).length;
    t.ok(count >= 12, `${category}: ${count}`);
  }
});

t.test('it names a status page that is read for at least 560 services', async (t) => {
  const read = services.filter(({ statusPage }) => statusPage !== null && statusPage.kind !== 'custom');
  t.ok(read.length >= 560, `${read.length} of ${services.length}`);
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

/** Hosts of vendors, and the kind of every page and feed there. */
const VENDOR_HOSTS: readonly [RegExp, string][] = [
  [/\.(statuspage\.io|status\.atlassian\.com)$/, 'statuspage'],
  [/\.instatus\.com$/, 'instatus'],
  [/\.(betteruptime|betterstack)\.com$/, 'betterstack'],
  [/\.status\.io$/, 'statusio'],
  [/^(status\.cloud\.microsoft|portal\.office\.com)$/, 'microsoft365'],
  [/^(www|developer)\.apple\.com$/, 'apple'],
  [/^stats\.uptimerobot\.com$/, 'uptimerobot'],
  [/\.statuspal\.(io|eu)$/, 'statuspal'],
  [/\.statuscast\.com$/, 'statuscast'],
  [/\.sorryapp\.com$/, 'sorry'],
  [/^status\.okta\.com$/, 'okta'],
  [/\.nintendo\.co\.jp$/, 'nintendo'],
  [/^trust\.zscaler\.com$/, 'zscaler'],
  [/\.(freshstatus\.io|statuspage\.datadoghq\.com)$/, 'custom'],
];

/** What a feed that is named may be, by kind. */
const FEED_URLS: Readonly<Record<string, RegExp>> = {
  statuspage: /^https:\/\/[^/]+$/,
  incidentio: /^https:\/\/[^/]+$/,
  instatus: /^https:\/\/[^/]+$/,
  betterstack: /^https:\/\/[^/]+$/,
  statusio: /^https:\/\/api\.status\.io\/1\.0\/status\/[0-9a-f]{24}$/,
  statuspal: /^https:\/\/statuspal\.(io|eu)\/api\/v2\/status_pages\/[^/]+\/summary$/,
  uptimerobot: /^https:\/\/[^/]+\/api\/getMonitorList\/[\w-]+$/,
  rss: /(?<!\.json|\.atom)$/,
  atom: /(?<!\.json|\.rss)$/,
};

t.test('it names the kind that the address of a page or of its feed shows', async (t) => {
  const wrong = services.flatMap(({ slug, statusPage }) => {
    if (statusPage === null) return [];
    const { url, feedUrl, kind } = statusPage;
    const isOfKind = [url, ...(feedUrl === null ? [] : [feedUrl])].every((address) =>
      VENDOR_HOSTS.every(([host, name]) => name === kind || !host.test(new URL(address).hostname)),
    );
    const isFeedOfKind = feedUrl === null || (FEED_URLS[kind]?.test(feedUrl) ?? true);
    return isOfKind && isFeedOfKind ? [] : [`${slug}: ${url} ${kind} ${feedUrl}`];
  });
  t.same(wrong, []);
});

/** Pages of one product that is listed under two names. */
const SAME_PRODUCT = ['grok, xai'];

t.test('it names the components of all but one of the services that share a page', async (t) => {
  const pages = Map.groupBy(
    services.filter(({ statusPage }) => statusPage !== null && statusPage.kind !== 'custom'),
    ({ statusPage }) => statusPage?.feedUrl ?? statusPage?.url,
  );
  const whole = [...pages.values()].map((sharing) =>
    sharing.flatMap(({ slug, statusPage }) => (statusPage?.components ? [] : slug)),
  );
  const slugs = whole.filter(({ length }) => length > 1).map((names) => names.sort().join(', '));
  t.same(
    slugs.filter((names) => !SAME_PRODUCT.includes(names)),
    [],
  );
});

t.test('it has as many services and pages as the documentation says', async (t) => {
  const read = services.filter(
    ({ statusPage }) => statusPage !== null && statusPage.kind !== 'custom',
  ).length;
  const people = services.filter(({ statusPage }) => statusPage?.kind === 'custom').length;
  const document = readFileSync(join(import.meta.dirname, '../../docs/feeds.md'), 'utf8').replaceAll(
    '\n',
    ' ',
  );
  const count = (number: number) => number.toLocaleString('en-US');
  t.match(
    document,
    `The public list has ${count(services.length)} services. Upbeat reads the pages of ${read}; ${people} more have a page for people only.`,
  );
});
