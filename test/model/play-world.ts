/**
 * Plays a world on the program: the actors of the probers, the offline rule, the record, the registry on SQLite and the sample store
 * are the real ones. Only what responds, and the clock, are simulated.
 */
import { inspect } from 'node:util';
import { createStation } from '../../src/cluster/station.ts';
import type { RuledResult } from '../../src/domain/result.ts';
import { silentLog } from '../../src/log.ts';
import { ResultRecord } from '../../src/record/record.ts';
import type { RegionOptions } from '../../src/record/regions.ts';
import type { IncidentStore } from '../../src/store/ports/incidents.ts';
import type { SampleStore } from '../../src/store/ports/samples.ts';
import type { StatusUpdate, UpdateStore } from '../../src/store/ports/updates.ts';
import type { VendorReading, VendorStore } from '../../src/store/ports/vendors.ts';
import { USUAL } from '../support/attempts.ts';
import { double } from '../support/double.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import type { Given, Happening, News, Outcome } from './diary.ts';
import { agendaOf } from './play-agenda.ts';
import { addRules, createAlertOffice } from './play-alerts.ts';
import { createSpeakers, openVendorDesk } from './play-announcements.ts';
import { describeService, editService } from './play-edits.ts';
import { readOutcome } from './read-outcome.ts';
import { byChannel } from './reference/lists.ts';
import { SPREAD_MS, startPlace } from './simulated-place.ts';
import { type Beat, type Fault, isIn, moodOf, SILENCE_MS, storiesOf, type World } from './world.ts';
import { createWorldClock } from './world-clock.ts';
import type { Edit } from './world-edits.ts';
import { addServices, readDays, type SampleShelf, START } from './world-stores.ts';

/** How long control targets take to answer, milliseconds. */
const CONTROL_MS = 30;

/** What was played. */
export interface Played {
  readonly diary: readonly Happening[];
  readonly given: Given;
  readonly outcome: Outcome;
  /** When it ended, monotonic milliseconds. */
  readonly endMs: number;
}

