/** Nodes: the processes of a cluster, what each of them does, the shards of services that they check, and the regions where they are. */
import { DAY_MS } from './durations.ts';

/** The region of a process without `node.region`. */
export const DEFAULT_REGION = 'local';

/** The number of voting regions that must confirm a failure: `checks.quorum`. */
export type Quorum = 'majority' | 'any' | 'all' | number;

interface RegionState {
  readonly region: string;
  /** True if at least one of its live probing nodes is online. */
  readonly online: boolean;
  /** Its live nodes with the role `probe`. */
  readonly nodes: number;
}

/** Returns true if `text` is the name of a region: 1 to 32 of `a-z`, `0-9` and `-`. */
export function isRegionName(text: string): boolean {
  return /^[a-z0-9-]{1,32}$/.test(text);
}

/** The name of the registry's fact with the regions of samples. */
export const SAMPLE_REGIONS_FACT = 'samples.regions';

/** The text of the fact. The first region is the one to which samples without a region belong. */
export function formatSampleRegions(regions: readonly string[]): string {
  return regions.join(' ');
}

/** The inverse of {@link formatSampleRegions}. Null, no fact: there is none. */
export function parseSampleRegions(text: string | null): readonly string[] {
  return (text ?? '').split(' ').filter(isRegionName);
}

/** The roles of a node: it evaluates results and writes, makes checks for its region, or serves API and pages. */
export const NODE_ROLES = ['judge', 'probe', 'serve'] as const;

/** A role of a node. */
export type NodeRole = (typeof NODE_ROLES)[number];

/** The current state of a process, which it reports with `offlineSince` by its own clock. */
export interface NodeReport {
  /** Services that it checks now. */
  readonly services: number;
  readonly checksPerSecond: number;
  /** Its own connection to the internet; true where it makes no checks. */
  readonly online: boolean;
  /** Epoch milliseconds; null: it is online. */
  readonly offlineSince: number | null;
  /** True if the registry answers it. */
  readonly reachesRegistry: boolean;
  /** Why it makes none of the checks that are due, one line; null or absent: it makes them, or none is due. */
  readonly checksProblem?: string | null;
}

/** A live node, as all nodes see it. */
export interface NodeState extends NodeReport {
  /** Unique among the live nodes. */
  readonly name: string;
  readonly region: string;
  readonly roles: readonly NodeRole[];
  /** Version of the program. */
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** Start of the process, epoch milliseconds by Redis' clock. */
  readonly since: number;
  /** Epoch milliseconds by Redis' clock. */
  readonly lastSeen: number;
  /** Its wall clock minus Redis' clock, milliseconds. */
  readonly clockOffsetMs: number;
}

/** From this difference to Redis' clock on, a node's clock is off, milliseconds. */
export const CLOCK_OFF_MS = 1_000;
/** Results of a node whose clock differs by more are dropped, milliseconds: no correction can be trusted. */
export const MAX_CLOCK_OFFSET_MS = DAY_MS;

/** Returns true if `text` is the name of a node: 1 to 64 letters, digits, `.`, `_` and `-`. */
export function isNodeName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text);
}

/** The name of a node without `node.name`: the host's, with `-` for other characters than names of nodes have. */
export function nodeNameOf(hostName: string): string {
  return hostName.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 64) || 'node';
}

/** The regions in which at least one of `nodes` makes checks, by name. */
export function regionsOf(nodes: readonly NodeState[]): RegionState[] {
  const probing = nodes.filter(({ roles }) => roles.includes('probe'));
  const names = [...new Set(probing.map(({ region }) => region))].sort();
  return names.map((name) => {
    const within = probing.filter(({ region }) => region === name);
    return { region: name, online: within.some(({ online }) => online), nodes: within.length };
  });
}

/** A node hands its services to the others of its region after it has been offline for this time, milliseconds. */
const MAX_OFFLINE_MS = 5_000;

/**
 * The nodes among which a region's shards are divided: those with the role `probe` that reach the registry, from which
 * they load the services, and whose own connection works. While none of the region has both, those that reach the
 * registry; while none does, all of them, because nothing is gained by moving shards.
 */
export function holdersOf(nodes: readonly NodeState[], region: string): readonly NodeState[] {
  const probing = nodes.filter((node) => node.region === region && node.roles.includes('probe'));
  const reaching = probing.filter(({ reachesRegistry }) => reachesRegistry);
  const able = reaching.filter(
    ({ offlineSince, lastSeen }) => offlineSince === null || lastSeen - offlineSince < MAX_OFFLINE_MS,
  );
  return [able, reaching, probing].find(({ length }) => length > 0) ?? [];
}

/** The names of the other nodes of a node's region that can make a check in its place now. */
export function neighboursOf(
  nodes: readonly NodeState[],
  { name, region }: Pick<NodeState, 'name' | 'region'>,
): string[] {
  return nodes.flatMap((one) =>
    one.name !== name &&
    one.region === region &&
    one.roles.includes('probe') &&
    one.online &&
    one.reachesRegistry &&
    (one.checksProblem ?? null) === null
      ? [one.name]
      : [],
  );
}

/** The number of `nodes` in each region, by name. */
export function countNodesByRegion(nodes: readonly NodeState[]): Readonly<Record<string, number>> {
  const regions = Map.groupBy(nodes, ({ region }) => region);
  return Object.fromEntries([...regions].map(([region, { length }]) => [region, length] as const).sort());
}

/** The number of `nodes` that have each role in each region, for every role of a region in which there are nodes. */
export function countNodes(
  nodes: readonly NodeState[],
): { readonly region: string; readonly role: NodeRole; readonly nodes: number }[] {
  const regions = [...new Set(nodes.map(({ region }) => region))].sort();
  return regions.flatMap((region) =>
    NODE_ROLES.map((role) => ({
      region,
      role,
      nodes: nodes.filter((node) => node.region === region && node.roles.includes(role)).length,
    })),
  );
}

/** The offset of a node's clock, for people: `12.3 s ahead of Redis' clock`; null: it agrees with Redis' clock. */
export function describeClockOffset(offsetMs: number): string | null {
  if (Math.abs(offsetMs) < CLOCK_OFF_MS) return null;
  const seconds = (Math.abs(offsetMs) / 1_000).toFixed(1);
  const consequence =
    Math.abs(offsetMs) > MAX_CLOCK_OFFSET_MS ? ', so that results of its checks are dropped' : '';
  return `${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} Redis' clock${consequence}`;
}

/** Shards of each region. More nodes than this in one region have nothing to check. */
export const SHARDS = 64;

/** The shard of a service, from 0 to {@link SHARDS} - 1. Ids are given in turn, so that all shards have as many services. */
export function shardOf(serviceId: number): number {
  return serviceId % SHARDS;
}

/**
 * The number of one claim of a shard. It is greater than those of all earlier claims of the shard, so that results of a
 * node that lost the shard are known as such.
 */
export interface ShardFence {
  /** Grows whenever a judge makes the jobs of a region anew; never repeated within one registry. */
  readonly generation: number;
  /** Number of the claim within the generation, from 1. */
  readonly claim: number;
}
