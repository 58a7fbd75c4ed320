/** The definition of a service, and the categories of the contract (2.5). Plain data that crosses threads. */
import type { HeartbeatSchedule } from './heartbeat/heartbeat-schedule.ts';

/** The categories of the contract (2.5) in its order, with their English headings. */
export const CATEGORY_TITLES = {
  ai: 'AI',
  'social-media': 'Social media',
  gaming: 'Gaming',
  streaming: 'Streaming',
  productivity: 'Productivity',
  cloud: 'Cloud',
  finance: 'Finance',
  communication: 'Communication',
  ecommerce: 'E-commerce',
  developer: 'Developer',
  education: 'Education',
  delivery: 'Delivery',
  vpn: 'VPN',
  entertainment: 'Entertainment',
  isp: 'Internet providers',
  dating: 'Dating',
  logistics: 'Logistics',
  travel: 'Travel',
} as const;

export type Category = keyof typeof CATEGORY_TITLES;

/** The categories in the contract's order. */
export const CATEGORIES = Object.keys(CATEGORY_TITLES) as readonly Category[];

/** Returns true if a word is a category of the contract. */
export function isCategory(word: string): word is Category {
  return Object.hasOwn(CATEGORY_TITLES, word);
}

/** The kinds of checks, in the order in which they are offered. */
export const PROBED_KINDS = [
  'root',
  'health',
  'tcp',
  'tls',
  'http',
  'websocket',
  'grpc',
  'icmp',
  'dns',
  'smtp',
  'ssh',
  'postgres',
  'mysql',
  'redis',
  'mqtt',
  'mongodb',
  'domain',
  'docker',
] as const;

export type ProbedKind = (typeof PROBED_KINDS)[number];

/** The way a service is monitored (decisions, "What a check is"): by a kind of check, or by the heartbeats that it sends. */
export type CheckKind = ProbedKind | 'heartbeat';

export const MONITORING_KINDS: readonly CheckKind[] = [...PROBED_KINDS, 'heartbeat'];

/** Classes of status codes. RFC 9110 ends with `5xx`; some servers answer with others, such as 999. */
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'] as const;

/** A status class such as `2xx`, or one status code, 100 to 999. */
export type AcceptRule = (typeof STATUS_CLASSES)[number] | number;

/** Settings of a kind of check by their names, as the schema of the kind has them (`src/kinds/`). */
export type CheckSettings = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface CheckDefinition {
  readonly kind: CheckKind;
  /** Replaces `https://<domain>/` or, for `health`, `https://<domain>/api/health`; null: the default address. */
  readonly url: string | null;
  /** Method of a root check's first request; null: HEAD until the service has shown that it needs GET. */
  readonly method: 'HEAD' | 'GET' | null;
  /** Responses that count as good; null: the rule of `decisions.md`. */
  readonly accept: readonly AcceptRule[] | null;
  /** Path of a PEM bundle with further trusted authorities, from the working directory; null: none. */
  readonly caFile: string | null;
  /** Settings of the kind, without credentials; absent: its defaults. */
  readonly settings?: CheckSettings;
  /** Encrypted credentials by the names of their settings (`credential-seal.ts`); absent: there are none. */
  readonly sealed?: Readonly<Record<string, string>>;
  /** Time between two checks, milliseconds; absent: the setting `checks.interval` counts. */
  readonly intervalMs?: number;
  /** Timeout of an attempt, milliseconds; absent: `checks.timeout` counts, at most the interval. */
  readonly timeoutMs?: number;
  /** Slower responses make the service slow, milliseconds; absent: `checks.slowOver` counts. */
  readonly slowOverMs?: number;
  /** Delays of the re-checks after a failure, milliseconds; empty: there are none; absent: `checks.confirmAfter` counts. */
  readonly confirmAfterMs?: readonly number[];
  /** The regions from which the service is checked, at least one; absent: every region. */
  readonly regions?: readonly string[];
  /** Heartbeats: the time from one to the next, milliseconds; absent: the setting `heartbeats.silence` counts. */
  readonly periodMs?: number;
  /** Heartbeats: how late one may arrive, milliseconds; absent: 0. */
  readonly graceMs?: number;
  /** Heartbeats: when they are expected, instead of every `periodMs`; absent: there is no schedule. */
  readonly schedule?: HeartbeatSchedule;
  /** Heartbeats: SHA-256 of the secret in the service's heartbeat address, hexadecimal; absent: it has no address. */
  readonly addressHash?: string;
  /**
   * The account by whose trust the check may reach private addresses; it counts only while that account owns the service. Absent: none.
   * The registry alone sets it.
   */
  readonly trustedBy?: number;
  /** The owner chose this kind although the service sends heartbeats, which no longer change it. Absent: false. */
  readonly keepsKind?: true;
}