/** Plays a world to its end. */
export async function playWorld(world: World, shelf: SampleShelf): Promise<Played> {
  const clock = createWorldClock(START);
  const registry = await createRecordedRegistry([]);
  const services = await addServices(registry, world);
  const client = registry.client(clock);
  const rules = await addRules(client, world);
  const samples = shelf.store;
  const firstSample = shelf.nextId;
  shelf.nextId += services.length;
  const usual = { ...USUAL, intervalMs: world.interval * 1_000 };
  const diary: Happening[] = [];
  const given: Given = {
    services: services.map((service) => describeService(service, usual.intervalMs)),
    rules,
    intervalMs: usual.intervalMs,
    targets: world.targets,
    places: world.places,
    quorum: world.quorum,
    startAt: START,
  };
  let position = await client.lastChange();
  const removed = new Set<number>();
  const living = () => services.filter(({ id }) => !removed.has(id));
  const names = Array.from({ length: world.places }, (_, index) => `p${index}`);
  const places = new Map<string, ReturnType<typeof openPlace>>();
  let voting: readonly string[] = [];
  let error: Error | null = null;
  const fail = (members: object, message: string) => {
    error ??= new Error(`the program says: ${message} ${inspect(members)}`);
  };
  const log = { ...silentLog, error: fail };

  const note = (news: News) => void diary.push({ ...news, ms: clock.monotonic(), wall: clock.now() });
  const office = createAlertOffice({ registry, client, clock, rules, log, note });
  office.directory.load(services);

  function isOffline(place: string): boolean {
    return world.offline.some((one) => names[one.place] === place && isIn(one.span, clock.elapsed()));
  }

  /** Asks the control targets from a place, as long as its node is there. */
  function controlOf(place: string, isGone = () => false) {
    return () =>
      new Promise<boolean>((resolve) => {
        const askedMs = clock.monotonic();
        const isDark = isOffline(place);
        const end = (answered: boolean) => {
          if (isGone()) return;
          vote();
          note({ what: 'control', place, askedMs, answered });
          resolve(answered);
          clock.touch();
        };
        // The program gives up after 3 s of its own.
        clock.after(isDark ? 2_900 : CONTROL_MS, () => end(!isDark));
      });
  }

  /** The stores as one process sees them; after its end nothing that it does has an effect. */
  function openPorts() {
    let isDead = false;
    const live =
      <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
      (...args: Args): Promise<T> => {
        clock.touch();
        return isDead ? new Promise<never>(() => {}) : call(...args);
      };
    /** Calls after which there may be something to tell. */
    const telling = <Args extends readonly unknown[], T>(
      call: (...args: Args) => Promise<T>,
      mayTell: (args: Args, result: T) => boolean = () => true,
    ) =>
      live(async (...args: Args) => {
        const result = await call(...args);
        if (!isDead && mayTell(args, result)) office.look();
        return result;
      });
    return {
      live,
      kill() {
        isDead = true;
      },
      registry: double<UpdateStore & IncidentStore>({
        commitUpdates: telling(
          (updates: readonly StatusUpdate[]) => client.commitUpdates(updates),
          ([updates]) => updates.some(({ transition, incident }) => transition !== null || incident !== null),
        ),
        transitionsAfter: live(registry.transitionsAfter),
        lastTransition: live(registry.lastTransition),
        listIncidents: live(registry.listIncidents),
      }),
      vendors: double<VendorStore>({
        putVendorReadings: telling((all: readonly VendorReading[]) => client.putVendorReadings(all)),
        endOtherFeeds: telling(client.endOtherFeeds),
        loadVendorStates: live(client.loadVendorStates),
        putUnreadTime: live(client.putUnreadTime),
        unreadTimesSince: live(client.unreadTimesSince),
        advanceMaintenances: telling(
          (now: number) => {
            note({ what: 'look' });
            return client.advanceMaintenances(now);
          },
          (_, { states }) => states.length > 0,
        ),
      }),
      status: { put: live(async () => 0), remove: live(async () => {}) },
      samples: {
        append: live((all: Parameters<SampleStore['append']>[0]) =>
          samples.append(all.map((one) => ({ ...one, serviceId: one.serviceId + firstSample }))),
        ),
      },
    };
  }

  /** Starts the process, of a cluster the judge. */
  async function startJudge() {
    const isCluster = world.places > 1;
    const regions: RegionOptions = {
      quorum: world.quorum,
      voting: () => voting,
      requestRechecks: (region, ids) => places.get(region)?.prober.recheck(ids, 0),
    };
    const { kill, live, vendors, ...stores } = openPorts();
    const desk = openVendorDesk({ registry: vendors, clock, log });
    const started: ResultRecord = new ResultRecord({
      ...stores,
      clock,
      log,
      settings: { usual, firstSpreadMs: SPREAD_MS, controlTargets: world.targets },
      heartbeats: {
        registry,
        isCatalogueDomain: () => false,
        silenceMs: SILENCE_MS,
      },
      queryControlTargets: controlOf('p0'),
      onRecheck: (ids, spreadMs) => places.get('p0')?.prober.recheck(ids, spreadMs),
      sourceUrl: ({ slug }) => `http://localhost/status/${slug}`,
      isInMaintenance: desk.isInMaintenance,
      ...(isCluster ? { regions, sampleRegions: { nameOf: (region = 'p0') => region } } : {}),
    });
    note({ what: 'start' });
    await started.load(await registry.loadServices());
    if (world.services.some(({ kind }) => kind === 'beats')) started.startListening();
    await desk.intake.load(living());
    office.start(live, () => started.prober().online);
    return { record: started, desk, kill };
  }

  /** Results that no judge has acknowledged. The next one gets them again. */
  const unacknowledged = new Set<readonly RuledResult[]>();

  function send(ruled: readonly RuledResult[]): void {
    unacknowledged.add(ruled);
    void record.takeRuled(ruled).then((isTaken) => isTaken && unacknowledged.delete(ruled));
  }

  function openPlace(place: string) {
    const index = names.indexOf(place);
    let isGone = false;
    const deliver = (ruled: readonly RuledResult[]) => {
      if (!isGone) send(ruled);
      clock.touch();
    };
    const recheck = (ids: readonly number[], spreadMs: number) => prober.recheck(ids, spreadMs);
    const station =
      world.places === 1
        ? null
        : createStation({
            ...{
              clock,
              log: silentLog,
              region: place,
              controlTargets: world.targets,
              firstSpreadMs: SPREAD_MS,
            },
            slowOverMs: (id) => services[id - 1]?.check.slowOverMs ?? USUAL.slowOverMs,
            queryControlTargets: controlOf(place, () => isGone),
            fleetSize: () => living().filter(({ paused }) => !paused).length,
            onRuled: deliver,
            onRecheck: recheck,
          });
    const rules = () => station ?? record;
    const prober = startPlace({
      clock,
      services: living().filter(({ check }) => check.kind !== 'heartbeat'),
      intervalMs: usual.intervalMs,
      shiftMs: Math.floor((index * usual.intervalMs) / world.places),
      moodOf: (id) => (isOffline(place) ? null : moodOf(world, id, index, clock.elapsed())),
      stateOf: (id) => record.probeStateOf(id),
      onBegin: editMidway,
      onAttempt(made) {
        vote();
        note({ what: 'attempt', place, ...made });
      },
      onResult: (result) => rules().takeResults([result]),
      onDoubt: (failedAt) => rules().noteDoubt(failedAt),
      onDelay() {
        note({ what: 'waiting', place });
        rules().noteDelay();
      },
    });
    const end = () => {
      isGone = true;
      prober.end();
    };
    return { station, prober, end };
  }

  function startPlaceOf(place: string): void {
    note({ what: 'place', place });
    places.set(place, openPlace(place));
    vote();
  }

  function endPlace(place: string): void {
    places.get(place)?.end();
    if (places.delete(place)) note({ what: 'gone', place });
  }

  /** A region has a vote while its node is there and online, and for two intervals after it was. */
  const lastOnline = new Map<string, number>();
  function vote(): void {
    if (world.places === 1) return;
    for (const [place, { station }] of places)
      if (station?.prober().online === true) lastOnline.set(place, clock.monotonic());
      else lastOnline.delete(place);
    const next = names.filter(
      (place) =>
        clock.monotonic() - (lastOnline.get(place) ?? Number.NEGATIVE_INFINITY) <= 2 * usual.intervalMs,
    );
    if (next.join() !== voting.join()) note({ what: 'voting', places: next });
    voting = next;
  }

  /** Hands the changes of services to the process. */
  async function deliver(): Promise<void> {
    for (const change of await client.changesAfter(position)) {
      position = change.seq;
      office.directory.apply(change);
      record.applyChange(change);
      desk.intake.applyChange(change.serviceId, change.service);
      if (services[change.serviceId - 1]?.check.kind === 'heartbeat') continue;
      for (const { station, prober } of places.values()) {
        const isLeft = change.service === null || change.service.paused;
        if (isLeft) station?.forget(change.serviceId);
        prober.define(change.serviceId, change.service);
      }
    }
    office.look();
  }

  async function edit(one: Edit): Promise<void> {
    const service = services[one.service];
    if (service === undefined) return;
    const next = await editService(client, service, one);
    if (next === 'unchanged') return;
    if (next === null) removed.add(service.id);
    else services[one.service] = next;
    const defined = describeService(next ?? service, usual.intervalMs);
    note({ what: 'defined', definition: next === null ? { ...defined, state: 'removed' } : defined });
    await deliver();
  }

  /** Changes that wait for an attempt of their service. */
  const waiting: Edit[] = [];

  async function editInTime(one: Edit): Promise<void> {
    const isChecked = world.services[one.service]?.kind === 'checked';
    if (world.hasty && isChecked && one.what !== 'resume' && one.what !== 'remove') waiting.push(one);
    else await edit(one);
  }

  /** An attempt has begun: makes a change that waits for it before it can end, but none in the last moment of a process. */
  function editMidway(id: number): void {
    const place = waiting.findIndex(({ service }) => service === id - 1);
    const nextMs = clock.elapsed() + 3_000;
    const isLast = world.faults.some(
      ({ at, what }) => what === 'killed' && at * 1_000 >= clock.elapsed() && at * 1_000 <= nextMs,
    );
    if (place < 0 || isLast) return;
    const [one] = waiting.splice(place, 1);
    if (one !== undefined && !removed.has(id))
      clock.after(3, () => void edit(one).catch((thrown) => fail({ thrown }, 'a change failed')));
  }

  async function receive(service: number, { word, latencyMs, sentBefore }: Beat): Promise<void> {
    const { domain = '' } = services[service - 1] ?? {};
    const timestamp = sentBefore === null ? null : clock.now() - sentBefore * 1_000;
    const dependencies = latencyMs === null ? null : [{ name: 'db', status: 'up' as const, latencyMs }];
    note({ what: 'beat', service, word, latencyMs, timestamp });
    const report = {
      kind: 'beat',
      domain,
      word,
      reported: word,
      timestamp,
      dependencies,
      run: null,
    } as const;
    void record.takeHeartbeat({ report, accountId: 1, arrivedAt: clock.now(), body: '{}' });
    clock.touch();
    await clock.settle();
  }

  async function suffer(fault: Fault): Promise<void> {
    if (fault.what === 'killed') {
      if (world.places === 1) {
        endPlace('p0');
        clock.clear();
      }
      kill();
      ({ record, desk, kill } = await startJudge());
      if (world.places === 1) startPlaceOf('p0');
      for (const ruled of [...unacknowledged]) send(ruled);
      return;
    }
    const ms = fault.seconds * 1_000;
    if (fault.what === 'stopped') {
      note({ what: 'stopped', forMs: ms });
      await clock.stop(ms);
      return;
    }
    if (fault.what === 'asleep') clock.sleep(ms);
    else clock.set(ms);
    note({ what: 'wall', byMs: ms });
    office.wake();
  }

  let { record, desk, kill } = await startJudge();
  for (const place of names) startPlaceOf(place);
  const stories = storiesOf(world);
  const speakers = createSpeakers({ client, clock, services, stories, desk: () => desk, deliver, note });
  await clock.settle();
  for (const { at, act } of agendaOf(world, {
    suffer,
    receive,
    edit: editInTime,
    startPlaceOf,
    endPlace,
    names,
    speakers,
    office,
  })) {
    await clock.advanceTo(Math.max(at * 1_000, clock.elapsed()));
    await act();
    if (error !== null) throw error;
    await clock.settle();
  }
  await clock.advanceTo(Math.max(world.seconds * 1_000, clock.elapsed()));
  await clock.settle();
  if (error !== null) throw error;
  await record.idle();
  const days = await readDays(samples, firstSample, services.length, world.seconds);
  const { tellings, events } = await office.told();
  const outcome: Outcome = {
    ...(await readOutcome(registry, events, clock.now())),
    days,
    tellings: tellings.toSorted(byChannel),
  };
  await registry.close();
  return { diary, given, outcome, endMs: clock.monotonic() };
}
