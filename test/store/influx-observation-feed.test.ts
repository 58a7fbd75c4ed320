/** What the registry holds comes to where observations are kept, across power cuts and a registry that is away. */
import t from 'tap';
import { createFakeClock } from '../../src/clock.ts';
import type { Transition } from '../../src/domain/current.ts';
import type { Incident } from '../../src/domain/incident.ts';
import { silentLog } from '../../src/log.ts';
import { startObservationFeed } from '../../src/store/samples/influx/observation-feed.ts';

const START = Date.UTC(2026, 0, 1);

/** A registry and a server that outlive the runs of the program. */
function createWorld() {
  const clock = createFakeClock(START);
  const transitions: Transition[] = [];
  const incidents: Incident[] = [];
  const facts = new Map<string, string>();
  const listeners = new Set<(transition: Transition) => void>();
  /** Positions as they came, and those that a flush has brought to the disk. */
  const handed: number[] = [];
  const told: string[] = [];
  const state = { away: false, full: false };
  const ask = async <T>(answer: () => T): Promise<T> => {
    if (state.away) throw new Error('the registry is away');
    return answer();
  };
  const start = () =>
    startObservationFeed({
      registry: {
        transitionsAfter: (after, limit) =>
          ask(() => transitions.filter(({ position }) => position > after).slice(0, limit)),
        lastTransition: () => ask(() => transitions.at(-1)?.position ?? 0),
        listIncidents: ({ serviceId }) =>
          ask(() => incidents.filter((one) => serviceId === undefined || one.serviceId === serviceId)),
        getFact: (name) => ask(() => facts.get(name) ?? null),
        setFact: (name, value) => ask(() => void facts.set(name, value)),
      },
      observations: {
        transition: ({ position }) => void handed.push(position),
        incident: ({ id }) => void told.push(id),
      },
      samples: {
        async flush() {
          if (state.full) throw new Error('the disk is full');
        },
      },
      watchTransitions(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      clock,
      log: silentLog,
    });
  const commit = (count: number, tell = true) => {
    for (let n = 0; n < count; n++) {
      const position = transitions.length + 1;
      const transition: Transition = {
        position,
        serviceId: 1,
        slug: 'shop',
        seq: position,
        from: 'up',
        to: 'down',
        at: START + position,
        recordedAt: START + position,
        reason: null,
      };
      transitions.push(transition);
      if (tell) for (const listener of listeners) listener(transition);
    }
  };
  const addIncident = (id: string, serviceId: number, source: Incident['source']) =>
    incidents.push({
      id,
      serviceId,
      source,
      title: id,
      description: '',
      severity: 'minor',
      status: 'investigating',
      startedAt: START,
      resolvedAt: null,
      sourceUrl: '',
      goodChecks: 0,
      updates: [],
    });
  return { clock, transitions, facts, handed, told, state, start, commit, addIncident };
}

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

t.test('it hands on every transition from its first start on, a thousand at a time', async (t) => {
  const world = createWorld();
  world.commit(3);
  const feed = world.start();
  await feed.idle();
  t.same(world.handed, [], 'what was before it is not written');
  world.commit(2_500);
  await feed.idle();
  t.same(world.handed, upTo(4, 2_503));
  world.commit(1);
  await feed.stop();
  t.equal(world.handed.at(-1), 2_504);
});

t.test('it leaves none out over a power cut, and hands few on twice', async (t) => {
  const world = createWorld();
  const first = world.start();
  await first.idle();
  world.commit(10);
  await first.idle();
  await world.clock.advance(5_000);
  world.commit(5);
  await first.idle();
  // The power goes: no stop, and two were committed that nobody was told of.
  world.commit(2, false);
  world.handed.length = 0;
  const second = world.start();
  await second.idle();
  t.same(world.handed, upTo(11, 17));
  await first.stop();
  await second.stop();
});

t.test('it does not note what may not be on disk', async (t) => {
  const world = createWorld();
  const feed = world.start();
  await feed.idle();
  world.state.full = true;
  world.commit(2);
  await feed.idle();
  await world.clock.advance(5_000);
  t.same([...world.facts.values()], ['0']);
  world.state.full = false;
  world.commit(1);
  await feed.idle();
  await world.clock.advance(5_000);
  t.same([...world.facts.values()], ['3']);
  await feed.stop();
});

t.test('it waits for a registry that is away', async (t) => {
  const world = createWorld();
  world.state.away = true;
  const feed = world.start();
  await feed.idle();
  world.addIncident('statuspage-1', 1, 'vendor');
  feed.noteVendor(1);
  await feed.idle();
  t.same([world.handed, world.told], [[], []]);
  world.state.away = false;
  await world.clock.advance(1_000);
  await feed.idle();
  t.same(world.told, ['statuspage-1', 'statuspage-1'], 'at start, and as its vendor spoke');
  world.commit(1);
  await feed.idle();
  t.same(world.handed, [1]);
  await feed.stop();
});

t.test('it begins again where a registry was restored from an older copy', async (t) => {
  const world = createWorld();
  world.facts.set('influx.transitions', '500');
  world.commit(7);
  const feed = world.start();
  await feed.idle();
  world.commit(2);
  await feed.idle();
  t.same(world.handed, [8, 9]);
  await feed.stop();
});

t.test('it hands on the incidents of all at start, and those of a vendor when it speaks', async (t) => {
  const world = createWorld();
  world.addIncident('own-1-1', 1, 'own');
  world.addIncident('statuspage-1', 1, 'vendor');
  world.addIncident('statuspage-2', 2, 'vendor');
  const feed = world.start();
  await feed.idle();
  t.same(world.told, ['own-1-1', 'statuspage-1', 'statuspage-2']);
  feed.noteVendor(1);
  await feed.idle();
  t.same(world.told.slice(3), ['statuspage-1'], 'own ones are told by the record');
  await feed.stop();
});
