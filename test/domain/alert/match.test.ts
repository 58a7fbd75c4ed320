/** Which rules an event matches. */
import t from 'tap';
import type { AlertChange, EventIncident } from '../../../src/domain/alert/event.ts';
import {
  accountsOf,
  indexRules,
  type MatchedService,
  rulesOf,
  wordsOf,
} from '../../../src/domain/alert/match.ts';
import type { AlertRule, RuleServices } from '../../../src/domain/alert/rule.ts';
import { ruleOf, statusChange } from './alert-world.ts';

const NONE: RuleServices = { own: false, services: [], categories: [], publicCategories: [], pages: [] };

function rule(
  id: number,
  accountId: number,
  of: Partial<RuleServices>,
  more: Partial<AlertRule> = {},
): AlertRule {
  return ruleOf({ id, accountId, of: { ...NONE, ...of }, ...more });
}

const OWN: MatchedService = { id: 1, accountId: 1, category: 'cloud', isPublic: false };
const SHOWN: MatchedService = { ...OWN, id: 2, isPublic: true };
const LISTED: MatchedService = { id: 3, accountId: null, category: 'ai', isPublic: true };

t.test('a rule has the services that any of its members names', async (t) => {
  const pages = (accountId: number, slug: string) => (accountId === 1 && slug === 'shop' ? [1, 3] : []);
  const table: readonly [string, AlertRule, services: readonly MatchedService[]][] = [
    ['all of the account', rule(1, 1, { own: true }), [OWN, SHOWN]],
    ['all of another account', rule(1, 2, { own: true }), []],
    ['by ID', rule(1, 1, { services: [1, 3] }), [OWN, LISTED]],
    ['of another account, if they are public', rule(1, 2, { services: [1, 2, 3] }), [SHOWN, LISTED]],
    ['by category', rule(1, 1, { categories: ['cloud', 'ai'] }), [OWN, SHOWN]],
    ['public ones by category', rule(1, 1, { publicCategories: ['cloud'] }), [SHOWN]],
    [
      'public ones of another account by category',
      rule(1, 2, { publicCategories: ['cloud', 'ai'] }),
      [SHOWN, LISTED],
    ],
    ['of a page', rule(1, 1, { pages: ['shop', 'gone'] }), [OWN, LISTED]],
    ['of a page of another account', rule(1, 2, { pages: ['shop'] }), []],
    ['by several', rule(1, 1, { own: true, services: [1, 1], pages: ['shop'] }), [OWN, SHOWN, LISTED]],
    ['switched off', rule(1, 1, { own: true, services: [3] }, { enabled: false }), []],
  ];
  for (const [name, one, services] of table) {
    const index = indexRules([one], pages);
    const all = [OWN, SHOWN, LISTED];
    t.same(
      all.filter((service) => rulesOf(index, one.accountId, service).length === 1),
      services,
      name,
    );
    t.same(
      all.filter((service) => accountsOf(index, service).has(one.accountId)),
      services,
      `${name}: accounts`,
    );
    t.ok(all.every((service) => rulesOf(index, 3, service).length === 0));
  }
});

t.test('it gives each rule of an account once', async (t) => {
  const rules = [
    rule(1, 1, { own: true, services: [2], categories: ['cloud'], publicCategories: ['cloud'] }),
    rule(2, 1, { own: true }),
  ];
  const index = indexRules(rules, () => []);
  t.same(
    rulesOf(index, 1, SHOWN)
      .map(({ id }) => id)
      .sort(),
    [1, 2],
  );
});

t.test('a million services and 10,000 rules cost a lookup', async (t) => {
  const rules = Array.from({ length: 10_000 }, (_, n) =>
    rule(n, n % 1000, n % 2 === 0 ? { own: true } : { services: [n * 100] }),
  );
  const index = indexRules(rules, () => []);
  const start = performance.now();
  let found = 0;
  for (let id = 0; id < 100_000; id += 1) {
    const service: MatchedService = {
      id: id * 10,
      accountId: id % 1000,
      category: 'ai',
      isPublic: id % 3 === 0,
    };
    for (const account of accountsOf(index, service)) found += rulesOf(index, account, service).length;
  }
  t.ok(found > 100_000);
  t.ok(performance.now() - start < 5000, 'scanning the rules would take minutes');
});

t.test('an event has words', async (t) => {
  const incident = (
    source: EventIncident['source'],
    before: EventIncident['status'] | null,
    status: EventIncident['status'],
    severity: EventIncident['severity'] = 'major',
  ): AlertChange => ({
    type: 'incident',
    before,
    incident: { id: 'i', source, title: '', text: '', severity, status, startedAt: 0, url: '' },
  });
  const maintenance = (phase: 'planned' | 'running' | 'ended'): AlertChange => ({
    type: 'maintenance',
    id: 'm',
    source: 'owner',
    phase,
    title: '',
    text: '',
    startsAt: 0,
    endsAt: null,
    url: '',
  });
  const table: readonly [AlertChange, readonly string[]][] = [
    [statusChange('up', 'down'), ['down']],
    [statusChange('unknown', 'down'), ['down']],
    [statusChange('up', 'down', { source: 'silence' }), ['down', 'heartbeat_missed']],
    [
      statusChange('slow', 'down', { source: 'heartbeat', reason: { code: 'run_failed' } }),
      ['down', 'run_failed'],
    ],
    [statusChange('up', 'slow'), ['slow']],
    [statusChange('unknown', 'slow'), ['slow']],
    [statusChange('down', 'slow'), ['up', 'slow']],
    [statusChange('down', 'up'), ['up']],
    [statusChange('slow', 'up'), ['slow']],
    [statusChange('unknown', 'up'), []],
    [{ type: 'scope', from: null, to: 'partial', regions: ['eu'] }, ['scope']],
    [incident('own', null, 'investigating'), ['incident']],
    [incident('owner', 'investigating', 'identified'), ['incident_update']],
    [incident('owner', 'identified', 'identified'), ['incident_update']],
    [incident('own', 'monitoring', 'resolved'), ['incident', 'incident_update']],
    [incident('owner', 'resolved', 'resolved'), ['incident_update']],
    [incident('vendor', null, 'investigating'), ['vendor_incident']],
    [incident('vendor', 'investigating', 'monitoring'), ['vendor_incident']],
    [incident('vendor', 'monitoring', 'monitoring'), []],
    [incident('vendor', null, 'resolved'), []],
    [incident('vendor', null, 'identified', 'maintenance'), ['maintenance']],
    [maintenance('planned'), []],
    [maintenance('running'), ['maintenance']],
    [maintenance('ended'), ['maintenance']],
    [{ type: 'certificate', endsAt: 0, days: 7 }, ['certificate']],
  ];
  for (const [change, words] of table) t.same(wordsOf(change), words, JSON.stringify(change));
});
