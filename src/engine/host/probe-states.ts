/**
 * The states of the actors of a host, of which there may be a million. An idle actor is a row of columns, 37 bytes beside the
 * text of its domain and its check, which others may share. Only an actor with a check in progress has an object.
 */
import type { ActorStates } from '../../actor/actor-group.ts';
import { IdMap } from '../../async/id-map.ts';
import type { CheckTarget } from '../../domain/check-target.ts';
import { MEMORY_BITS, memoryFlags, unpackMemory } from '../../domain/packed.ts';
import type { CheckDefinition } from '../../domain/service.ts';
import { idleProbe, type ProbeState } from './probe-actor.ts';

/** Rows of a chunk: columns that grow by chunks are never copied. */
const CHUNK = 1_024;

interface Chunk {
  readonly domains: (string | undefined)[];
  readonly checks: (CheckDefinition | undefined)[];
  readonly revisions: Float64Array;
  /** NaN stands for null. */
  readonly askHealthAt: Float64Array;
  /** 0 stands for null; ids of accounts begin at 1. */
  readonly accounts: Uint32Array;
  readonly flags: Uint8Array;
}

const OWNED = 1;

/**
 * States by service. The state of an idle actor is equal to the one that was stored, but another object, and its target does
 * not tell when the service was last checked (`lastCheckedAt` is null): its due time is on the schedule.
 */
export class ProbeStates implements ActorStates<ProbeState> {
  /** Rows are dense, unlike the ids of the services that one of several hosts has. */
  readonly #rowOf = new IdMap<number>();
  readonly #freeRows: number[] = [];
  readonly #chunks: Chunk[] = [];
  /** The actors with a check in progress. Their rows are outdated. */
  readonly #open = new Map<number, ProbeState>();
  /** Idle actors that must not check before a time. */
  readonly #notBefore = new Map<number, number>();

  get size(): number {
    return this.#rowOf.size;
  }

  has(serviceId: number): boolean {
    return this.#rowOf.has(serviceId);
  }

  get(serviceId: number): ProbeState | undefined {
    const row = this.#rowOf.get(serviceId);
    if (row === undefined) return undefined;
    return (
      this.#open.get(serviceId) ??
      idleProbe(readRow(this.#chunkOf(row), row % CHUNK, serviceId), this.#notBefore.get(serviceId))
    );
  }

  /** Throws a RangeError unless the id is a whole number from 0. */
  set(serviceId: number, state: ProbeState): void {
    const row = this.#rowOf.get(serviceId) ?? this.#addRow(serviceId);
    if (state.check !== null) {
      this.#open.set(serviceId, state);
      return;
    }
    this.#open.delete(serviceId);
    if (state.notBefore > 0) this.#notBefore.set(serviceId, state.notBefore);
    else this.#notBefore.delete(serviceId);
    writeRow(this.#chunkOf(row), row % CHUNK, state.target);
  }

  delete(serviceId: number): boolean {
    const row = this.#rowOf.get(serviceId);
    if (row === undefined) return false;
    const { domains, checks } = this.#chunkOf(row);
    domains[row % CHUNK] = undefined;
    checks[row % CHUNK] = undefined;
    this.#rowOf.delete(serviceId);
    this.#freeRows.push(row);
    this.#open.delete(serviceId);
    this.#notBefore.delete(serviceId);
    return true;
  }

  #addRow(serviceId: number): number {
    const row = this.#freeRows.pop() ?? this.size;
    this.#rowOf.set(serviceId, row);
    if (row === this.#chunks.length * CHUNK) this.#chunks.push(createChunk());
    return row;
  }

  #chunkOf(row: number): Chunk {
    return this.#chunks[Math.floor(row / CHUNK)] as Chunk;
  }
}

function createChunk(): Chunk {
  // With undefined in all places, V8 keeps them arrays without holes.
  const column = <Value>() => new Array<Value | undefined>(CHUNK).fill(undefined);
  const buffer = new ArrayBuffer(CHUNK * 21);
  return {
    domains: column(),
    checks: column(),
    revisions: new Float64Array(buffer, 0, CHUNK),
    askHealthAt: new Float64Array(buffer, CHUNK * 8, CHUNK),
    accounts: new Uint32Array(buffer, CHUNK * 16, CHUNK),
    flags: new Uint8Array(buffer, CHUNK * 20, CHUNK),
  };
}

function writeRow(chunk: Chunk, at: number, target: CheckTarget): void {
  const { revision, domain, origin, accountId, check, memory } = target;
  chunk.domains[at] = domain;
  chunk.checks[at] = check;
  chunk.revisions[at] = revision;
  chunk.askHealthAt[at] = memory.askHealthAt ?? Number.NaN;
  chunk.accounts[at] = accountId ?? 0;
  chunk.flags[at] = (origin === 'owner' ? OWNED : 0) | memoryFlags(memory, MEMORY_BITS);
}

function readRow(chunk: Chunk, at: number, serviceId: number): CheckTarget {
  const flags = chunk.flags[at] as number;
  return {
    serviceId,
    revision: chunk.revisions[at] as number,
    domain: chunk.domains[at] as string,
    origin: (flags & OWNED) === 0 ? 'catalogue' : 'owner',
    accountId: chunk.accounts[at] || null,
    check: chunk.checks[at] as CheckDefinition,
    memory: unpackMemory(flags, chunk.askHealthAt[at], MEMORY_BITS),
    lastCheckedAt: null,
  };
}
