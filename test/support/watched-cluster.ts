/**
 * A cluster whose clients note every response: they read from each serving node and send heartbeats through it, while
 * servers that the nodes share are stopped, suspended and emptied. For trials of what clients see of such faults.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SHARDS } from '../../src/domain/node.ts';
import { type Cluster, type ClusterNode, createCluster, type NodeOptions } from './cluster.ts';
import { CONTROL_PATH, type CountedSite, startCountedSite } from './counted-site.ts';
import type { Answer } from './program.ts';
import type { Scope } from './run-servers.ts';

/** Options of a watched cluster. */
export interface WatchedClusterOptions {
  /** `storage` of all nodes. */
  readonly storage: object;
  /** The nodes. The first one is the first monitor. */
  readonly nodes: readonly NodeOptions[];
  /** Services that never fail, besides {@link TURNING}. */
  readonly services: number;
}

/** What clients and the checked site saw in a span of time. */
export interface Sightings {
  /** Responses to reads of statuses, incidents and the home page. */
  readonly reads: number;
  /** The largest `Age` of them, seconds; 0: none had one. */
  readonly maxAge: number;
  /** Heartbeats that were confirmed. */
  readonly kept: number;
  /** Heartbeats that were refused with 503 and `Retry-After`. */
  readonly refused: number;
  /** The values of `Retry-After`. */
  readonly retryAfter: readonly string[];
  /** The parts that nodes named as degraded. */
  readonly degraded: readonly string[];
  /** Requests that nodes made to the services. */
  readonly checks: number;
  /** Everything that no client may see: other responses, and a service that never fails that is not up. */
  readonly wrong: readonly string[];
}

/** The cluster. */
export interface WatchedCluster {
  readonly cluster: Cluster;
  readonly site: CountedSite;
  /** An API key of the account `ada`, with which heartbeats are sent. */
  readonly key: string;
  /** The node that is the monitor; throws if there is none. */
  monitor(): Promise<ClusterNode>;
  /** Runs `work`, and returns what was seen meanwhile. */
  watch(work: () => Promise<void>): Promise<Sightings>;
  /**
   * Resolves when the cluster is right: no node is degraded, every node takes heartbeats and answers without `Age`, all
   * shards are held, every region has checked each service since the call, and all nodes tell a change of
   * {@link TURNING} that began with the call. Rejects with what is not right after `withinMs`.
   */
  untilRight(withinMs: number): Promise<Recovery>;
}

/** How a cluster became right. */
export interface Recovery {
  /** Duration, milliseconds. */
  readonly tookMs: number;
  /** What was not right until when, in order, as `1.2 s: eu-1 is degraded`. */
  readonly steps: readonly string[];
}

/** The service that fails and recovers. */
export const TURNING = 'turning';
/** Interval of the checks of each region, milliseconds. */
export const INTERVAL_MS = 2_000;
const POLL_MS = 400;
/** A serving node refuses a heartbeat that the monitor does not answer after 10 s. */
const REQUEST_TIMEOUT_MS = 15_000;
const READY_MS = 90_000;

interface Status {
  readonly status: string;
}

