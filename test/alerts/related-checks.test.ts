/** Which services are checked at once after the failure of another one. */
import t from 'tap';
import type { AlertRules } from '../../src/alerts/alert-world.ts';
import { createRelatedChecks, MAX_RELATED_CHECKS } from '../../src/alerts/related-checks.ts';
import type { AlertEvent } from '../../src/domain/alert/event.ts';
import { indexRules } from '../../src/domain/alert/match.ts';
import type { AlertRule } from '../../src/domain/alert/rule.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import type { Verdict } from '../../src/domain/status.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { record } from '../store/registry-fixtures.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const ACCOUNT = 7;
const NO_SERVICES = { own: false, services: [], categories: [], publicCategories: [], pages: [] };

const serviceOf = (id: number, change: Partial<Service> = {}): Service => ({
  ...{ id, slug: `s${id}`, name: `s${id}`, domain: `s${id}.example`, category: 'developer' },
  ...{ origin: 'owner', accountId: ACCOUNT, verified: true, paused: false, check: DEFAULT_CHECK },
  ...{ statusPage: null, revision: 1 },
  ...change,
});
const RULE: AlertRule = {
  ...{ id: 1, accountId: ACCOUNT, name: 'all', of: { ...NO_SERVICES, own: true }, events: ['down'] },
  ...{ channels: [1], afterMs: 0, repeatMs: null, quiet: null, enabled: true, createdAt: NOW, revision: 1 },
};
const failure = (serviceId: number, change: object = {}): AlertEvent => ({
  ...{ position: serviceId, serviceId, at: NOW, recordedAt: NOW },
  change: {
    ...{ type: 'status', from: 'up', to: 'down', source: 'check', reason: null, phase: null },
    ...{ lastGoodAt: null, regions: [] },
    ...change,
  },
});

/** Services that were all checked a minute ago, and the requests for checks. */
function open(
  services: readonly Service[],
  addresses: Readonly<Record<number, readonly string[]>> = {},
  rule: Partial<AlertRule> = {},
) {
  const clock = createFakeClock(NOW);
  const directory = createServiceDirectory();
  directory.load(services);
  const statuses = new Map<number, CurrentStatus>();
  const put = (id: number, status: Verdict, at: number) => void statuses.set(id, record(id, 1, status, at));
  for (const { id } of services) put(id, 'up', NOW - MINUTE);
  const asked: (readonly number[])[] = [];
  const related = createRelatedChecks({
    registry: double({
      pagesOf: async () => [],
      loadRules: async () => ({ version: 1, rules: [], channels: [] }),
      alertFacts: async (ids) =>
        ids.map((serviceId) => ({
          ...{ serviceId, addresses: addresses[serviceId] ?? [], failingDependencies: [] },
          ...{ vendor: null, isInMaintenance: false },
        })),
    }),
    services: directory,
    status: double({ get: (id) => statuses.get(id) ?? null }),
    clock,
    recheck: (ids) => void asked.push(ids),
  });
  const list = [{ ...RULE, ...rule }];
  const rules: AlertRules = {
    ...{ version: 1, rules: list, channels: [], index: indexRules(list, () => []) },
    ...{ byId: new Map(), owners: new Map(), kinds: new Map() },
  };
  const note = (...events: readonly AlertEvent[]) => related.note(rules, ACCOUNT, events);
  return { clock, asked, put, note };
}

t.test('it checks the other services of the account, those at the same place first', async (t) => {
  const url = 'https://s1.example/health';
  const { asked, note, put } = open(
    [
      ...[1, 2, 3, 4].map((id) => serviceOf(id)),
      serviceOf(5, { check: { ...DEFAULT_CHECK, url } }),
      serviceOf(6, { paused: true }),
      serviceOf(7, { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } }),
      serviceOf(8),
      serviceOf(9),
      serviceOf(10, { accountId: 8 }),
    ],
    { 1: ['192.0.2.1'], 2: ['192.0.2.9'], 4: ['192.0.2.1', '192.0.2.2'], 10: ['192.0.2.1'] },
  );
  put(8, 'down', NOW - MINUTE);
  put(9, 'up', NOW - 4_000);
  await note(failure(1));
  t.strictSame(asked, [[4, 5, 2, 3]], 'neither what is down, paused, just checked, nor of somebody else');
  await note(failure(2, { to: 'up', from: 'down' }), failure(3, { source: 'silence' }));
  t.equal(asked.length, 1, 'a recovery and a heartbeat that did not come say nothing of others');
});

t.test('it checks public services that share the vendor, as far as the rules name them', async (t) => {
  const vendor = (url: string) => ({
    ...{ origin: 'catalogue', accountId: null, statusPage: { kind: 'statuspage', url } },
  });
  const page = 'https://www.status.example/';
  const { asked, note } = open(
    [
      serviceOf(1, vendor(page) as Partial<Service>),
      serviceOf(2, vendor('https://status.example/history') as Partial<Service>),
      serviceOf(3, vendor('https://other.example') as Partial<Service>),
      serviceOf(4, vendor(page) as Partial<Service>),
      serviceOf(5),
    ],
    {},
    { of: { ...NO_SERVICES, own: true, services: [1, 2, 3] } },
  );
  await note(failure(1));
  t.strictSame(asked, [[2]]);
});

t.test('an account asks for a bounded number of checks a minute', async (t) => {
  const services = Array.from({ length: 200 }, (_, index) => serviceOf(index + 1));
  const { asked, note, clock } = open(services);
  await note(failure(1));
  await note(failure(2));
  t.same(
    asked.map((ids) => ids.length),
    [MAX_RELATED_CHECKS],
  );
  await clock.advance(MINUTE);
  await note(failure(3), failure(4));
  t.equal(asked.flat().length, 2 * MAX_RELATED_CHECKS);
});
