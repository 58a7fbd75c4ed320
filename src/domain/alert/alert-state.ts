/**
 * The memory of an account's alerts between two decisions, as JSON. Its size is bounded by what goes on: a condition is kept
 * while it lasts, or a message about it waits, or {@link FLAP_WINDOW_MS} after its last change; a thread while a condition of
 * it lasts; the threshold of a certificate until the certificate ends.
 *
 * Members that this version does not know, which a later one wrote, are kept where they are.
 */
import type { Reach } from '../status/reach.ts';
import type { AlertChange } from './event.ts';
import type { AlertEventName } from './rule.ts';

/** After something was told at once, what follows within this time is one message. */
export const GROUP_WINDOW_MS = 30_000;

/** Kinds of news that do not wait for each other: what goes down, what else begins, changes and ends, and maintenance. */
export type Lane = 'down' | 'begin' | 'change' | 'maintenance';

/** A service flaps after {@link FLAP_CHANGES} changes within this time, until nothing has changed for as long. */
export const FLAP_WINDOW_MS = 30 * 60_000;

/** Number of changes within {@link FLAP_WINDOW_MS} that make a service flap. */
export const FLAP_CHANGES = 5;

/** Maximum number of incidents of one service that are followed at a time; the oldest gives way without a word. */
export const MAX_FOLLOWED_INCIDENTS = 20;

/** One rule's wish that a channel is told of a condition. */
export interface Want {
  /** ID of the rule. */
  readonly rule: number;
  /** The time at which it may be told, epoch milliseconds; null: when the maintenance of the service ends. */
  readonly dueAt: number | null;
  /** It waits for quiet hours or a maintenance to end, and is forgotten if it is over by then. */
  readonly held: boolean;
}

/** The messages about a condition that one channel has received, and those that are pending. */
export interface Telling {
  /** The severity for this channel, which may not ask for every weight; 0: it is over, or was never told. */
  readonly weight: number;
  /** The time at which `weight` left 0, epoch milliseconds. */
  readonly beganAt: number;
  /** The time at which it got its weight or its newest text, or ended, epoch milliseconds. */
  readonly since: number;
  /** Wishes for the first word of it; empty once it was told. */
  readonly wants: readonly Want[];
  /** IDs of the rules that asked for it. */
  readonly rules: readonly number[];
  /** The thread that it was told in; null: it was not told. */
  readonly thread: string | null;
  /** The weight that was told last; 0: nothing. */
  readonly toldWeight: number;
  readonly toldSince: number;
  /** The time at which a change of what was told may be told, epoch milliseconds; null: there is none, or `isHeld`. */
  readonly dueAt: number | null;
  /** A change of what was told waits for the end of a maintenance. */
  readonly isHeld: boolean;
  /** A rule asks for the end of what was told. */
  readonly tellsEnd: boolean;
  /** The last {@link FLAP_CHANGES} changes, epoch milliseconds. */
  readonly changes: readonly number[];
  /** The present beginning is among `changes`. */
  readonly isCounted: boolean;
  /** `due`: it flaps, which has to be told; `told`: it was; `over`: it is steady again, which has to be told. */
  readonly flapping: 'no' | 'due' | 'told' | 'over';
}

/** A channel that was told nothing. */
export const UNTOLD: Telling = {
  weight: 0,
  beganAt: 0,
  since: 0,
  wants: [],
  rules: [],
  thread: null,
  toldWeight: 0,
  toldSince: 0,
  dueAt: null,
  isHeld: false,
  tellsEnd: false,
  changes: [],
  isCounted: false,
  flapping: 'no',
};

/** A service in words, kept for a message after its removal. */
export interface NamedService {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  readonly url: string;
}

/** The kinds of conditions of a service. `recovered`: it is up again, for rules that ask for nothing before it. */
export type ConditionKind = 'status' | 'recovered' | 'scope' | 'incident' | 'maintenance' | 'certificate';

/** Something that is wrong, or goes on, with a service. */
export interface Condition {
  readonly kind: ConditionKind;
  readonly service: NamedService;
  /** 0: it is over. Greater is worse. */
  readonly weight: number;
  /** Rules that ask for one of these are told that it is so. */
  readonly words: readonly AlertEventName[];
  /** Rules that ask for one of these are told of its end. */
  readonly endWords: readonly AlertEventName[];
  /** The newest change, and the newest one that was no end. */
  readonly last: AlertChange;
  readonly trouble: AlertChange;
  /** By ID of the channel. */
  readonly tellings: Readonly<Record<string, Telling>>;
}

export interface Thread {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The time at which something began in it last, epoch milliseconds; absent: at its start. */
  readonly joinedAt?: number;
  /** Null: it is not acknowledged. */
  readonly acknowledged: { readonly by: string; readonly at: number } | null;
  /** By ID of the channel: when the next reminder is due, epoch milliseconds; null: never. */
  readonly channels: Readonly<Record<string, { readonly remindAt: number | null }>>;
}

