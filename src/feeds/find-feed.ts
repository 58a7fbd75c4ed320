/**
 * Finds what a status page is made with: requests the documents of each kind from its host, and those that the page links to,
 * until a reader accepts one. And what a page of the catalogue that cannot be read is now.
 */
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import type { StatusPage } from '../domain/service.ts';
import { readFeedDocument } from './build-entry.ts';
import {
  decodeText,
  type FeedAddress,
  FeedFormatError,
  type FeedKindName,
  type FeedSource,
  originOf,
  pageBase,
  safeLink,
} from './feed-kind.ts';
import { FEED_KINDS } from './kinds-table.ts';
import { type PollParts, pollFeed } from './poller.ts';

export type FinderParts = Omit<PollParts, 'inTurn'>;

/** A status page that was looked at. */
export interface FoundPage {
  /** Its address, after redirects. */
  readonly url: string;
  /** Null: no reader accepts any of its documents. */
  readonly feed: ReadFeed | null;
}

/** A page as a reader understands it. */
export interface ReadFeed {
  readonly kind: FeedKindName;
  readonly source: FeedSource;
  readonly entries: readonly FeedEntry[];
  /** Why not all of it could be read, one line; null: it could. */
  readonly problem: string | null;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** The rest of a page is not searched for links. */
const MAX_SEARCHED = 300_000;
const MAX_LINKS = 10;

/** The condition under which a kind is tried. */
interface Hint {
  /** Hosts of a kind of one vendor; default: any. */
  readonly host?: RegExp;
  /** A word that pages of the kind contain; default: any. */
  readonly word?: RegExp;
  /** Feed URLs to try, besides the addresses that follow from the page. */
  readonly feedUrls?: (page: Page) => readonly string[];
}

interface Page {
  readonly url: string;
  readonly html: string;
}

/** All kinds, in the order in which they are tried: what many documents could pass for comes last. */
const HINTS: Readonly<Record<FeedKindName, Hint>> = {
  gcp: { host: /(?:^|\.)google\.com$/ },
  aws: { host: /(?:^|\.)(?:aws\.amazon|amazonaws)\.com$/ },
  azure: { host: /(?:^|\.)azure\.(?:status\.)?(?:microsoft|com)(?:\.com)?$/ },
  slack: { host: /^(?:status\.slack|slack-status)\.com$/ },
  heroku: { host: /^status\.heroku\.com$/ },
  salesforce: { host: /^status\.salesforce\.com$/ },
  microsoft365: { host: /^(?:status\.cloud\.microsoft|portal\.office\.com)$/ },
  azuredevops: { host: /^status\.dev\.azure\.com$/ },
  apple: { host: /(?:^|\.)apple\.com$/ },
  meta: { host: /^metastatus\.com$/ },
  okta: { host: /(?:^|\.)okta\.com$/ },
  nintendo: { host: /(?:^|\.)nintendo\.co\.jp$/ },
  zscaler: {
    host: /^trust\.zscaler\.com$/,
    feedUrls: ({ url }) => [`${originOf(url)}/api/cloud-status?cloud=zsn&requestType=core_cloud_services`],
  },
  incidentio: { word: /incident\.io/i },
  statuspage: {},
  instatus: {},
  betterstack: {},
  cstate: {},
  uptimekuma: {},
  uptimerobot: { feedUrls: (page) => monitorLists(page) },
  statusio: { feedUrls: (page) => statusIoPages(page) },
  statuspal: {},
  pagerduty: {},
  sorry: {},
  cachet: { feedUrls: ({ url }) => [`${pageBase(url)}/api`] },
  upbeat: {},
  firehydrant: {},
  statuscast: { word: /statuscast/i },
  atom: { feedUrls: (page) => alternates(page, 'atom') },
  rss: { feedUrls: (page) => alternates(page, 'rss') },
};

/** Looks at a page. Rejects only when `signal` aborts it. */
export async function findFeed(pageUrl: string, parts: FinderParts): Promise<FoundPage> {
  const answers = new Map<string, Promise<Buffer | null>>();
  const first = await request(pageUrl, parts);
  const page: Page = {
    url: first.status === 200 ? first.url : pageUrl,
    html: first.body === null ? '' : decodeText(first.body).slice(0, MAX_SEARCHED),
  };
  const bodyOf = (url: string) => {
    const known =
      answers.get(url) ?? request(url, parts).then(({ status, body }) => (status === 200 ? body : null));
    answers.set(url, known);
    return known;
  };
  for (const { kind, source } of candidates(page)) {
    const main = mainAddress(kind, source);
    const body = main === null ? null : await bodyOf(main.url);
    if (main === null || body === null || !isAccepted(main, body, parts.now())) continue;
    return { url: page.url, feed: await readFeed(kind, source, parts) };
  }
  return { url: page.url, feed: null };
}

/** Reads all documents of a page of a kind once. Rejects only when `signal` aborts it. */
export async function readFeed(
  kind: FeedKindName,
  source: FeedSource,
  parts: FinderParts,
): Promise<ReadFeed> {
  let addresses: readonly FeedAddress[];
  try {
    addresses = FEED_KINDS[kind].addresses(source);
  } catch (error) {
    if (!(error instanceof FeedFormatError)) throw error;
    return { kind, source, entries: [], problem: error.message };
  }
  const { readings, problem } = await pollFeed(addresses, {}, { ...parts, inTurn: (_host, task) => task() });
  // The last document that lists an entry counts.
  const entries = new Map(readings.flatMap((reading) => reading.entries.map((entry) => [entry.key, entry])));
  return { kind, source, entries: [...entries.values()], problem };
}

function* candidates(page: Page): Generator<{ kind: FeedKindName; source: FeedSource }> {
  const { hostname } = new URL(page.url);
  for (const [name, { host, word, feedUrls }] of Object.entries(HINTS)) {
    if (host?.test(hostname) === false || word?.test(page.html) === false) continue;
    const kind = name as FeedKindName;
    for (const feedUrl of feedUrls?.(page) ?? []) yield { kind, source: { pageUrl: page.url, feedUrl } };
    yield { kind, source: { pageUrl: page.url, feedUrl: null } };
  }
}

/** The document that proves the kind; null: its address does not follow from these. */
function mainAddress(kind: FeedKindName, source: FeedSource): FeedAddress | null {
  try {
    const addresses = FEED_KINDS[kind].addresses(source);
    return (
      addresses.find(({ isReference, isOptional }) => isReference !== true && isOptional !== true) ?? null
    );
  } catch (error) {
    if (error instanceof FeedFormatError) return null;
    throw error;
  }
}

function isAccepted(address: FeedAddress, body: Buffer, now: number): boolean {
  try {
    readFeedDocument(address, body, now);
    return true;
  } catch {
    return false;
  }
}

async function request(url: string, { outbound, policy, signal }: FinderParts) {
  return await outbound.request({
    url,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BYTES,
    policy,
    redirects: MAX_REDIRECTS,
    signal,
  });
}

/** `<link rel="alternate" type="application/rss+xml" href="…">` */
function alternates({ url, html }: Page, format: 'rss' | 'atom'): string[] {
  const links = html.match(/<link\b[^<>]{0,1000}>/gi) ?? [];
  return links
    .filter((link) => /\brel=["']?alternate\b/i.test(link) && link.includes(`application/${format}+xml`))
    .slice(0, MAX_LINKS)
    .flatMap((link) => {
      const href = /\bhref=["']?([^"'\s<>]{1,1000})/i.exec(link)?.[1]?.replaceAll('&amp;', '&');
      return safeLink(href, url) ?? [];
    });
}

/** The script of such a page names the address, with its key. */
function monitorLists({ url, html }: Page): string[] {
  const key = /\/api\/get(?:MonitorList|EventFeed)\/([\w-]{1,100})/.exec(html)?.[1];
  return key === undefined ? [] : [`${originOf(url)}/api/getMonitorList/${key}`];
}

/** Links of such a page contain its identifier. */
function statusIoPages({ html }: Page): string[] {
  const id = /\/pages\/(?:[a-z]{1,20}\/)?([0-9a-f]{24})\b/.exec(html)?.[1];
  return id === undefined ? [] : [`https://api.status.io/1.0/status/${id}`];
}

export function catalogueLine({
  kind,
  source: { pageUrl, feedUrl },
}: Pick<ReadFeed, 'kind' | 'source'>): string {
  const feed = feedUrl === null ? '' : `, feedUrl: ${JSON.stringify(feedUrl)}`;
  return `statusPage: { url: ${JSON.stringify(pageUrl)}, kind: ${kind}${feed} }`;
}

export interface PageFinding {
  /** The page in the catalogue. */
  readonly url: string;
  readonly problem: string;
  /** Its line in the catalogue, or what else to do. */
  readonly advice: string;
}

/**
 * Looks at a page. `problem`: why it could not be read; null: it is of kind `custom`. Null: nothing is wrong with it. Rejects only when
 * the signal of the parts aborts it.
 */
export async function lookAtPage(
  { url, kind, feedUrl }: Pick<StatusPage, 'url' | 'kind' | 'feedUrl'>,
  problem: string | null,
  parts: FinderParts,
): Promise<PageFinding | null> {
  const found = await findFeed(url, parts);
  const moved = isMoved(url, found.url) ? `it has moved to ${found.url}` : null;
  const { feed } = found;
  if (feed === null) {
    const wrong = problem ?? moved;
    return wrong === null ? null : { url, problem: wrong, advice: 'look for its feed, or set kind: custom' };
  }
  const isSame = feed.kind === kind && feed.source.feedUrl === feedUrl && moved === null;
  // It can be read again.
  if (isSame && feed.problem === null) return null;
  const isOther = feed.kind === kind ? null : `it is of kind ${feed.kind}`;
  return { url, problem: isOther ?? moved ?? problem ?? '', advice: catalogueLine(feed) };
}

/** Returns true if a page is now at another address, which is more than a slash or the scheme. */
export function isMoved(before: string, after: string): boolean {
  const plain = (url: string) => url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+$/, '');
  return plain(before) !== plain(after);
}
