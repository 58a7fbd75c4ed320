/**
 * Random worlds for the model of the rules: services and what becomes of them, the prober's own troubles, and faults of the
 * process and its clock. A world is plain data, so that a failing one can be pasted into a test. Times are whole seconds since
 * its beginning.
 */
import fc from 'fast-check';
import type { Quorum } from '../../src/domain/node.ts';
import type { DefinedSchedule } from './diary.ts';
import { type AlertScript, alertScripts } from './world-alerts.ts';
import { type Announcements, announcements, pageOf, type Story } from './world-announcements.ts';
import { type Edit, edits } from './world-edits.ts';

/** The usual silence of services whose owners have set no period. */
export const SILENCE_MS = 600_000;

/** `[from, until)`. */
export type Span = readonly [from: number, until: number];

/**
 * How a service responds to an attempt. `edge`: in exactly 3 s; `tells-slow`, `tells-down`: by the status word of its body;
 * `wall`: a bot wall; `busy`: 429; `no-socket`: a fault of the prober, such as EMFILE.
 */
export const MOODS = [
  'refuses',
  'hangs',
  'error',
  'slow',
  'edge',
  'tells-slow',
  'tells-down',
  'wall',
  'busy',
  'no-socket',
] as const;
export type Mood = (typeof MOODS)[number];

/** A time in which a service does not respond as usual. */
export interface Spell {
  readonly span: Span;
  readonly mood: Mood;
  /** The places from which it is so, by their number; absent: all. */
  readonly places?: readonly number[];
}

/** A heartbeat; `latencyMs` null: none is reported. `sentBefore`: by its timestamp; null: it has none. */
export interface Beat {
  readonly at: number;
  readonly word: 'up' | 'slow' | 'down';
  readonly latencyMs: number | null;
  readonly sentBefore: number | null;
}

export type ServiceScript =
  | {
      readonly kind: 'checked';
      /** Its own limit of a good response, milliseconds; null: 3 s. */
      readonly slowOverMs: number | null;
      readonly spells: readonly Spell[];
    }
  | {
      readonly kind: 'beats';
      /** Seconds; null: the usual silence. A heartbeat comes after each 80 % of it. */
      readonly period: number | null;
      readonly grace: number;
      /** But not in these times. */
      readonly silent: readonly Span[];
      readonly others: readonly Beat[];
    };

/**
 * What happens to the process. `stopped`: as by SIGSTOP, both clocks go on; `asleep`: the machine sleeps, only the wall clock goes
 * on; `clock`: the wall clock is set by so many seconds; `killed`: it starts again at once. Of a cluster, only the judge is killed.
 */
export type Fault =
  | { readonly at: number; readonly what: 'stopped' | 'asleep' | 'clock'; readonly seconds: number }
  | { readonly at: number; readonly what: 'killed' };

/** A world. */
export interface World {
  readonly seconds: number;
  readonly interval: number;
  /** 1: a single process; more: a cluster with one node in each place. */
  readonly places: number;
  readonly quorum: Quorum;
  readonly services: readonly ServiceScript[];
  /** Times in which a place is without network. */
  readonly offline: readonly { readonly place: number; readonly span: Span }[];
  /** Times in which the node of a place is gone. Clusters only. */
  readonly lost: readonly { readonly place: number; readonly span: Span }[];
  readonly faults: readonly Fault[];
  /** A vendor works on a service; it is on its page from the beginning. */
  readonly maintenances: readonly { readonly service: number; readonly span: Span }[];
  readonly said: Announcements;
  /** Schedules of services that send heartbeats, by their index, in place of their periods; null or absent: none. */
  readonly schedules: readonly (DefinedSchedule | null)[];
  /** How many control targets there are. */
  readonly targets: number;
  /** What owners change of their services. */
  readonly edits: readonly Edit[];
  /** They change those that are checked just while an attempt is in flight. */
  readonly hasty: boolean;
  readonly alerts: AlertScript;
}

/** How large worlds are. */
export interface WorldSize {
  readonly minutes: readonly [least: number, most: number];
  readonly services: readonly [least: number, most: number];
  /** Seconds. */
  readonly intervals: readonly number[];
  /** Maximum number of spells of a service. */
  readonly spells: number;
  /** How many control targets there are. */
  readonly targets: number;
  /** How many places there are; absent: one, two or three. */
  readonly places?: number;
  /** So many times as many faults, outages of places and announcements as in small worlds; absent: as many. */
  readonly troubles?: number;
}

/** Small and dense: for every day and for shrinking. */
export const SHORT_WORLD: WorldSize = {
  minutes: [2, 8],
  services: [1, 5],
  intervals: [10, 20, 60],
  spells: 6,
  targets: 2,
};

/** A few services for a day. */
export const LONG_WORLD: WorldSize = {
  minutes: [1_440, 1_440],
  services: [2, 3],
  intervals: [900],
  spells: 12,
  targets: 2,
};

