/** What Upbeat knows of a service before it ever checked it. Plain data that crosses threads. */
import type { Category } from './category.ts';

/** How a service is monitored (decisions, "What a check is"). */
export type CheckKind = 'root' | 'health' | 'heartbeat';

/** A status class such as `2xx`, or one status code. */
export type AcceptRule = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | number;

/** How to check a service. */
export interface CheckDefinition {
  readonly kind: CheckKind;
  /** Replaces `https://<domain>/` or, for `health`, `https://<domain>/api/health`; null: the default address. */
  readonly url: string | null;
  /** Method of a root check's first request; null: HEAD until the service has shown that it needs GET. */
  readonly method: 'HEAD' | 'GET' | null;
  /** Answers that count as good; null: the rule of `decisions.md`. */
  readonly accept: readonly AcceptRule[] | null;
  /** PEM bundle that is trusted beside the system's authorities; a path from the working directory; null: none. */
  readonly caFile: string | null;
  /** Heartbeats: the time from one to the next, milliseconds; absent: the setting `heartbeats.silence` alone counts. */
  readonly periodMs?: number;
  /** Heartbeats: how much later than that one may come, milliseconds; absent: not at all. */
  readonly graceMs?: number;
  /** The owner chose this kind although the service sends heartbeats: these no longer change it. Absent: not so. */
  readonly keepsKind?: true;
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
  'rss',
  'atom',
  'custom',
] as const;

/** Format of a vendor's feed; `custom` has a page for people and no feed that we read. */
export type StatusPageKind = (typeof STATUS_PAGE_KINDS)[number];

/** Where a vendor speaks about the state of its service. */
export interface StatusPage {
  /** The page for people. */
  readonly url: string;
  readonly kind: StatusPageKind;
  /** Address of the feed where it does not follow from `url` and `kind`; null: it follows. */
  readonly feedUrl: string | null;
  /** Names of the page's components that concern this service; null: the whole page does. */
  readonly components: readonly string[] | null;
}

/** Where a service comes from: the public catalogue, or an owner's account. */
export type ServiceOrigin = 'catalogue' | 'owner';

/** One monitored service. */
export interface Service {
  /** Whole number that is never used again; the key of samples. */
  readonly id: number;
  /** Lower-case identifier in paths, unique among all services. */
  readonly slug: string;
  /** Slugs that it had before its domain was verified and still answers to; absent: none. */
  readonly formerSlugs?: readonly string[];
  readonly name: string;
  /** Host name in lower-case ASCII, as shown. */
  readonly domain: string;
  readonly category: Category;
  readonly origin: ServiceOrigin;
  /** The account that owns it; null for the catalogue. */
  readonly accountId: number | null;
  /** The owner has shown control of the domain; always true for the catalogue. */
  readonly verified: boolean;
  /** A paused service is listed but not checked. */
  readonly paused: boolean;
  readonly check: CheckDefinition;
  readonly statusPage: StatusPage | null;
  /** The owner lets everybody see what the service reports of its dependencies; absent: not so. */
  readonly publicDependencies?: true;
  /** Grows with every change of the definition, from 1. */
  readonly revision: number;
}

/** The check that a service has when nothing else is said. */
export const DEFAULT_CHECK: CheckDefinition = {
  kind: 'root',
  url: null,
  method: null,
  accept: null,
  caFile: null,
};

/**
 * The name as everybody else is shown it: behind the name that an owner gave stands the domain, so that no service passes
 * for another (decisions, Ownership).
 */
export function fullName({ name, domain, origin }: Pick<Service, 'name' | 'domain' | 'origin'>): string {
  return origin === 'catalogue' || name === domain ? name : `${name} (${domain})`;
}

/** The name of a domain on badges and pages: each dot replaced by a dash (contract 4.6). */
export function dashDomain(domain: string): string {
  return domain.replaceAll('.', '-');
}

/** `base`, or `base-2`, `base-3` and so on: the first form that is not taken. */
export function firstFreeForm(base: string, isTaken: (form: string) => boolean): string {
  let form = base;
  for (let number = 2; isTaken(form); number++) form = `${base}-${number}`;
  return form;
}