/** The memory of an account's alerts. Immutable. */
export interface AlertState {
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly threads: ReadonlyMap<string, Thread>;
  /** The certificate and the least threshold of it that was reached, by ID of the service. */
  readonly certificates: ReadonlyMap<number, { readonly endsAt: number; readonly days: number }>;
  /** IDs of the owner's maintenances that run, by ID of the service. */
  readonly maintenances: ReadonlyMap<number, readonly string[]>;
  /** Services that are down and depend on others, by their IDs. */
  readonly reaches: ReadonlyMap<number, Reach>;
  /** The time at which something was told last, epoch milliseconds; absent: nothing was. */
  readonly lanes: Readonly<Partial<Record<Lane, number>>>;
  /** Number of the last thread. */
  readonly threadCount: number;
  /** The time up to which everything was decided, epoch milliseconds. It decreases only where the clock was set back. */
  readonly decidedAt: number;
  /** The time at which services, rules and channels are looked at for what was removed, epoch milliseconds; null: nothing is open. */
  readonly lookAt: number | null;
  /** Members of a later version. */
  readonly unknown: Readonly<Record<string, unknown>>;
}

/** The state of an account without alerts. */
export const NO_ALERTS: AlertState = {
  conditions: new Map(),
  threads: new Map(),
  certificates: new Map(),
  maintenances: new Map(),
  reaches: new Map(),
  lanes: {},
  threadCount: 0,
  decidedAt: 0,
  lookAt: null,
  unknown: {},
};

/** The version that {@link writeAlertState} writes. A later one only adds members, so that this one can read it. */
const VERSION = 1;

export function writeAlertState(state: AlertState): string {
  const { conditions, threads, certificates, maintenances, reaches, unknown, ...rest } = state;
  const others = JSON.stringify({
    ...unknown,
    version: Math.max(VERSION, Number(unknown.version ?? 0)),
    ...rest,
    threads: Object.fromEntries(threads),
    certificates: Object.fromEntries(certificates),
    maintenances: Object.fromEntries(maintenances),
    ...(reaches.size === 0 ? {} : { reaches: Object.fromEntries(reaches) }),
  });
  const texts = [...conditions].map(([key, condition]) => `${JSON.stringify(key)}:${textOf(condition)}`);
  return `${others.slice(0, -1)},"conditions":{${texts.join()}}}`;
}

/** JSON of conditions that were written before: a decision changes few of the many that an account may have. */
const written = new WeakMap<Condition, string>();

function textOf(condition: Condition): string {
  const known = written.get(condition);
  if (known !== undefined) return known;
  const text = JSON.stringify(packCondition(condition));
  written.set(condition, text);
  return text;
}

/** The state in a JSON text. Throws if the text is none of {@link writeAlertState}. */
export function readAlertState(text: string): AlertState {
  const parsed: unknown = JSON.parse(text);
  if (!isStored(parsed)) throw new Error('it is no state of alerts');
  const { conditions, threads, certificates, maintenances, reaches, lanes, threadCount, ...others } = parsed;
  const { decidedAt, lookAt, ...unknown } = others;
  return {
    conditions: new Map(
      Object.entries(conditions).map(([key, condition]) => [key, unpackCondition(condition)]),
    ),
    threads: new Map(Object.entries(threads)),
    certificates: byNumber(certificates),
    maintenances: byNumber(maintenances),
    reaches: byNumber(reaches ?? {}),
    lanes: lanes ?? {},
    threadCount,
    decidedAt,
    lookAt,
    unknown,
  };
}

/** IDs of the services that the state remembers something of: their events concern the account, whatever its rules say. */
export function rememberedServices(state: AlertState): Set<number> {
  const services = new Set(state.maintenances.keys());
  for (const { service } of state.conditions.values()) services.add(service.id);
  for (const [id, { ancestors }] of state.reaches) for (const one of [id, ...ancestors]) services.add(one);
  return services;
}

type Stored = Omit<
  AlertState,
  'conditions' | 'threads' | 'certificates' | 'maintenances' | 'reaches' | 'lanes' | 'unknown'
> & {
  readonly conditions: Readonly<Record<string, PackedCondition>>;
  readonly threads: Readonly<Record<string, Thread>>;
  readonly certificates: Readonly<Record<string, { readonly endsAt: number; readonly days: number }>>;
  readonly maintenances: Readonly<Record<string, readonly string[]>>;
  /** Absent: there are none. */
  readonly reaches?: Readonly<Record<string, Reach>>;
  /** Absent in states of earlier versions. */
  readonly lanes?: AlertState['lanes'];
};

/** A condition without what follows from the rest. */
type PackedCondition = Omit<Condition, 'trouble' | 'tellings'> & {
  /** Absent: it is `last`. */
  readonly trouble?: AlertChange;
  /** Absent members are those of {@link UNTOLD}. */
  readonly tellings: Readonly<Record<string, Partial<Telling>>>;
};

function packCondition({ trouble, tellings, ...rest }: Condition): PackedCondition {
  const packed = Object.entries(tellings).map(
    ([channel, telling]) => [channel, packTelling(telling)] as const,
  );
  return {
    ...rest,
    ...(trouble === rest.last ? {} : { trouble }),
    tellings: Object.fromEntries(packed),
  };
}