/** So many services that their majority tells whether the prober is offline, without control targets. */
export const MAJORITY_WORLD: WorldSize = {
  minutes: [2, 5],
  services: [9, 14],
  intervals: [20, 60],
  spells: 3,
  targets: 0,
};

/** A tenth of a fleet of a thousand services in three regions for 90 days. */
export const BIG_WORLD: WorldSize = {
  minutes: [129_600, 129_600],
  services: [100, 100],
  intervals: [7_200],
  spells: 24,
  targets: 2,
  places: 3,
  troubles: 10,
};

/** Random worlds of a size. */
export function worlds(size: WorldSize): fc.Arbitrary<World> {
  return fc
    .record({
      minutes: fc.integer({ min: size.minutes[0], max: size.minutes[1] }),
      interval: fc.constantFrom(...size.intervals),
      places: size.places === undefined ? fc.constantFrom(1, 1, 2, 3) : fc.constant(size.places),
    })
    .chain(({ minutes, interval, places }) => worldsOf(size, minutes * 60, interval, places));
}

function worldsOf(size: WorldSize, seconds: number, interval: number, places: number): fc.Arbitrary<World> {
  const time = fc.integer({ min: 0, max: seconds - 1 });
  const spanOf = (longest: number): fc.Arbitrary<Span> =>
    fc
      .tuple(time, fc.integer({ min: 1, max: longest }))
      .map(([from, length]) => [from, from + length] as const);
  const place = fc.integer({ min: 0, max: places - 1 });
  const { troubles = 1 } = size;
  /** In worlds of many days, alerts and changed intervals are so much slower; null: in others. */
  const slower = troubles === 1 ? null : interval / 60;
  /** Up to `most`; in a world with more troubles, at least half of them. */
  const some = <T>(one: fc.Arbitrary<T>, most: number): fc.Arbitrary<T[]> =>
    fc.array(one, {
      maxLength: most * troubles,
      ...(troubles === 1 ? {} : { minLength: Math.floor((most * troubles) / 2), size: 'max' }),
    });
  // As long as a check, an interval, or many of them.
  const anySpan = fc.oneof(spanOf(15), spanOf(2 * interval), spanOf(15 * interval));
  const mood = fc.constantFrom<Mood>(...MOODS, 'refuses', 'hangs', 'error', 'slow');
  const spell: fc.Arbitrary<readonly Spell[]> = fc
    .record({ span: anySpan, mood, some: fc.option(fc.uniqueArray(place, { minLength: 1 })) })
    .map(({ span, mood, some }) => [
      some === null || places === 1 ? { span, mood } : { span, mood, places: some },
    ]);
  /** Each place finds something else. */
  const split: fc.Arbitrary<readonly Spell[]> = fc
    .record({ span: anySpan, moods: fc.array(mood, { minLength: places, maxLength: places }) })
    .map(({ span, moods }) => moods.map((each, index) => ({ span, mood: each, places: [index] })));
  /** A place finds it down for long, and the others cannot look, although they are online. */
  const blind: fc.Arbitrary<readonly Spell[]> = fc
    .record({ from: time, length: fc.integer({ min: 4 * interval, max: 15 * interval }), seer: place })
    .map(({ from, length, seer }) =>
      Array.from({ length: places }, (_, index): Spell => {
        return {
          span: [from, from + length],
          mood: index === seer ? 'refuses' : 'no-socket',
          places: [index],
        };
      }),
    );
  const spells = fc
    .array(places === 1 ? spell : fc.oneof(spell, split, blind), {
      maxLength: size.spells,
      ...(troubles === 1 ? {} : { minLength: size.spells / 2, size: 'max' }),
    })
    .map((all) => all.flat());
  const checked: fc.Arbitrary<ServiceScript> = fc.record({
    kind: fc.constant('checked' as const),
    slowOverMs: fc.constantFrom(null, null, 1_000),
    spells,
  });
  const beat: fc.Arbitrary<Beat> = fc.record({
    at: time,
    word: fc.constantFrom('up', 'up', 'up', 'slow', 'down'),
    latencyMs: fc.constantFrom(null, 20, 3_000, 3_001),
    sentBefore: fc.constantFrom(null, null, null, 0, 3, 60),
  });
  const beats: fc.Arbitrary<ServiceScript> = fc.record({
    kind: fc.constant('beats' as const),
    period: fc.constantFrom(null, 20, 60),
    grace: fc.constantFrom(0, 0, 5),
    silent: fc.array(spanOf(Math.ceil(seconds / 4)), { maxLength: 3 }),
    others: fc.array(beat, { maxLength: 6 }),
  });
  const fault: fc.Arbitrary<Fault> = fc.oneof(
    fc.record({
      at: time,
      what: fc.constantFrom('stopped' as const),
      seconds: fc.constantFrom(1, 2, 3, 7, 40, 900),
    }),
    fc.record({
      at: time,
      what: fc.constantFrom('asleep' as const),
      seconds: fc.constantFrom(1, 2, 3, 60, 3_600),
    }),
    fc.record({
      at: time,
      what: fc.constantFrom('clock' as const),
      seconds: fc.constantFrom(-3_600, -60, -2, 1, 3, 60, 3_600),
    }),
    fc.record({ at: time, what: fc.constant('killed' as const) }),
    fc.record({ at: time, what: fc.constant('killed' as const) }),
  );
  const schedule: fc.Arbitrary<DefinedSchedule> = fc.record({
    cron: fc.constantFrom(
      '* * * * *',
      '*/2 * * * *',
      '1-59/3 * * * *',
      '58,0,3 * * * *',
      '0 * * * *',
      '@daily',
      '2 1 * * *',
    ),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
  });
  const [least, most] = size.services;
  return fc.record({
    seconds: fc.constant(seconds),
    interval: fc.constant(interval),
    places: fc.constant(places),
    quorum:
      places === 1
        ? fc.constant<Quorum>('majority')
        : fc.constantFrom<Quorum>('majority', 'majority', 'any', 'all', 2),
    // Heartbeats arrive at the judge, whose own connection is another matter: single processes have both kinds.
    services: fc.array(places === 1 && size.targets > 0 ? fc.oneof(checked, checked, beats) : checked, {
      minLength: least,
      maxLength: most,
    }),
    offline: some(fc.record({ place, span: fc.oneof(spanOf(20), spanOf(4 * interval)) }), 3),
    lost: some(fc.record({ place, span: spanOf(6 * interval) }), places === 1 ? 0 : 2),
    faults: some(fault, 5)
      .map((all) => (places === 1 ? all : all.filter(({ what }) => what === 'killed')))
      .map((all) => all.sort((a, b) => a.at - b.at)),
    maintenances: some(fc.record({ service: fc.nat({ max: most - 1 }), span: spanOf(10 * interval) }), 2),
    targets: fc.constant(size.targets),
    // What is added to worlds comes last, so that the same seed goes on making the same world but for what is new.
    said: announcements(seconds, interval, most, some),
    schedules: fc.array(fc.option(schedule, { freq: 2 }), { minLength: most, maxLength: most }),
    edits: edits(seconds, most, slower ?? 1, some),
    hasty: fc.boolean(),
    alerts: alertScripts({ seconds, services: most, slower }),
  });
}

