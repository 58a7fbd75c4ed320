/** What the registry holds comes to where observations are kept, across power cuts and a registry that is away. */
import t, { type Test } from 'tap';
import { silentLog } from '../../../../src/log.ts';
import type { VendorReading } from '../../../../src/store/ports/vendors.ts';
import { startObservationFeed } from '../../../../src/store/samples/influx/observation-feed.ts';
import { double } from '../../../support/double.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { openTurningService } from '../../../support/turning-service.ts';
import { incident, NOON } from '../../registry-fixtures.ts';

const START = Date.UTC(2026, 0, 1);

/** A registry and a server that outlive the runs of the program. */
async function createWorld(t: Test) {
  const clock = createFakeClock(START);
  const service = await openTurningService(t);
  const stored = service.registry.client(clock);
  /** Positions as they came, and those that a flush has brought to the disk. */
  const handed: number[] = [];
  const told: string[] = [];
  const state = { away: false, full: false };
  /** The registry, as long as it is not away. */
  const asked = <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      if (state.away) throw new Error('the registry is away');
      return await call(...args);
    };
  };
  const start = () =>
    startObservationFeed({
      registry: double({
        transitionsAfter: asked(stored.transitionsAfter),
        lastTransition: asked(stored.lastTransition),
        listIncidents: asked(stored.listIncidents),
        getFact: asked(stored.getFact),
        setFact: asked(stored.setFact),
      }),
      observations: {
        transition: ({ position }) => void handed.push(position),
        incident: ({ id }) => void told.push(id),
      },
      samples: double({
        async flush() {
          if (state.full) throw new Error('the disk is full');
        },
      }),
      watchTransitions: service.watchTransitions,
      clock,
      log: silentLog,
    });
  return {
    clock,
    handed,
    told,
    state,
    start,
    commit: service.turn,
    setFact: stored.setFact,
    position: () => stored.getFact('influx.transitions'),
    /** Stores an own incident of service 1, by the judgement that opens it. */
    addOwn: () => service.turn(1, false, incident(1, 'own-1-1')),
    /** Stores an incident that a vendor reports; returns its id. */
    async addVendor(serviceId: number): Promise<string> {
      const known = new Set((await all()).map(({ id }) => id));
      await stored.putVendorReadings([readingOf(serviceId)]);
      return (await all()).find(({ id }) => !known.has(id))?.id ?? '';
    },
  };

  function all() {
    return stored.listIncidents({ limit: 100, offset: 0 });
  }
}

function readingOf(serviceId: number): VendorReading {
  return {
    serviceId,
    slug: `service-${serviceId}`,
    feed: 'statuspage https://status.example',
    kind: 'statuspage',
    document: 'incidents',
    listsOnlyOpen: false,
    readAt: NOON,
    entries: [
      {
        kind: 'incident',
        key: 'k1',
        title: 'API errors',
        sourceUrl: 'https://status.example/incidents/k1',
        components: null,
        severity: 'minor',
        status: 'investigating',
        startedAt: NOON,
        resolvedAt: null,
        updates: [],
      },
    ],
  };
}

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

t.test('it passes every transition on from its first start, a thousand at a time', async (t) => {
  const world = await createWorld(t);
  await world.commit(3);
  const feed = world.start();
  await feed.idle();
  t.same(world.handed, [], 'what was before it is not written');
  await world.commit(2_500);
  await feed.idle();
  t.same(world.handed, upTo(4, 2_503));
  await world.commit(1);
  await feed.stop();
  t.equal(world.handed.at(-1), 2_504);
});

t.test('a power cut loses no transition, and repeats few', async (t) => {
  const world = await createWorld(t);
  const first = world.start();
  await first.idle();
  await world.commit(10);
  await first.idle();
  await world.clock.advance(5_000);
  await world.commit(5);
  await first.idle();
  // A power cut: no stop, and two transitions were committed without a notification.
  await world.commit(2, false);
  world.handed.length = 0;
  const second = world.start();
  await second.idle();
  t.same(world.handed, upTo(11, 17));
  await first.stop();
  await second.stop();
});

t.test('it stores no position that may not be on disk', async (t) => {
  const world = await createWorld(t);
  const feed = world.start();
  await feed.idle();
  world.state.full = true;
  await world.commit(2);
  await feed.idle();
  await world.clock.advance(5_000);
  t.same(await world.position(), '0');
  world.state.full = false;
  await world.commit(1);
  await feed.idle();
  await world.clock.advance(5_000);
  t.same(await world.position(), '3');
  await feed.stop();
});

t.test('it waits for a registry that is unavailable', async (t) => {
  const world = await createWorld(t);
  world.state.away = true;
  const feed = world.start();
  await feed.idle();
  const id = await world.addVendor(1);
  feed.noteVendor(1);
  await feed.idle();
  t.same([world.handed, world.told], [[], []]);
  world.state.away = false;
  await world.clock.advance(1_000);
  await feed.idle();
  t.same(world.told, [id, id], 'at start, and as its vendor spoke');
  await world.commit(1);
  await feed.idle();
  t.same(world.handed, [1]);
  await feed.stop();
});

t.test('it starts again after a registry was restored from an older copy', async (t) => {
  const world = await createWorld(t);
  await world.setFact('influx.transitions', '500');
  await world.commit(7);
  const feed = world.start();
  await feed.idle();
  await world.commit(2);
  await feed.idle();
  t.same(world.handed, [8, 9]);
  await feed.stop();
});

t.test('it passes all incidents on at start, and those of a vendor with news', async (t) => {
  const world = await createWorld(t);
  await world.addOwn();
  const [first, second] = [await world.addVendor(1), await world.addVendor(2)];
  const feed = world.start();
  await feed.idle();
  t.same([...world.told].sort(), ['own-1-1', first, second].sort());
  feed.noteVendor(1);
  await feed.idle();
  t.same(world.told.slice(3), [first], 'own ones are told by the record');
  await feed.stop();
});
