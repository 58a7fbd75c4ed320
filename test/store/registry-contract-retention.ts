/** Contract of the registry: what is out of retention ends, and nothing else. */
import type { Test } from 'tap';
import { DAY_MS } from '../../src/domain/durations.ts';
import type { FeedIncident } from '../../src/domain/incident/feed-entry.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, incident, NOON, owned, stay, turn } from './registry-fixtures.ts';

const LATER = NOON + 100 * DAY_MS;

async function forgetAll(registry: Registry, before: number) {
  let [incidents, transitions, calls] = [0, 0, 0];
  for (let position: number | null = 0; position !== null; calls++) {
    const forgotten = await registry.forgetOld(before, position);
    incidents += forgotten.incidents;
    transitions += forgotten.transitions;
    position = forgotten.position;
  }
  return { incidents, transitions, calls };
}

async function idsOf(registry: Registry): Promise<string[]> {
  return (await registry.listIncidents({ limit: 50, offset: 0 })).map(({ id }) => id);
}

/** Runs this part of the contract. */
export async function retentionContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it knows the newest observation of all services', async (t) => {
    const registry = await open(t);
    t.equal(await registry.newestObservation(), null);
    await registry.putCatalogue([entry('a'), entry('b')]);
    t.equal(await registry.newestObservation(), null, 'of services that were never checked');
    await registry.commitUpdates([
      turn(unknownStatus(1), 'up', NOON + 7),
      turn(unknownStatus(2), 'up', NOON + 5),
    ]);
    t.equal(await registry.newestObservation(), NOON + 7);
  });

  t.test('it deletes old transitions, but never the latest one of a service', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    let before = unknownStatus(1);
    for (const [index, to] of (['up', 'down', 'up', 'slow'] as const).entries()) {
      const update = turn(before, to, NOON + index * DAY_MS);
      await registry.commitUpdates([update]);
      before = update.current;
    }
    await registry.commitUpdates([turn(unknownStatus(2), 'up', NOON)]);
    const newest = await registry.lastTransition();

    t.strictSame(await forgetAll(registry, NOON + 1), { incidents: 0, transitions: 0, calls: 1 });
    t.match(await forgetAll(registry, NOON + 2 * DAY_MS), { incidents: 0, transitions: 2 });
    const kept = async () =>
      (await registry.transitionsAfter(0, 100)).map(({ serviceId, to, seq }) => [serviceId, to, seq]);
    t.strictSame(await kept(), [
      [1, 'up', 3],
      [1, 'slow', 4],
      [2, 'up', 1],
    ]);
    t.match(await forgetAll(registry, LATER), { transitions: 1 });
    t.strictSame(await kept(), [
      [1, 'slow', 4],
      [2, 'up', 1],
    ]);
    t.equal(await registry.lastTransition(), newest, 'readers of the feed keep their place');
    const more = turn(before, 'up', LATER);
    t.match(await registry.commitUpdates([more]), [{ kind: 'committed', transition: { seq: 5 } }]);
  });

  t.test('it deletes some at a time, until none is left', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    let before = unknownStatus(1);
    for (let part = 0; part < 3; part++) {
      const updates = Array.from({ length: 500 }, (_, index) => {
        const at = NOON + part * 500 + index;
        const update = turn(before, index % 2 === 0 ? 'down' : 'up', at);
        before = update.current;
        const own = incident(1, `own-${at}`, { status: 'resolved', startedAt: at, resolvedAt: at });
        return { ...update, incident: own };
      });
      await registry.commitUpdates(updates);
    }
    const { incidents, transitions, calls } = await forgetAll(registry, LATER);
    t.strictSame([incidents, transitions], [1_500, 1_499]);
    t.ok(calls >= 2, 'no call deletes everything');
    t.strictSame(await idsOf(registry), []);
  });

  t.test('it deletes incidents that were resolved long ago, also of removed services', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const start = unknownStatus(1);
    const old = { startedAt: NOON - 9, status: 'resolved' } as const;
    await registry.commitUpdates([
      { ...stay(start, NOON), incident: incident(1, 'old', { ...old, resolvedAt: NOON - 1 }) },
      { ...stay(start, NOON), incident: incident(1, 'long', { ...old, resolvedAt: NOON }) },
      { ...stay(start, NOON), incident: incident(1, 'open', { startedAt: NOON - 9 * DAY_MS }) },
      {
        ...stay(unknownStatus(2), NOON),
        incident: incident(2, 'of-removed', { ...old, resolvedAt: NOON - 1 }),
      },
    ]);
    await registry.putCatalogue([entry('a')]);
    t.match(await forgetAll(registry, NOON), { incidents: 2 });
    t.strictSame(await idsOf(registry), ['long', 'open'], 'its end counts, not its start');
    t.equal(await registry.findIncident('old'), null);
    t.match(await forgetAll(registry, LATER), { incidents: 1 });
    t.strictSame(await idsOf(registry), ['open'], 'what is not resolved stays for ever');
  });

  t.test('what a vendor goes on listing does not come back', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const listed: FeedIncident = {
      kind: 'incident',
      key: 'k1',
      title: 'API errors',
      sourceUrl: 'https://status.example/incidents/k1',
      components: null,
      severity: 'major',
      status: 'resolved',
      startedAt: NOON,
      resolvedAt: NOON + 60_000,
      updates: [],
    };
    const read = (readAt: number, change: Partial<FeedIncident> = {}) =>
      registry.putVendorReadings([
        {
          ...{ serviceId: 1, slug: 'a', feed: 'statuspage https://status.example', kind: 'statuspage' },
          ...{ document: 'incidents', listsOnlyOpen: false, readAt, entries: [{ ...listed, ...change }] },
        },
      ]);
    await read(NOON + 120_000);
    t.equal((await idsOf(registry)).length, 1);
    t.match(await forgetAll(registry, LATER), { incidents: 1 });
    t.strictSame(await read(LATER), [], 'nothing has changed');
    t.strictSame(await idsOf(registry), []);
    await read(LATER + 1, { status: 'investigating', resolvedAt: null });
    t.equal((await idsOf(registry)).length, 1, 'unless the vendor opens it again');
  });

  t.test('an incident that an owner wrote ends with its rows in the lists of services', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('Ann', NOON);
    const service = await registry.addService(owned('ann.example', accountId));
    const said = {
      ...{ accountId, title: 'Late', severity: 'major' as const, services: [service.id], pages: [] },
      ...{ updates: [], siteUrl: 'https://upbeat.example', now: NOON },
    } as const;
    const over = { status: 'resolved', startedAt: NOON, resolvedAt: NOON + 1 } as const;
    const old = await registry.addOwnerIncident({ ...said, ...over });
    const running = { status: 'investigating', startedAt: NOON, resolvedAt: null } as const;
    const open_ = await registry.addOwnerIncident({ ...said, ...running });
    t.equal((await registry.listIncidents({ limit: 9, offset: 0 })).length, 2);
    await forgetAll(registry, LATER);
    t.equal(await registry.findOwnerIncident(accountId, old.id), null);
    t.strictSame(
      (await registry.ownerIncidentsOf(accountId)).map(({ id }) => id),
      [open_.id],
    );
    t.equal((await registry.listIncidents({ limit: 9, offset: 0 })).length, 1);
  });
}