function unpackCondition({ trouble, tellings, ...rest }: PackedCondition): Condition {
  const unpacked = Object.entries(tellings).map(
    ([channel, telling]) => [channel, { ...UNTOLD, ...telling }] as const,
  );
  return { ...rest, trouble: trouble ?? rest.last, tellings: Object.fromEntries(unpacked) };
}

function packTelling(telling: Telling): Partial<Telling> {
  const usual: Readonly<Record<string, unknown>> = { ...UNTOLD };
  const isUsual = (name: string, value: unknown) =>
    Array.isArray(value) && Array.isArray(usual[name]) ? value.length === 0 : value === usual[name];
  return Object.fromEntries(Object.entries(telling).filter(([name, value]) => !isUsual(name, value)));
}

function isStored(value: unknown): value is Stored {
  const isObject = (member: unknown) => typeof member === 'object' && member !== null;
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    'conditions' in value &&
    isObject(value.conditions) &&
    'threads' in value &&
    isObject(value.threads) &&
    'certificates' in value &&
    isObject(value.certificates) &&
    'maintenances' in value &&
    isObject(value.maintenances) &&
    'threadCount' in value &&
    Number.isInteger(value.threadCount) &&
    'decidedAt' in value &&
    Number.isFinite(value.decidedAt)
  );
}

function byNumber<Value>(record: Readonly<Record<string, Value>>): Map<number, Value> {
  return new Map(Object.entries(record).map(([key, value]) => [Number(key), value]));
}

/**
 * The state of `into` with what `from` remembers, so that what was told before the merge is told to its end, in its threads.
 * Channels and threads belong to one account each, and stay as they are.
 */
export function mergeAlertStates(into: AlertState, from: AlertState): AlertState {
  const conditions = new Map(into.conditions);
  for (const [key, condition] of from.conditions) {
    const known = conditions.get(key);
    conditions.set(key, known === undefined ? condition : mergeConditions(known, condition));
  }
  const certificates = new Map(into.certificates);
  for (const [service, certificate] of from.certificates) {
    const known = certificates.get(service);
    const isNewer =
      known === undefined ||
      certificate.endsAt > known.endsAt ||
      (certificate.endsAt === known.endsAt && certificate.days < known.days);
    if (isNewer) certificates.set(service, certificate);
  }
  const maintenances = new Map(into.maintenances);
  for (const [service, ids] of from.maintenances)
    maintenances.set(service, [...new Set([...(maintenances.get(service) ?? []), ...ids])]);
  return {
    conditions,
    threads: new Map([...into.threads, ...from.threads]),
    certificates,
    maintenances,
    reaches: new Map([...from.reaches, ...into.reaches]),
    lanes: newestOf(into.lanes, from.lanes),
    threadCount: Math.max(into.threadCount, from.threadCount),
    decidedAt: Math.max(into.decidedAt, from.decidedAt),
    lookAt: earliestOf(into.lookAt, from.lookAt),
    unknown: { ...from.unknown, ...into.unknown },
  };
}

function newestOf(one: AlertState['lanes'], other: AlertState['lanes']): AlertState['lanes'] {
  const lanes = Object.entries({ ...other, ...one }) as [keyof AlertState['lanes'], number][];
  return Object.fromEntries(lanes.map(([lane, at]) => [lane, Math.max(at, other[lane] ?? at)]));
}

/** The earlier of two times; null is never. */
export function earliestOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Both accounts watched the service. What was remembered of a past outage gives way to what goes on. */
function mergeConditions(into: Condition, from: Condition): Condition {
  const newest = from.weight > into.weight ? from : into;
  return { ...newest, tellings: { ...from.tellings, ...into.tellings } };
}

/** Maximum number of services of an alert that are named; `total` says how many there are. */
const MAX_NAMED = 20;

/** An alert that was told and is not over. */
export interface OpenAlert {
  readonly thread: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** The first services that it is about. */
  readonly services: readonly NamedService[];
  readonly total: number;
  /** `by`: empty: somebody, by a link. Null: nobody has acknowledged it. */
  readonly acknowledged: { readonly by: string; readonly at: number } | null;
}

/** The open alerts, oldest first. `taken`: acknowledgements by thread, which the engine may not have read yet. */
export function listOpenAlerts(
  { threads, conditions }: AlertState,
  taken: ReadonlyMap<string, { readonly by: string; readonly at: number }>,
): OpenAlert[] {
  const services = new Map<string, Map<number, NamedService>>();
  for (const { service, tellings } of conditions.values())
    for (const { thread } of Object.values(tellings)) {
      if (thread === null) continue;
      const named = services.get(thread) ?? new Map<number, NamedService>();
      services.set(thread, named.set(service.id, service));
    }
  return [...threads]
    .map(([thread, { startedAt, acknowledged }]): OpenAlert => {
      const named = [...(services.get(thread)?.values() ?? [])];
      return {
        thread,
        since: startedAt,
        services: named.slice(0, MAX_NAMED),
        total: named.length,
        acknowledged: acknowledged ?? taken.get(thread) ?? null,
      };
    })
    .sort((one, other) => one.since - other.since);
}
