/** The context of decisions: rules, services, and what is known of them. */
import { getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { AlertContext, AlertService, CauseFacts } from '../domain/alert/alert-draft.ts';
import { type ChannelKind, hasThreads } from '../domain/alert/channel.ts';
import { indexRules, type MatchedService, type RuleIndex, rulesOf } from '../domain/alert/match.ts';
import type { AlertRule } from '../domain/alert/rule.ts';
import { type CheckTiming, timingOf } from '../domain/check-target.ts';
import { formatTime } from '../domain/durations.ts';
import { type Category, fullName, type Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';
import type { LatestCheck } from '../domain/status/current.ts';
import type { PastOutage } from '../domain/status/reach.ts';
import type { AlertFacts, AlertStore, LoadedRules, RuleStore } from '../store/ports/alerts.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { PageReads } from '../store/ports/status-pages.ts';

/** The services of the program, as alerts find them. */
export interface AlertServices {
  /** Null: there is no such service. */
  byId(id: number): Service | null;
  ofCategory(category: Category): readonly Service[];
  all(): readonly Service[];
  /** Grows with every change of the list. */
  readonly version: number;
  /** By slug or former slug; null: there is none. */
  bySlug(slug: string): Service | null;
  pageName(service: Service): string;
}

export interface AlertSources {
  readonly registry: AlertStore & RuleStore & PageReads;
  readonly services: AlertServices;
  readonly status: StatusReads;
  /** The newest outage of a service, if it is over; null: it lasts, or none is remembered. Absent: none is. */
  readonly lastOutageOf?: ((serviceId: number) => PastOutage | null) | undefined;
  /** Times of checks that have none of their own. */
  readonly usual: CheckTiming;
  readonly clock: Clock;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly acknowledgeUrl: (accountId: number, thread: string) => string;
}

export interface AlertRules extends LoadedRules {
  readonly index: RuleIndex;
  readonly byId: ReadonlyMap<number, AlertRule>;
  /** Accounts and kinds of channels, by ID. */
  readonly owners: ReadonlyMap<number, number>;
  readonly kinds: ReadonlyMap<number, ChannelKind>;
}

/** Maximum number of services of an account among which a common cause is looked for. */
const MAX_CAUSE_SERVICES = 5_000;

export async function loadAlertRules({ registry }: AlertSources): Promise<AlertRules> {
  const loaded = await registry.loadRules();
  const pages = new Map<number, ReadonlyMap<string, readonly number[]>>();
  for (const { accountId, of } of loaded.rules) {
    if (of.pages.length === 0 || pages.has(accountId)) continue;
    const owned = await registry.pagesOf(accountId);
    pages.set(
      accountId,
      new Map(owned.map(({ slug, groups }) => [slug, groups.flatMap(({ services }) => services)])),
    );
  }
  return {
    ...loaded,
    index: indexRules(loaded.rules, (accountId, slug) => pages.get(accountId)?.get(slug) ?? []),
    byId: new Map(loaded.rules.map((rule) => [rule.id, rule])),
    kinds: new Map(loaded.channels.map(({ id, kind }) => [id, kind])),
    owners: new Map(loaded.channels.map(({ id, accountId }) => [id, accountId])),
  };
}

/** A service as rules match it; null: there is none. */
export function matchedService(services: AlertServices, id: number): MatchedService | null {
  const service = services.byId(id);
  return service === null ? null : toMatched(service);
}

/**
 * The world of an account. `concerned`: IDs of the services that messages may be about, whose facts are read. The world is that
 * of this moment, and is used for one decision.
 */
export async function openAlertContext(
  sources: AlertSources,
  rules: AlertRules,
  accountId: number,
  concerned: ReadonlySet<number>,
): Promise<AlertContext> {
  const { registry, services, status, siteUrl } = sources;
  const own = rules.rules.filter((rule) => rule.accountId === accountId);
  const known = new Set(concerned);
  if (concerned.size > 1) for (const id of ownIds(sources.services, own, accountId)) known.add(id);
  for (const id of concerned) for (const one of ancestorIds(services, services.byId(id))) known.add(one);
  const facts = new Map((await registry.alertFacts([...known])).map((fact) => [fact.serviceId, fact]));

  const serviceOf = (id: number): AlertService | null => {
    const service = services.byId(id);
    if (service === null) return null;
    const current = status.get(id);
    const { vendor = null, isInMaintenance = false } = facts.get(id) ?? {};
    return {
      ...toMatched(service),
      slug: service.slug,
      name: fullName(service),
      domain: service.domain,
      url: `${siteUrl}/status/${services.pageName(service)}`,
      isPaused: service.paused,
      status: current?.status ?? 'unknown',
      scope: current?.scope ?? null,
      vendor,
      certificateEndsAt: current?.latest?.certificateExpiresAt ?? null,
      ancestors: ancestorIds(services, service),
      since: current?.since ?? null,
      checkedAt: current?.latest?.checkedAt ?? null,
      isStale: isCheckOld(service, current?.latest?.checkedAt ?? 0, sources),
      isProbed: service.check.kind !== 'heartbeat',
      lastOutage: sources.lastOutageOf?.(id) ?? null,
      isInMaintenance,
    };
  };

  return {
    accountId,
    service: serviceOf,
    rulesOf(serviceId) {
      const service = matchedService(sources.services, serviceId);
      return service === null ? [] : rulesOf(rules.index, accountId, service);
    },
    rule(id) {
      const rule = rules.byId.get(id);
      return rule === undefined || rule.accountId !== accountId ? null : rule;
    },
    countBehind: (id) =>
      behindOf(sources.services, accountId).filter((child) => ancestorIds(services, child).includes(id))
        .length,
    hasThreads: (id) => hasThreads(rules.kinds.get(id) ?? 'email'),
    hasChannel: (id) => rules.owners.get(id) === accountId,
    *causeFacts() {
      const ids = new Set([...known, ...publicIds(services, own)]);
      for (const id of ids) {
        const cause = causeOf(services.byId(id), facts.get(id), status);
        if (cause !== null) yield cause;
      }
    },
    overviewUrl: `${siteUrl}/dashboard`,
    acknowledgeUrl: (thread) => sources.acknowledgeUrl(accountId, thread),
  };
}

function toMatched({ id, accountId, category, origin }: Service): MatchedService {
  return { id, accountId, category, isPublic: origin === 'catalogue' };
}

/** IDs of all that a service depends on, the nearest first. */
function ancestorIds(services: AlertServices, service: Service | null): readonly number[] {
  return service === null ? [] : ancestorsOf(service, services.bySlug).map(({ id }) => id);
}

/** The services of an account that depend on others. */
function behindOf(services: AlertServices, accountId: number): readonly Service[] {
  return ownedBy(services, accountId).filter(({ dependsOn }) => dependsOn !== undefined);
}

/** Returns true if the newest check of a service began more than two intervals ago. A heartbeat that is missed is noticed in time. */
function isCheckOld({ check }: Service, checkedAt: number, { usual, clock }: AlertSources): boolean {
  return check.kind !== 'heartbeat' && clock.now() - checkedAt > 2 * timingOf(check, usual).intervalMs;
}

/** The services of accounts, as of a version of the list. */
const ownedServices = new WeakMap<
  AlertServices,
  { readonly version: number; readonly byAccount: ReadonlyMap<number, readonly Service[]> }
>();

function ownedBy(services: AlertServices, accountId: number): readonly Service[] {
  const known = ownedServices.get(services);
  if (known?.version === services.version) return known.byAccount.get(accountId) ?? [];
  const byAccount = new Map<number, Service[]>();
  for (const service of services.all())
    if (service.accountId !== null) getOrInsert(byAccount, service.accountId, () => []).push(service);
  ownedServices.set(services, { version: services.version, byAccount });
  return byAccount.get(accountId) ?? [];
}

/** The services that an account's rules name, without those of public categories. */
function ownIds(services: AlertServices, rules: readonly AlertRule[], accountId: number): Iterable<number> {
  const categories = new Set(rules.flatMap(({ of }) => of.categories));
  const isAll = rules.some(({ of }) => of.own || of.pages.length > 0);
  const named = rules.flatMap(({ of }) => of.services);
  const own = isAll || categories.size > 0 ? ownedBy(services, accountId) : [];
  const chosen = own.filter(({ category }) => isAll || categories.has(category));
  return [...named, ...chosen.slice(0, MAX_CAUSE_SERVICES).map(({ id }) => id)];
}

/** The services that an account's rules name, its own ones first. */
export function rulesScope(
  services: AlertServices,
  { rules }: AlertRules,
  accountId: number,
): ReadonlySet<number> {
  const own = rules.filter((rule) => rule.accountId === accountId);
  return new Set([...ownIds(services, own, accountId), ...publicIds(services, own)]);
}

function* publicIds(services: AlertServices, rules: readonly AlertRule[]): Generator<number> {
  let count = 0;
  for (const category of new Set(rules.flatMap(({ of }) => of.publicCategories)))
    for (const service of services.ofCategory(category)) {
      if (service.origin !== 'catalogue') continue;
      yield service.id;
      count += 1;
      if (count >= MAX_CAUSE_SERVICES) return;
    }
}

function causeOf(
  service: Service | null,
  facts: AlertFacts | undefined,
  status: StatusReads,
): CauseFacts | null {
  const current = service === null ? null : status.get(service.id);
  if (service === null || current === null || current.latest === null) return null;
  const { addresses = [], failingDependencies = [], vendor = null } = facts ?? {};
  const vendorName = vendorNameOf(service);
  return {
    serviceId: service.id,
    status: current.status,
    checkedAt: current.latest.checkedAt,
    addresses,
    dependencies: failingDependencies.map((name) => ({ name, fails: true })),
    regions: (current.regions ?? [])
      .filter(({ votes }) => votes)
      .map(({ region, check }) => ({ name: region, fails: check.status === 'down' })),
    vendors: vendorName === null ? [] : [{ name: vendorName, hasIncident: vendor !== null }],
    ...certificateOf(current.latest),
  };
}

/** Services that share a certificate, such as one of a wildcard, see it end at the same second. */
function certificateOf({ certificateExpiresAt, failure }: LatestCheck) {
  if (certificateExpiresAt === null) return {};
  const validUntil = `${formatTime(certificateExpiresAt).slice(0, 16).replace('T', ' ')} UTC`;
  return { certificate: { validUntil, fails: failure?.cause.code.startsWith('certificate_') ?? false } };
}

/** The host of the vendor's status page, which services of one vendor share; null: the service has none. */
export function vendorNameOf({ statusPage }: Service): string | null {
  const url = statusPage === null ? null : URL.parse(statusPage.url);
  return url === null ? null : url.hostname.replace(/^www\./, '');
}