/**
 * The changes of services. What a process that is killed has not committed yet is judged again by the next one, by the definition of
 * then, so none is made in the last two seconds of a process. What is removed is changed no more.
 */
export function editsOf({ services, faults, edits: all }: World): readonly Edit[] {
  return all.filter(
    (one, index) =>
      one.service < services.length &&
      !faults.some(({ at, what }) => what === 'killed' && one.at <= at && one.at > at - 3) &&
      !all.slice(0, index).some((before) => before.what === 'remove' && before.service === one.service),
  );
}

/** When a service is removed, by its index, seconds since the beginning; infinite: never. */
export function removalOf(world: World, service: number): number {
  const removal = editsOf(world).find((one) => one.what === 'remove' && one.service === service);
  return removal?.at ?? Number.POSITIVE_INFINITY;
}

/** The heartbeats of a service: one after each 80 % of its period but for times of silence, and some others. */
export function beatsOf(
  script: Extract<ServiceScript, { readonly kind: 'beats' }>,
  seconds: number,
): readonly Beat[] {
  const every = Math.ceil((script.period ?? SILENCE_MS / 1_000) * 0.8);
  const regular = Array.from({ length: Math.floor(seconds / every) }, (_, index): Beat => {
    return { at: index * every + 1, word: 'up', latencyMs: 20, sentBefore: null };
  });
  const isSilent = (at: number) => script.silent.some(([from, until]) => at >= from && at < until);
  return [...regular.filter(({ at }) => !isSilent(at)), ...script.others];
}

/** What stands on the pages of vendors. */
export function storiesOf({ seconds, services, maintenances, said }: World): readonly Story[] {
  return [
    ...said.stories,
    ...maintenances
      .filter(({ service }) => service < services.length)
      .map(({ service, span: [startsAt, endsAt] }): Story => {
        const about = { kind: 'maintenance', startsAt, endsAt, states: [], tells: false } as const;
        // Standstills make a world longer.
        return { page: pageOf(service), component: `s${service}`, listed: [[0, seconds + 36_000]], about };
      }),
  ];
}

/** How a service responds to a place, by its number, milliseconds after the beginning. */
export function moodOf({ services }: World, id: number, place: number, elapsedMs: number): Mood | 'fine' {
  const script = services[id - 1];
  if (script?.kind !== 'checked') return 'fine';
  return (
    script.spells.find(({ span, places }) => isIn(span, elapsedMs) && (places?.includes(place) ?? true))
      ?.mood ?? 'fine'
  );
}

/** Whether a time is in a span, milliseconds since the beginning. */
export function isIn([from, until]: Span, elapsedMs: number): boolean {
  return elapsedMs >= from * 1_000 && elapsedMs < until * 1_000;
}