/**
 * Returns true if a check takes any certificate. Responses and pages say so, since another server could answer in place of the
 * service.
 */
export function ignoresCertificate({
  kind,
  settings,
}: Partial<Pick<CheckDefinition, 'kind' | 'settings'>>): boolean {
  return kind === 'http' && settings?.certificate === 'ignore';
}

/**
 * Returns true if the account of a service or of a target is trusted by the operator, so that its checks may reach private
 * addresses. One that went to another account is not, until the registry says so of that account.
 */
export function isTrusted({
  origin,
  accountId,
  check,
}: {
  readonly origin: ServiceOrigin;
  readonly accountId: number | null;
  readonly check: CheckDefinition;
}): boolean {
  return origin === 'owner' && accountId !== null && check.trustedBy === accountId;
}

/** The kinds of vendor status pages that a catalogue entry can name. */
export const STATUS_PAGE_KINDS = [
  'statuspage',
  'incidentio',
  'instatus',
  'betterstack',
  'statusio',
  'gcp',
  'aws',
  'azure',
  'slack',
  'heroku',
  'salesforce',
  'microsoft365',
  'azuredevops',
  'apple',
  'meta',
  'uptimerobot',
  'sorry',
  'pagerduty',
  'statuscast',
  'statuspal',
  'cachet',
  'cstate',
  'uptimekuma',
  'upbeat',
  'firehydrant',
  'okta',
  'nintendo',
  'zscaler',
  'rss',
  'atom',
  'custom',
] as const;

/** Format of a vendor's feed; `custom` has a page and no feed. */
export type StatusPageKind = (typeof STATUS_PAGE_KINDS)[number];

export interface StatusPage {
  /** The page for people. */
  readonly url: string;
  readonly kind: StatusPageKind;
  /** URL of the feed; null: it follows from `url` and `kind`. */
  readonly feedUrl: string | null;
  /** Names of the page's components that concern this service; null: all. */
  readonly components: readonly string[] | null;
}

/** The identity of the feed of a status page; null: the page has none. */
export function feedIdOf(page: StatusPage | null): string | null {
  return page === null || page.kind === 'custom' ? null : `${page.kind} ${page.feedUrl ?? page.url}`;
}

/** The origin of a service: the public catalogue, or an owner's account. */
export type ServiceOrigin = 'catalogue' | 'owner';

/**
 * Who sees a service: everyone; whoever has its address, while no list contains it; or members of its account and their keys
 * alone, while it does not exist for others.
 */
export const VISIBILITIES = ['public', 'unlisted', 'private'] as const;

/** Who sees a service. */
export type Visibility = (typeof VISIBILITIES)[number];

export interface Service {
  /** Whole number that is never reused; the key of samples. */
  readonly id: number;
  /** Lower-case identifier in paths, unique among all services. */
  readonly slug: string;
  /** Further slugs that lead to it: from before its domain was verified, and that of its domain; absent: none. */
  readonly formerSlugs?: readonly string[];
  readonly name: string;
  /** Host name in lower-case ASCII, as shown. */
  readonly domain: string;
  readonly category: Category;
  readonly origin: ServiceOrigin;
  /** The account that owns it; null for the catalogue. */
  readonly accountId: number | null;
  /** The owner has proved control of the domain, or is trusted; always true for the catalogue. */
  readonly verified: boolean;
  /** A paused service is listed but not checked. */
  readonly paused: boolean;
  readonly check: CheckDefinition;
  readonly statusPage: StatusPage | null;
  /** The reports about the service's dependencies are public; absent: false, as it is stored. */
  readonly publicDependencies?: boolean;
  /** Plain text that only members of the account see; absent: none. */
  readonly note?: string;
  /** It is not the first service of its host, to which heartbeats, badges and pages by domain go. Absent: it is. */
  readonly isFurther?: true;
  /** Absent: `public`. */
  readonly visibility?: Visibility;
  /** Slugs of the services without which it cannot be reached; absent: none. */
  readonly dependsOn?: readonly string[];
  /** The number of times that the signed address of its badge was renewed; absent: never. */
  readonly badgeRenewals?: number;
  /** Grows with every change of the definition, from 1. */
  readonly revision: number;
}

