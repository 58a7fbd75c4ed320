/** States of services packed from their rows, which must be those that the rows say. */
import t from 'tap';
import { NO_MEMORY } from '../../../../src/domain/result.ts';
import { toStoredCheck, toStoredRegions, unknownStatus } from '../../../../src/domain/status/current.ts';
import type { ServiceState } from '../../../../src/store/ports/services.ts';
import { unpackStates } from '../../../../src/store/registry/states/packed-states.ts';
import {
  PACKED_COLUMNS,
  type PackedRow,
  packStates,
} from '../../../../src/store/registry/states/service-state-rows.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, incident, inRegions, NOON, record, stay, turn } from '../../registry-fixtures.ts';

const stateOf = (id: number, change: Partial<ServiceState['service']> = {}): ServiceState => ({
  service: { id, ...entry(`s${id}`), ...change, revision: 1 },
  current: record(id, 1, 'up', 1_000),
  memory: { ...NO_MEMORY, headSeen: true },
  openIncident: null,
});

const jsonOf = (value: unknown): string | null => (value == null ? null : JSON.stringify(value));

/** The row of a state as the tables have it. */
function toRow({ service, current, memory, newestTimestamp, lastArrivedAt }: ServiceState): PackedRow {
  return {
    ...{ id: service.id, slug: service.slug, name: service.name, domain: service.domain },
    ...{ category: service.category, origin: service.origin, account_id: service.accountId },
    ...{ verified: service.verified ? 1 : 0, paused: service.paused ? 1 : 0, revision: service.revision },
    check_definition: JSON.stringify(service.check),
    status_page: jsonOf(service.statusPage),
    public_dependencies: service.publicDependencies === true ? 1 : 0,
    former_slugs: jsonOf(service.formerSlugs),
    note: service.note ?? null,
    further: service.isFurther === true ? 1 : 0,
    visibility: service.visibility === 'public' ? null : (service.visibility ?? null),
    depends_on: jsonOf(service.dependsOn),
    badge_renewals: service.badgeRenewals ?? 0,
    ...{ seq: current.seq, observed_at: current.observedAt, status: current.status, since: current.since },
    latest: current.latest === null ? null : JSON.stringify(toStoredCheck(current.latest)),
    regions: jsonOf(toStoredRegions(current)),
    memory: memory === NO_MEMORY ? null : JSON.stringify(memory),
    ...{ timestamp: newestTimestamp ?? null, arrived_at: lastArrivedAt ?? null },
  };
}

function cross(states: readonly ServiceState[]): ServiceState[] {
  const lists = states.map(toRow).map((row) => PACKED_COLUMNS.map((column) => row[column]));
  const incidents = states.flatMap(({ service, openIncident }) =>
    openIncident === null ? [] : [[service.id, openIncident] as const],
  );
  return unpackStates(structuredClone(packStates(lists, new Map(incidents))));
}

t.test('states that were packed are those of their rows, whatever is rare in them', async (t) => {
  const statusPage = { url: 'https://status.a.com/', kind: 'rss', feedUrl: null, components: ['a'] } as const;
  const check = { ...entry('a').check, url: 'http://x/' };
  const slow = record(6, 2, 'slow', 7);
  const given: readonly ServiceState[] = [
    stateOf(1),
    stateOf(2, {
      formerSlugs: ['before'],
      publicDependencies: true,
      note: 'Ask Ada',
      isFurther: true,
      visibility: 'private',
      dependsOn: ['r'],
      check,
      statusPage,
    }),
    { ...stateOf(3, { paused: true, verified: false }), current: unknownStatus(3), memory: NO_MEMORY },
    { ...stateOf(4), memory: { ...NO_MEMORY, askHealthAt: 5 }, lastArrivedAt: 7, newestTimestamp: 6 },
    { ...stateOf(5, { origin: 'owner', accountId: 8 }), current: inRegions(record(5, 1, 'up', 9)) },
    { ...stateOf(6), current: slow, openIncident: incident(6, 'own-6') },
    { ...stateOf(7), current: record(7, 1, 'down', 9), openIncident: incident(7, 'own-7') },
    stateOf(8, { name: 'Größe "8" \u2028\\ \u{1f600}', category: 'travel' }),
    stateOf(9, { category: 'from a later version' as 'travel' }),
  ];
  const states = cross(given);
  t.strictSame(states, given);
  // The order of members is that of the JSON texts of a status without regions.
  const textsOf = (list: readonly ServiceState[]) =>
    list.filter(({ current }) => current.regions === undefined).map(({ current }) => JSON.stringify(current));
  t.strictSame(textsOf(states), textsOf(given));
  t.strictSame(cross([]), []);
});

t.test('services of different pages have one check and one memory together', async (t) => {
  const [[first], [second]] = [cross([stateOf(1)]), cross([stateOf(2)])];
  t.equal(first?.service.check, second?.service.check);
  t.equal(first?.memory, second?.memory);
});

overBoth(async (t, open) => {
  t.test('it refreshes the records of many services, and returns those that are newer', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue(['a', 'b', 'c'].map((slug) => entry(slug)));
    const [a, b, c] = [firstTurn(1, 'up', NOON), firstTurn(2, 'up', NOON), firstTurn(3, 'up', NOON)];
    const down = turn(b.current, 'down', NOON + 1);
    await registry.commitUpdates([a, b, c, down]);
    const memory = { needsGet: true, headSeen: false, healthSeen: true, askHealthAt: 7 };
    const regional = { ...inRegions({ ...a.current, observedAt: NOON + 5 }), scope: null };
    const outcomes = await registry.commitUpdates([
      { ...stay(a.current, NOON + 5), current: regional, memory },
      stay(b.current, NOON + 5),
      stay(c.current, NOON + 6),
      stay(unknownStatus(99), NOON),
    ]);
    t.strictSame(outcomes, [
      { kind: 'committed', transition: null },
      { kind: 'stale', current: down.current },
      { kind: 'committed', transition: null },
      { kind: 'stale', current: unknownStatus(99) },
    ]);
    const states = await registry.loadServices();
    t.strictSame(states[0]?.current, regional);
    t.strictSame(states[0]?.memory, memory);
    t.same(
      states.slice(1).map(({ current }) => current.observedAt),
      [NOON + 1, NOON + 6],
    );
    const contradiction = { ...stay(c.current, NOON + 7), expectedSeq: 0 };
    await t.rejects(registry.commitUpdates([contradiction]), /contradicts itself/);
  });
});
