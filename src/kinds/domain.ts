/** Kind `domain`: how long the domain is registered, and whether the registry has taken it out of use (RDAP, RFC 9082 and 9083). */
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';
import { BoundedMap } from '../async/bounded-map.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/durations.ts';
import { describeCause, type Failure, type FailureCause, failureOf } from '../domain/failure.ts';
import type { Attempt } from '../domain/result.ts';
import { Type } from '../json-schema.ts';
import type { Fault } from '../outbound/fault.ts';
import { readBody } from '../outbound/read-body.ts';
import { sendRequest, type WebResponse } from '../outbound/send-request.ts';
import {
  attemptOf,
  defineKind,
  invalidAddress,
  type ProbeTools,
  type Run,
  redirectsOf,
} from './check-kind.ts';

/**
 * The RDAP servers of common top-level domains (RFC 9224), compared in November 2026 with a copy of IANA's registry from March 2025 and,
 * for what that lacks or what has moved since (io, me, co, us, and the domains of Radix), with the lists of public clients from 2026. A
 * check may name another one by its setting `server`. Registries that do not publish when a registration ends, such as those of de, eu and
 * ch, are left out.
 */
const IDENTITY_DIGITAL = 'https://rdap.identitydigital.services/rdap/';

const GOOGLE = 'https://pubapi.registry.google/rdap/';

const RADIX = 'https://rdap.radix.host/rdap/';

const CENTRAL_NIC = 'https://rdap.centralnic.com/';

/** Base addresses by top-level domains in ASCII. */
const RDAP_SERVERS: ReadonlyMap<string, string> = new Map([
  ['com', 'https://rdap.verisign.com/com/v1/'],
  ['net', 'https://rdap.verisign.com/net/v1/'],
  ['org', 'https://rdap.publicinterestregistry.org/rdap/'],
  ['biz', 'https://rdap.nic.biz/'],
  ...[
    'info',
    'io',
    'ai',
    'me',
    'pro',
    'live',
    'life',
    'email',
    'network',
    'systems',
    'tools',
    'world',
    'zone',
  ].map((tld) => [tld, IDENTITY_DIGITAL] as const),
  ...['app', 'dev', 'page', 'new', 'zip'].map((tld) => [tld, GOOGLE] as const),
  ...['online', 'site', 'store', 'tech', 'space', 'website', 'host', 'press'].map(
    (tld) => [tld, RADIX] as const,
  ),
  ...['xyz'].map((tld) => [tld, `${CENTRAL_NIC}${tld}/`] as const),
  ['co', 'https://rdap.registry.co/co/'],
  ['us', 'https://rdap.nic.us/'],
  ['uk', 'https://rdap.nominet.uk/uk/'],
  ['fr', 'https://rdap.nic.fr/'],
  ['nl', 'https://rdap.sidn.nl/'],
  ['cz', 'https://rdap.nic.cz/'],
  ['br', 'https://rdap.registro.br/'],
  ['ca', 'https://rdap.ca.fury.ca/rdap/'],
  ['cloud', 'https://rdap.registry.cloud/rdap/'],
]);

/** Loads the list of public suffixes with the first check of this kind, since it takes memory in every thread. */
const load = createRequire(import.meta.url);

const DEFAULT_MIN_DAYS = 14;
/** Maximum size of an answer, bytes. */
const MAX_ANSWER_BYTES = 262_144;
/** The time for which an end is known before the registry is asked again; registries refuse clients that ask every minute. */
const KNOWN_MS = 6 * HOUR_MS;
/** The same for an answer without one. */
const UNKNOWN_MS = 15 * MINUTE_MS;
const MAX_KNOWN = 4_096;
/** Maximum number of statuses and events that are looked at. */
const MAX_ITEMS = 100;
/** Statuses of a domain that is not in the DNS, or about to be deleted (RFC 8056). */
const OUT_OF_USE = new Set(['redemption period', 'pending delete', 'server hold', 'client hold', 'inactive']);

/** The answer of a registry: an end and statuses, that there is no such domain, or nothing that helps. */
interface Registration {
  readonly askedAt: number;
  readonly response: Pick<WebResponse, 'statusCode' | 'timing' | 'lostMs'>;
  readonly expiresAt: number | null;
  /** Those that take it out of use; others are not kept. */
  readonly statuses: readonly string[];
  readonly isMissing: boolean;
  /** Why it is not known; null: it is. Faults that concern the request itself stay as they are. */
  readonly fault: Fault | null;
}

export const domainCheck = defineKind({
  settings: Type.Object({
    minDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 365 })),
    server: Type.Optional(Type.String({ format: 'rdap-server', maxLength: 500 })),
  }),
  prepare: (tools) => {
    const known = new BoundedMap<string, Registration>(MAX_KNOWN);
    return async (run, { minDays = DEFAULT_MIN_DAYS, server }) => {
      const { getDomain }: typeof Tldts = load('tldts');
      const name = getDomain(run.target.domain) ?? run.target.domain;
      const tld = name.slice(name.lastIndexOf('.') + 1);
      const base = server ?? RDAP_SERVERS.get(tld);
      if (base === undefined) return unknownRegistry(run, tld);
      const url = `${base.replace(/\/*$/, '/')}domain/${name}`;
      const reading = tools.destinationOf(url);
      if ('problem' in reading) return invalidAddress(run, 'domain', reading);
      const before = known.get(url);
      const isFresh = before !== undefined && run.startedAt - before.askedAt < lifeOf(before);
      // A re-check asks anew.
      const found = isFresh && run.options.number === 0 ? before : await ask(tools, run, url);
      // An end that was known does not change because the registry is silent for a while.
      const isKnown = found.expiresAt !== null || found.isMissing || found.statuses.length > 0;
      const isLost = !isKnown && before?.expiresAt != null;
      // Whether this service may connect now says nothing of the next time, or of others.
      if (!isOfRequest(found.fault))
        known.set(url, isLost ? { ...before, askedAt: run.startedAt - KNOWN_MS + UNKNOWN_MS } : found);
      return judge(run, isLost ? before : found, minDays);
    };
  },
});

