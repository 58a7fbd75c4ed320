/** Which rules an event matches: a lookup by service, however many services and rules there are. */
import type { Category } from '../service.ts';
import type { AlertChange } from './event.ts';
import type { AlertEventName, AlertRule } from './rule.ts';

export interface MatchedService {
  readonly id: number;
  /** The account that owns it; null: none does. */
  readonly accountId: number | null;
  readonly category: Category;
  /** Everyone may see it, so rules of every account may name it. */
  readonly isPublic: boolean;
}

type RulesByAccount = Map<number, AlertRule[]>;

/** Rules by what they name. Made by {@link indexRules}; read by {@link accountsOf} and {@link rulesOf}. */
export interface RuleIndex {
  readonly byService: ReadonlyMap<number, RulesByAccount>;
  /** Rules for all services of the account. */
  readonly byOwner: RulesByAccount;
  /** Rules for services of the account with a category. */
  readonly byCategory: ReadonlyMap<Category, RulesByAccount>;
  readonly byPublicCategory: ReadonlyMap<Category, RulesByAccount>;
}

/**
 * Indexes the rules that are enabled. `servicesOfPage` gives the IDs of the services on a page of an account; none where there
 * is no such page. The index has to be made again when a rule, or a page that a rule names, changes.
 */
export function indexRules(
  rules: readonly AlertRule[],
  servicesOfPage: (accountId: number, slug: string) => readonly number[],
): RuleIndex {
  const byService = new Map<number, RulesByAccount>();
  const byOwner: RulesByAccount = new Map();
  const byCategory = new Map<Category, RulesByAccount>();
  const byPublicCategory = new Map<Category, RulesByAccount>();
  for (const rule of rules) {
    if (!rule.enabled) continue;
    const { own, services, pages, categories, publicCategories } = rule.of;
    const named = [...services, ...pages.flatMap((slug) => servicesOfPage(rule.accountId, slug))];
    for (const id of new Set(named)) add(childOf(byService, id), rule);
    if (own) add(byOwner, rule);
    for (const category of categories) add(childOf(byCategory, category), rule);
    for (const category of publicCategories) add(childOf(byPublicCategory, category), rule);
  }
  return { byService, byOwner, byCategory, byPublicCategory };
}

/** IDs of the accounts with a rule for the service. */
export function accountsOf(index: RuleIndex, service: MatchedService): Set<number> {
  const accounts = new Set<number>();
  for (const rules of tablesOf(index, service)) {
    for (const accountId of rules.keys()) {
      if (service.isPublic || accountId === service.accountId) accounts.add(accountId);
    }
  }
  const owner = service.accountId;
  if (owner !== null && ownTablesOf(index, service).some((rules) => rules.has(owner))) accounts.add(owner);
  return accounts;
}

/** The rules of one account for the service, whatever events they ask for, each once. */
export function rulesOf(index: RuleIndex, accountId: number, service: MatchedService): AlertRule[] {
  const isOwn = accountId === service.accountId;
  if (!isOwn && !service.isPublic) return [];
  const tables = [...tablesOf(index, service), ...(isOwn ? ownTablesOf(index, service) : [])];
  return [...new Set(tables.flatMap((rules) => rules.get(accountId) ?? []))];
}

/** The words for a change; a rule is told of it if it asks for one of them. Empty: nothing to tell. */
export function wordsOf(change: AlertChange): readonly AlertEventName[] {
  switch (change.type) {
    case 'status':
      if (change.to === 'down') {
        return [
          'down',
          ...(change.source === 'silence' ? (['heartbeat_missed'] as const) : []),
          ...(change.reason?.code === 'run_failed' ? (['run_failed'] as const) : []),
        ];
      }
      if (change.to === 'slow') return change.from === 'down' ? ['up', 'slow'] : ['slow'];
      if (change.from === 'down') return ['up'];
      return change.from === 'slow' ? ['slow'] : [];
    case 'scope':
      return ['scope'];
    case 'maintenance':
      return change.phase === 'planned' ? [] : ['maintenance'];
    case 'certificate':
      return ['certificate'];
    case 'incident':
      return wordsOfIncident(change);
  }
}

export function asksFor(rule: AlertRule, words: readonly AlertEventName[]): boolean {
  return words.some((word) => rule.events.includes(word));
}

function wordsOfIncident({
  before,
  incident,
}: Extract<AlertChange, { readonly type: 'incident' }>): readonly AlertEventName[] {
  const isOver = incident.status === 'resolved';
  if (incident.source === 'vendor') {
    // An old incident that is first seen when it is over, and texts without a change, are no news.
    if (before === incident.status || (before === null && isOver)) return [];
    return incident.severity === 'maintenance' ? ['maintenance'] : ['vendor_incident'];
  }
  if (before === null) return ['incident'];
  return isOver && before !== 'resolved' ? ['incident', 'incident_update'] : ['incident_update'];
}

function tablesOf(index: RuleIndex, service: MatchedService): readonly RulesByAccount[] {
  const named = index.byService.get(service.id);
  const open = service.isPublic ? index.byPublicCategory.get(service.category) : undefined;
  return [named, open].filter((rules) => rules !== undefined);
}

function ownTablesOf(index: RuleIndex, service: MatchedService): readonly RulesByAccount[] {
  const ofCategory = index.byCategory.get(service.category);
  return ofCategory === undefined ? [index.byOwner] : [index.byOwner, ofCategory];
}

function childOf<Key>(map: Map<Key, RulesByAccount>, key: Key): RulesByAccount {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made: RulesByAccount = new Map();
  map.set(key, made);
  return made;
}

function add(rules: RulesByAccount, rule: AlertRule): void {
  const those = rules.get(rule.accountId);
  if (those === undefined) rules.set(rule.accountId, [rule]);
  else if (those.at(-1) !== rule) those.push(rule);
}