/** The members that few services have, with the values of one whose owner has not set them. */
export const UNSAID = {
  ...{ publicDependencies: false, note: '', visibility: 'public', dependsOn: [] },
} as const satisfies Partial<Service>;

/** Returns true if a service belongs to one of these accounts. */
export function isOwn({ accountId }: Service, accounts: ReadonlySet<number>): boolean {
  return accountId !== null && accounts.has(accountId);
}

/** Returns true if a member of these accounts may see a service. */
export function maySee(service: Service, accounts: ReadonlySet<number>): boolean {
  return service.visibility !== 'private' || isOwn(service, accounts);
}

/** Returns true if lists, counts and feeds contain a service as far as its visibility goes. */
export function isPublic({ visibility = 'public' }: Pick<Service, 'visibility'>): boolean {
  return visibility === 'public';
}

/** Who follows a service, as a key: empty for everyone, else something that services of the same account and visibility share. */
export function audienceOf(service: Service | null): string {
  if (service === null) return 'nobody';
  return isPublic(service) ? '' : `${service.visibility} ${service.accountId}`;
}

/** The default check. */
export const DEFAULT_CHECK: CheckDefinition = {
  kind: 'root',
  url: null,
  method: null,
  accept: null,
  caFile: null,
};

/**
 * The name for the public: the domain follows the name that an owner chose, so that no service can pass for another
 * (decisions, Ownership).
 */
export function fullName({ name, domain, origin }: Pick<Service, 'name' | 'domain' | 'origin'>): string {
  return origin === 'catalogue' || name === domain ? name : `${name} (${domain})`;
}

/** A title with the name of what it is about, once: `Shop is not reachable`, `Shop: Delayed mails`. */
export function titleWithName(title: string, name: string): string {
  return title.startsWith(`${name} `) ? title : `${name}: ${title}`;
}

/** The name of a domain on badges and pages: each dot replaced by a dash (contract 4.6), as are the colons of an address. */
export function dashDomain(domain: string): string {
  return domain.replaceAll(/[.:]/g, '-');
}

/** The first of `base`, `base-2`, `base-3` and so on that is not taken. */
export function firstFreeForm(base: string, isTaken: (form: string) => boolean): string {
  let form = base;
  for (let number = 2; isTaken(form); number++) form = `${base}-${number}`;
  return form;
}

/** Maximum number of characters of a slug. */
const MAX_SLUG_LENGTH = 300;
/** Maximum number of characters that the name of a service gives to its slug. */
const MAX_WORD_LENGTH = 40;

/** Returns true if a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG_LENGTH && /^[a-z0-9][a-z0-9_-]*$/.test(text);
}

/** Returns true if a slug is the dashed form of the domain, or begins with it, so that it cannot pass for another domain. */
export function isSlugOfHost(slug: string, domain: string): boolean {
  const form = dashDomain(domain);
  return slug === form || slug.startsWith(`${form}-`);
}

/** Returns true if a slug is the dashed form of the domain, or that with a number: the registry has chosen it. */
export function isFormOf(slug: string, domain: string): boolean {
  return isSlugOfHost(slug, domain) && /^(?:-\d+)?$/.test(slug.slice(domain.length));
}

/** The slug of another service of a host: the dashed domain, followed by its name or, where it has none, its kind. */
export function furtherSlug({ domain, name, check }: Pick<Service, 'domain' | 'name' | 'check'>): string {
  const form = dashDomain(domain);
  const word = name === domain ? '' : slugWord(name);
  if (word.startsWith(`${form}-`)) return word;
  return `${form}-${word === '' || word === form ? check.kind : word}`;
}

/** A text in the letters and digits of slugs; empty: it has none of them. */
export function slugWord(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_WORD_LENGTH)
    .replace(/-+$/, '');
}
