/** A registry in memory with the port's real rules for judgements, for tests of what writes to it. */
import { type CurrentStatus, type Transition, unknownStatus } from '../../src/domain/current.ts';
import type { Incident } from '../../src/domain/incident.ts';
import { NO_MEMORY, type ProbeMemory } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, dashDomain, type Service } from '../../src/domain/service.ts';
import type { HeartbeatWrite } from '../../src/store/ports/heartbeats.ts';
import type { CommitOutcome, Judgement, Registry, ServiceState } from '../../src/store/ports/registry.ts';

/** The part of the port that it implements. */
export type JudgementRegistry = Pick<
  Registry,
  | 'loadServices'
  | 'claimDomain'
  | 'commitJudgements'
  | 'transitionsAfter'
  | 'lastTransition'
  | 'listIncidents'
>;

/**
 * What a commit is to meet: it works, is refused before anything is written (`full`: for want of room), or is written and
 * then its answer is lost.
 */
export type CommitFault = 'none' | 'refused' | 'full' | 'answer_lost';

/** The registry, and what a test may look at and do. */
export interface MemoryRegistry extends JudgementRegistry {
  readonly ids: readonly number[];
  readonly transitions: readonly Transition[];
  readonly incidents: ReadonlyMap<string, Incident>;
  /** Every judgement that was committed, in order. */
  readonly committed: readonly Judgement[];
  /** Every heartbeat that was written, in order. */
  readonly heartbeats: readonly (HeartbeatWrite & { readonly serviceId: number })[];
  /** Calls of `commitJudgements`, refused ones included. */
  readonly calls: readonly (readonly Judgement[])[];
  current(serviceId: number): CurrentStatus;
  memory(serviceId: number): ProbeMemory;
  /** What the next commits meet, in order; `none` afterwards. */
  meet(...faults: readonly CommitFault[]): void;
  /** Forgets the faults that the next commits were to meet. */
  recover(): void;
  /** Commits wait until the returned function is called. */
  hold(): () => void;
}

/** Makes a registry that knows `services`. */
export function createMemoryRegistry(known: readonly Service[]): MemoryRegistry {
  const services = [...known];
  const owners = new Map(known.map(({ id, accountId }) => [id, accountId]));
  const heartbeats: MemoryRegistry['heartbeats'][number][] = [];
  const currents = new Map<number, CurrentStatus>(services.map(({ id }) => [id, unknownStatus(id)]));
  const memories = new Map<number, ProbeMemory>();
  const transitions: Transition[] = [];
  const incidents = new Map<string, Incident>();
  const committed: Judgement[] = [];
  const calls: (readonly Judgement[])[] = [];
  const faults: CommitFault[] = [];
  let gate = Promise.resolve();

  const currentOf = (serviceId: number): CurrentStatus => currents.get(serviceId) ?? unknownStatus(serviceId);

  function commit(judgement: Judgement): CommitOutcome {
    const { transition: change, current } = judgement;
    const steps = current.seq - judgement.expectedSeq;
    if (
      change === null
        ? steps !== 0
        : steps !== 1 || change.seq !== current.seq || change.to !== current.status
    )
      throw new Error(`judgement of service ${judgement.serviceId} contradicts itself`);
    const stored = currentOf(judgement.serviceId);
    const isForeign =
      judgement.heartbeat !== undefined && judgement.heartbeat.accountId !== owners.get(judgement.serviceId);
    if (isForeign || !currents.has(judgement.serviceId) || stored.seq !== judgement.expectedSeq)
      return { kind: 'stale', current: stored };
    currents.set(judgement.serviceId, judgement.current);
    committed.push(judgement);
    if (judgement.incident !== null) incidents.set(judgement.incident.id, judgement.incident);
    if (judgement.memory !== null) memories.set(judgement.serviceId, judgement.memory);
    const { heartbeat } = judgement;
    if (heartbeat !== undefined) heartbeats.push({ ...heartbeat, serviceId: judgement.serviceId });
    const written =
      heartbeat === undefined
        ? {}
        : { runMs: heartbeat.run === null || heartbeat.kind === 'start' ? null : 1_500 };
    if (judgement.transition === null) return { kind: 'committed', transition: null, ...written };
    const transition = { position: transitions.length + 1, ...judgement.transition };
    transitions.push(transition);
    return { kind: 'committed', transition, ...written };
  }

  return {
    ids: known.map(({ id }) => id),
    heartbeats,
    transitions,
    incidents,
    committed,
    calls,
    current: currentOf,
    memory: (serviceId) => memories.get(serviceId) ?? NO_MEMORY,
    meet: (...next) => void faults.push(...next),
    recover: () => void faults.splice(0),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async loadServices(): Promise<ServiceState[]> {
      return services.map((service) => ({
        service,
        current: currentOf(service.id),
        memory: memories.get(service.id) ?? NO_MEMORY,
        openIncident:
          [...incidents.values()].find(
            ({ serviceId, source, status }) =>
              serviceId === service.id && source === 'own' && status !== 'resolved',
          ) ?? null,
      }));
    },
    async claimDomain(domain, accountId) {
      const at = services.findIndex((service) => service.domain === domain);
      const found = services[at];
      if (found !== undefined && found.accountId !== accountId)
        throw Object.assign(new Error('not yours'), { code: 'foreign_domain' });
      const check = { ...(found?.check ?? DEFAULT_CHECK), kind: 'heartbeat' } as const;
      const service: Service =
        found === undefined
          ? {
              id: services.length + 1,
              slug: dashDomain(domain),
              name: domain,
              domain,
              category: 'developer',
              origin: 'owner',
              accountId,
              verified: false,
              paused: false,
              check,
              statusPage: null,
              revision: 1,
            }
          : { ...found, check, revision: found.revision + (found.check.kind === 'heartbeat' ? 0 : 1) };
      services[at === -1 ? services.length : at] = service;
      owners.set(service.id, accountId);
      if (found === undefined) currents.set(service.id, unknownStatus(service.id));
      return service;
    },
    async commitJudgements(judgements) {
      calls.push(judgements);
      await gate;
      const fault = faults.shift() ?? 'none';
      if (fault === 'full') throw Object.assign(new Error('no room'), { code: 'storage_full' });
      if (fault === 'refused') throw new Error('the registry is away');
      const outcomes = structuredClone(judgements).map(commit);
      if (fault === 'answer_lost') throw new Error('the answer was lost');
      return outcomes;
    },
    transitionsAfter: async (position, limit) => transitions.slice(position, position + limit),
    lastTransition: async () => transitions.length,
    async listIncidents({ serviceId, status, limit, offset }) {
      return [...incidents.values()]
        .filter((incident) => serviceId === undefined || incident.serviceId === serviceId)
        .filter((incident) => status === undefined || incident.status === status)
        .sort((a, b) => b.startedAt - a.startedAt || a.id.localeCompare(b.id))
        .slice(offset, offset + limit);
    },
  };
}
