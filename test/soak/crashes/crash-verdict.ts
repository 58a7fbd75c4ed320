/** Compares the stores of a program that was killed with what its clients were told. */
import type { AcknowledgedBeat, CrashLoad } from './crash-load.ts';

/** What the registry has. */
export interface RegistryFacts {
  /** In order of their positions. */
  readonly transitions: readonly TransitionFact[];
  readonly services: readonly ServiceFact[];
  /** The newest heartbeats of each service, at most a hundred, in no order. */
  readonly heartbeats: readonly { readonly domain: string; readonly timestamp: number }[];
  readonly incidents: readonly IncidentFact[];
}

interface TransitionFact {
  readonly position: number;
  readonly serviceId: number;
  readonly seq: number;
  readonly from: string;
  readonly to: string;
}

/** An own incident. */
interface IncidentFact {
  readonly id: string;
  readonly serviceId: number;
  readonly status: string;
}

interface ServiceFact {
  readonly id: number;
  readonly domain: string;
  readonly status: string;
  readonly seq: number;
}

/** Heartbeats of a service that are kept, and by which an acknowledged one must be among them. */
const KEPT_BEATS = 100;
/** A kill loses samples of less than this time: they are committed every half second, which a busy machine delays. */
const UNFLUSHED_MS = 5_000;

/** What of the registry contradicts the clients, or itself: sentences, none where all is right. */
export function judgeRegistry(
  facts: RegistryFacts,
  load: Pick<CrashLoad, 'beats' | 'created' | 'asked'>,
): string[] {
  return [
    ...judgeTransitions(facts),
    ...judgeIncidents(facts),
    ...judgeBeats(facts, load.beats),
    ...judgeCreated(facts, load),
  ];
}

function judgeTransitions({ transitions, services }: RegistryFacts): string[] {
  const wrong: string[] = [];
  const last = new Map<number, TransitionFact>();
  for (const [index, transition] of transitions.entries()) {
    const { position, serviceId, seq, from, to } = transition;
    const before = last.get(serviceId);
    last.set(serviceId, transition);
    if (position !== index + 1) wrong.push(`position ${index + 1} of the transitions is ${position}`);
    if (seq !== (before?.seq ?? 0) + 1) wrong.push(`service ${serviceId}: ${seq} follows ${before?.seq}`);
    if (from !== (before?.to ?? 'unknown') || from === to)
      wrong.push(`service ${serviceId}: ${from} to ${to} follows ${before?.to}`);
  }
  for (const { id, domain, status, seq } of services) {
    const { seq: told = 0, to = 'unknown' } = last.get(id) ?? {};
    if (told !== seq || to !== status)
      wrong.push(`${domain} is ${status} (${seq}) beside its transition to ${to} (${told})`);
  }
  return wrong;
}

/** Each incident began with a transition to down, and a service that is down has one that is open. */
function judgeIncidents({ transitions, services, incidents }: RegistryFacts): string[] {
  const downs = new Set(
    transitions.filter(({ to }) => to === 'down').map(({ serviceId, seq }) => `${serviceId} ${seq}`),
  );
  const open = groupBy(
    incidents.filter(({ status }) => status !== 'resolved'),
    ({ serviceId }) => String(serviceId),
  );
  return [
    ...incidents
      .filter(({ id, serviceId }) => !downs.has(`${serviceId} ${id.split('-').at(-1)}`))
      .map(({ id }) => `${id} has no transition`),
    ...services.flatMap(({ id, domain, status }) => {
      const count = open.get(String(id))?.length ?? 0;
      const isRight = count === 1 || (count === 0 && status !== 'down');
      return isRight ? [] : [`${domain} is ${status} and has ${count} open incidents`];
    }),
  ];
}

function judgeBeats({ heartbeats }: RegistryFacts, beats: readonly AcknowledgedBeat[]): string[] {
  const wrong: string[] = [];
  const stored = groupBy(heartbeats, ({ domain }) => domain);
  for (const [domain, told] of groupBy(beats, (beat) => beat.domain)) {
    const times = (stored.get(domain) ?? []).map(({ timestamp }) => timestamp);
    const kept = new Set(times);
    if (kept.size !== times.length) wrong.push(`${domain}: a heartbeat is there twice`);
    // Heartbeats that were not acknowledged may have taken places of the hundred.
    const oldest = Math.min(...times);
    const missing = told
      .slice(-KEPT_BEATS)
      .filter(({ timestamp }) => timestamp >= oldest && !kept.has(timestamp));
    if (missing.length > 0 || times.length === 0)
      wrong.push(`${domain} lost ${missing.length} acknowledged heartbeats`);
  }
  return wrong;
}

function judgeCreated(
  { services }: RegistryFacts,
  { created, asked }: Pick<CrashLoad, 'created' | 'asked'>,
): string[] {
  const domains = services.map(({ domain }) => domain).filter((domain) => domain.startsWith('made-'));
  const present = new Set(domains);
  const wrong = [...created].filter((domain) => !present.has(domain)).map((domain) => `${domain} was lost`);
  if (present.size !== domains.length) wrong.push('a service was created twice');
  return [
    ...wrong,
    ...domains.filter((domain) => !asked.has(domain)).map((domain) => `nobody asked for ${domain}`),
  ];
}

/** Acknowledged heartbeats without a sample, and how many of them a kill explains. */
export interface SampleVerdict {
  /** Lost with the last second before a kill. */
  readonly unflushed: number;
  /** The oldest of them was acknowledged so long before the kill, milliseconds. */
  readonly oldestMs: number;
  readonly samples: number;
  readonly wrong: readonly string[];
}

/** Compares samples with the heartbeats. `timesOf`: by number of the service. `killedAt`: monotonic milliseconds, ascending. */
export function judgeSamples(
  timesOf: ReadonlyMap<number, readonly number[]>,
  services: readonly ServiceFact[],
  beats: readonly AcknowledgedBeat[],
  killedAt: readonly number[],
): SampleVerdict {
  const wrong: string[] = [];
  let [unflushed, oldestMs, samples] = [0, 0, 0];
  for (const [domain, told] of groupBy(beats, (beat) => beat.domain)) {
    const id = services.find((service) => service.domain === domain)?.id ?? 0;
    const stored = timesOf.get(id) ?? [];
    const times = new Set(stored);
    samples += stored.length;
    if (times.size !== stored.length) wrong.push(`${domain}: a sample is there twice`);
    const missing = told.filter(({ timestamp }) => !times.has(timestamp));
    const agesMs = missing.map(
      ({ answeredMs }) =>
        (killedAt.find((at) => at >= answeredMs - 5) ?? Number.POSITIVE_INFINITY) - answeredMs,
    );
    const explained = agesMs.filter((ageMs) => ageMs <= UNFLUSHED_MS);
    unflushed += explained.length;
    oldestMs = Math.max(oldestMs, ...explained);
    const unexplained = agesMs.filter((ageMs) => ageMs > UNFLUSHED_MS);
    if (unexplained.length > 0)
      wrong.push(`${domain}: ${unexplained.length} samples of heartbeats were lost`);
  }
  return { unflushed, oldestMs, samples, wrong };
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) groups.set(nameOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