/** Starts the cluster, and resolves when it is right. */
export async function startWatchedCluster(
  scope: Scope,
  { storage, nodes, services }: WatchedClusterOptions,
): Promise<WatchedCluster> {
  const site = await startCountedSite(scope);
  const steady = Array.from({ length: services }, (_, number) => `steady-${number}`);
  const slugs = [...steady, TURNING];
  const cluster = await createCluster(scope, {
    entries: slugs.map((slug) => ({ slug, check: { url: `${site.url}/${slug}` } })),
    storage,
    settings: {
      checks: {
        ...{ interval: `${INTERVAL_MS}ms`, firstSpread: '500ms', confirmAfter: ['100ms'] },
        controlTargets: [`${site.url}${CONTROL_PATH}`],
      },
      heartbeats: { silence: '1h' },
      limits: {
        anonymousPerMinute: 1_000_000,
        authenticatedPerMinute: 1_000_000,
        changesPerAccount: 1_000_000,
      },
    },
  });
  site.attribute(cluster);
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('a cluster needs a node');
  const firstNode = await cluster.start(first);
  const created = await firstNode.installation.runHere('keys', 'create', '--account', 'ada', '--name', 'k');
  const key = created.stdout.trim();
  await Promise.all(others.map((node) => cluster.start(node)));

  let sightings = noSightings();
  let isOver = false;
  const serving = () =>
    cluster.nodes.filter(({ roles, state }) => roles.includes('serve') && state === 'running');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const get = (node: ClusterNode, path: string) => ask(`${node.siteUrl}${path}`, { headers });
  const beat = (node: ClusterNode) =>
    ask(`${node.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ domain: `${node.name}.example.com`, status: 'ok' }),
    });

  /** A client of one node: reads, sends heartbeats, and notes the responses while the node is meant to run. */
  async function follow(node: ClusterNode): Promise<void> {
    const isServing = node.roles.includes('serve');
    for (let turn = 0; !isOver; turn++) {
      await sleep(POLL_MS);
      if (node.state !== 'running') continue;
      const note = (what: string, answer: Answer | Error, isRight: (answer: Answer) => boolean) => {
        if (node.state !== 'running' || isOver) return;
        if (answer instanceof Error) sightings.wrong.push(`${node.name} ${what}: ${answer.message}`);
        else if (!isRight(answer))
          sightings.wrong.push(`${node.name} ${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
      };
      const ready = await get(node, '/readyz');
      note('/readyz', ready, ({ status, body }) => {
        for (const part of (body as { degraded?: string[] }).degraded ?? []) sightings.degraded.add(part);
        return status === 200;
      });
      if (!isServing) continue;
      const slug = steady[turn % steady.length] ?? TURNING;
      const paths = [`/api/v1/status/${slug}`, '/api/v1/incidents', '/'];
      for (const path of paths)
        note(path, await get(node, path), ({ status, headers, body }) => {
          sightings.reads += 1;
          sightings.maxAge = Math.max(sightings.maxAge, Number(headers.get('age') ?? 0));
          return status === 200 && (path !== paths[0] || (body as Status).status === 'up');
        });
      note('heartbeat', await beat(node), (answer) => {
        if (answer.status === 200) sightings.kept += 1;
        const retryAfter = answer.headers.get('retry-after');
        if (answer.status !== 503 || retryAfter === null) return answer.status === 200;
        sightings.refused += 1;
        sightings.retryAfter.add(retryAfter);
        return true;
      });
    }
  }

  /** The first thing that is not right; null: everything is. `atMs`: since when all must have happened. */
  async function findWrong(atMs: number, turned: string): Promise<string | null> {
    for (const node of cluster.nodes.filter(({ state }) => state === 'running')) {
      const ready = await get(node, '/readyz');
      const degraded = ready instanceof Error ? [ready.message] : (ready.body as Ready).degraded;
      if (degraded.length > 0) return `${node.name} is degraded: ${degraded.join(', ')}`;
    }
    for (const node of serving()) {
      const taken = await beat(node);
      if (taken instanceof Error || taken.status !== 200) return `${node.name} takes no heartbeat`;
      const told = await get(node, `/api/v1/status/${TURNING}`);
      if (told instanceof Error || (told.body as Status).status !== turned)
        return `${node.name} does not tell that ${TURNING} is ${turned}`;
      const incidents = await get(node, '/api/v1/incidents');
      for (const answer of [told, incidents])
        if (answer instanceof Error || answer.status !== 200 || answer.headers.has('age'))
          return `${node.name} answers from a copy`;
    }
    const probing = cluster.nodes.filter(
      ({ roles, state }) => roles.includes('probe') && state === 'running',
    );
    const regions = new Set(probing.map(({ region }) => region));
    const metrics = await get(await monitor(), '/metrics');
    const figures = metrics instanceof Error ? '' : String(metrics.body);
    for (const region of regions)
      if (!figures.includes(`upbeat_shards{region="${region}",state="held"} ${SHARDS}\n`))
        return `not all shards of ${region} are held`;
    const recent = site.requests.filter((request) => request.atMs >= atMs);
    const checked = new Set(recent.map(({ path, node }) => `${node.region}${path}`));
    const missing = [...regions].flatMap((region) =>
      slugs.flatMap((slug) => (checked.has(`${region}/${slug}`) ? [] : [`${slug} from ${region}`])),
    );
    return missing.length === 0 ? null : `not checked: ${missing.join(', ')}`;
  }

  async function monitor(): Promise<ClusterNode> {
    for (const node of cluster.nodes.filter(({ state }) => state === 'running')) {
      const ready = await get(node, '/readyz');
      if (!(ready instanceof Error) && (ready.body as Ready).role === 'monitor') return node;
    }
    throw new Error('no node is the monitor');
  }

  let isFailing = false;
  async function untilRight(withinMs: number): Promise<Recovery> {
    const startedMs = performance.now();
    isFailing = !isFailing;
    if (isFailing) site.fail(`/${TURNING}`);
    else site.recover(`/${TURNING}`);
    const steps: string[] = [];
    for (let last: string | null = null; ; ) {
      const wrong: string | null = await findWrong(startedMs, isFailing ? 'down' : 'up').catch(
        ({ message }: Error) => message,
      );
      const tookMs = performance.now() - startedMs;
      if (wrong !== last && last !== null) steps.push(`${(tookMs / 1_000).toFixed(1)} s: ${last}`);
      last = wrong;
      if (wrong === null) return { tookMs, steps };
      if (tookMs > withinMs) throw new Error(`after ${Math.round(tookMs)} ms: ${wrong}`);
      await sleep(POLL_MS / 2);
    }
  }

  await untilRight(READY_MS);
  const following = cluster.nodes.map(follow);
  scope.teardown(async () => {
    isOver = true;
    await Promise.all(following);
  });
  return {
    ...{ cluster, site, key, monitor, untilRight },
    async watch(work) {
      sightings = noSightings();
      const before = site.requests.length;
      await work();
      const { retryAfter, degraded, ...figures } = sightings;
      return {
        ...figures,
        retryAfter: [...retryAfter].sort(),
        degraded: [...degraded].sort(),
        checks: site.requests.length - before,
      };
    },
  };
}

interface Ready {
  readonly role: string;
  readonly degraded: readonly string[];
}

function noSightings() {
  return {
    ...{ reads: 0, maxAge: 0, kept: 0, refused: 0, wrong: [] as string[] },
    ...{ retryAfter: new Set<string>(), degraded: new Set<string>() },
  };
}

/** The response to a request; an error: there was none in time. */
async function ask(url: string, init: RequestInit): Promise<Answer | Error> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body: unknown = isJson ? await response.json() : await response.text();
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