/** Returns true if a fault concerns the request: its address may not be dialled, or not now. */
function isOfRequest(fault: Fault | null): boolean {
  return fault?.failure.class === 'forbidden_address' || fault?.failure.cause.code === 'address_busy';
}

function lifeOf({ expiresAt }: Registration): number {
  return expiresAt === null ? UNKNOWN_MS : KNOWN_MS;
}

async function ask(tools: ProbeTools, run: Run, url: string): Promise<Registration> {
  const { parts, userAgent, trust, guardOf, destinationOf } = tools;
  const { target, deadline, options, startedAt } = run;
  const destination = destinationOf(url);
  if ('problem' in destination) throw new TypeError('the address has been read before');
  const response = await sendRequest(
    parts,
    {
      ...{ destination, method: 'GET', body: null, maxBodyBytes: MAX_ANSWER_BYTES },
      headers: ['user-agent', userAgent, 'accept', 'application/rdap+json, application/json;q=0.9'],
      wantsBody: (statusCode) => statusCode === 200,
      redirects: redirectsOf(),
      guard: guardOf(target, destination.port),
      trust: () => trust(target.check.caFile),
      fresh: options.number > 0,
    },
    deadline,
  );
  const { fault, statusCode, timing, lostMs } = response;
  // The body is not kept.
  const head = { statusCode, timing, lostMs };
  const nothing = { askedAt: startedAt, response: head, expiresAt: null, statuses: [], isMissing: false };
  if (fault !== null)
    return { ...nothing, fault: isOfRequest(fault) ? fault : unknown(describeCause(fault.failure)) };
  if (statusCode === 404) return { ...nothing, isMissing: true, fault: null };
  if (statusCode !== 200) return { ...nothing, fault: unknown(`it answers with status ${statusCode}`) };
  const body = await readBody(response, MAX_ANSWER_BYTES);
  const document = body.kind === 'text' && body.whole ? readDocument(body.text) : null;
  if (document === null) return { ...nothing, fault: unknown('its answer is no RDAP') };
  const { expiresAt, statuses } = document;
  return {
    ...nothing,
    expiresAt,
    statuses,
    fault: expiresAt === null ? unknown('it does not publish the end') : null,
  };
}

/** The end of a domain in an answer, and its statuses that take it out of use; null: the answer is about no domain. */
export function readDocument(
  text: string,
): { readonly expiresAt: number | null; readonly statuses: readonly string[] } | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return null;
  }
  const { objectClassName, events, status } = Object(answer);
  if (objectClassName !== 'domain') return null;
  const dates = listOf(events)
    .map((event) => Object(event))
    .filter(({ eventAction, eventDate }) => eventAction === 'expiration' && typeof eventDate === 'string')
    .map(({ eventDate }) => Date.parse(eventDate))
    .filter((date) => !Number.isNaN(date));
  const statuses = listOf(status).filter((word) => typeof word === 'string');
  return {
    expiresAt: dates.length === 0 ? null : Math.min(...dates),
    statuses: statuses.filter((word) => OUT_OF_USE.has(word.toLowerCase())),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
}

function judge(
  run: Run,
  { response, isMissing, expiresAt, statuses, fault }: Registration,
  minDays: number,
): Attempt {
  const failure = isMissing
    ? failed({ code: 'domain_unregistered' })
    : judgeEnd(expiresAt, statuses, minDays, run.startedAt);
  return attemptOf(run, 'domain', {
    answered: response.statusCode !== 0,
    statusCode: response.statusCode,
    timing: response.timing,
    fault: failure === null && expiresAt === null ? fault : null,
    failure,
    lostMs: response.lostMs,
  });
}

function judgeEnd(
  expiresAt: number | null,
  statuses: readonly string[],
  minDays: number,
  now: number,
): Failure | null {
  const [taken] = statuses;
  if (taken !== undefined) return failed({ code: 'domain_out_of_use', text: taken });
  if (expiresAt === null) return null;
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days < 0) return failed({ code: 'domain_expired' });
  return days < minDays ? failed({ code: 'domain_expires_soon', days, minDays }) : null;
}

function failed(cause: FailureCause): Failure {
  return failureOf('content', 'body', cause);
}

/** The registry did not say when the registration ends, which says nothing of the domain. */
function unknown(error: string): Fault {
  return { failure: failed({ code: 'registration_unknown', error }), suspect: 'own_fault' };
}

function unknownRegistry(run: Run, tld: string): Attempt {
  const timing = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: null };
  const failure = failed({ code: 'registry_missing', text: tld });
  return attemptOf(run, 'domain', {
    ...{ answered: false, timing, failure: null, lostMs: 0 },
    fault: { failure, suspect: 'own_fault' },
  });
}
