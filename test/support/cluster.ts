/**
 * Clusters of real processes for tests and trials: nodes that share one PostgreSQL and one Redis (and one InfluxDB), are
 * killed, suspended, stopped and started again, each with a folder and a port of its own.
 */
import type { IncomingMessage } from 'node:http';
import type { NodeRole } from '../../src/domain/node.ts';
import type { NetworkNamespace } from './network-namespaces.ts';
import {
  type CatalogueEntry,
  type Installation,
  install,
  mergeSettings,
  type RunningProgram,
} from './program.ts';
import { createRegistry, type Scope, useInflux, usePostgres, useRedis } from './run-servers.ts';

/** What all nodes of a cluster have in common. */
export interface ClusterOptions {
  /** The catalogue. Every node has the same file. */
  readonly entries: readonly CatalogueEntry[];
  /** Settings of all nodes, over those of `install`. */
  readonly settings?: object;
  /**
   * `storage` of all nodes, for servers that a test stops or places elsewhere. Default: a new database and a new key
   * prefix on the servers of the run.
   */
  readonly storage?: object;
  /** Maximum time of a start, milliseconds. Default: a minute. */
  readonly readyWithinMs?: number;
  /** Adds a new database of the run's InfluxDB 1.6 to `storage`. Default: false. */
  readonly influx?: boolean;
}

/** One node. */
export interface NodeOptions {
  /** Unique in the cluster. */
  readonly name: string;
  readonly region: string;
  /** Default: all. */
  readonly roles?: readonly NodeRole[];
  /** Settings of this node, over those of the cluster. */
  readonly settings?: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Namespace in which the node runs. A cut of its links does not disturb the requests of the test. */
  readonly place?: Pick<NetworkNamespace, 'enter' | 'expose'>;
}

/** `new`: never started; `ended`: killed or stopped. */
export type ClusterNodeState = 'new' | 'running' | 'paused' | 'ended';

/** A node: its installation, and its process while there is one. */
export interface ClusterNode extends Required<Pick<NodeOptions, 'name' | 'region' | 'roles'>> {
  readonly installation: Installation;
  /** Base of its URLs: `http://127.0.0.1:PORT`. The User-Agent of its checks contains it. */
  readonly siteUrl: string;
  readonly state: ClusterNodeState;
  /** The newest process of the node. Throws before the first start. */
  readonly program: RunningProgram;
  /** Starts a process, and resolves when it is ready. Not while one runs. */
  start(): Promise<void>;
  /** Ends parent and child by SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Suspends parent and child by SIGSTOP. */
  pause(): void;
  /** Continues them by SIGCONT. */
  wake(): void;
  /** Stops the process by SIGTERM, and waits for the end; returns the exit status. Not while it is paused. */
  stop(): Promise<number | null>;
}

/** The nodes of a cluster. */
export interface Cluster {
  /** `storage` of the nodes. */
  readonly storage: object;
  /** URL of the database; null: `storage` was given. */
  readonly postgresUrl: string | null;
  /** InfluxDB of the nodes; null: they have none, or `storage` was given. */
  readonly influx: { readonly url: string; readonly bucket: string } | null;
  /** The nodes in the order in which they were added, those that have ended included. */
  readonly nodes: readonly ClusterNode[];
  /** Makes a node with an installation of its own. It is ended and removed after the test. */
  install(options: NodeOptions): Promise<ClusterNode>;
  /** Makes a node and starts it. */
  start(options: NodeOptions): Promise<ClusterNode>;
  /** The node that has sent a request to a target, by the User-Agent; undefined: no node has. */
  senderOf(request: Pick<IncomingMessage, 'headers'>): ClusterNode | undefined;
}

/** `secrets.key` of every node. */
export const SECRET_KEY = 'ab'.repeat(32);
const ALL_ROLES: readonly NodeRole[] = ['judge', 'probe', 'serve'];

/** Creates a cluster without nodes. What it starts is ended with `scope`. */
export async function createCluster(scope: Scope, options: ClusterOptions): Promise<Cluster> {
  const { entries, settings = {} } = options;
  const { storage, postgresUrl, influx } = await openStorage(scope, options);
  const nodes: ClusterNode[] = [];
  const bySite = new Map<string, ClusterNode>();

  async function installNode(node: NodeOptions): Promise<ClusterNode> {
    const { name, region, roles = ALL_ROLES, environment = {}, place } = node;
    const common = { storage, secrets: { key: SECRET_KEY }, node: { name, region, roles } };
    const installation = await install(
      entries,
      [settings, node.settings ?? {}].reduce(mergeSettings, common),
      environment,
      place?.enter,
    );
    scope.teardown(() => installation.remove());
    const port = Number(new URL(installation.siteUrl).port);
    await place?.expose(port, port);
    const created = createNode({ name, region, roles }, installation, options.readyWithinMs);
    scope.teardown(() => created.kill());
    nodes.push(created);
    bySite.set(created.siteUrl, created);
    return created;
  }

  return {
    storage,
    postgresUrl,
    influx,
    nodes,
    install: installNode,
    async start(node) {
      const created = await installNode(node);
      await created.start();
      return created;
    },
    senderOf({ headers }) {
      const [, site = ''] = /\(\+(.*)\)/.exec(headers['user-agent'] ?? '') ?? [];
      return bySite.get(site);
    },
  };
}

async function openStorage(
  scope: Scope,
  { storage, influx = false }: ClusterOptions,
): Promise<Pick<Cluster, 'storage' | 'postgresUrl' | 'influx'>> {
  if (storage !== undefined) return { storage, postgresUrl: null, influx: null };
  const [postgres, redis] = await Promise.all([usePostgres(scope), useRedis(scope)]);
  await createRegistry(postgres, redis.prefix);
  const postgresUrl = postgres.url(redis.prefix);
  const both = { postgres: { url: postgresUrl }, redis: { url: `${redis.url}?prefix=${redis.prefix}` } };
  if (!influx) return { storage: both, postgresUrl, influx: null };
  const { url, database } = await useInflux(scope);
  const points = { url, bucket: database };
  return { storage: { ...both, influx: { ...points, api: 'v1' } }, postgresUrl, influx: points };
}

function createNode(
  identity: Pick<ClusterNode, 'name' | 'region' | 'roles'>,
  installation: Installation,
  readyWithinMs: number | undefined,
): ClusterNode {
  let program: RunningProgram | null = null;
  let state: ClusterNodeState = 'new';
  const running = (): RunningProgram => {
    if (program === null) throw new Error(`${identity.name} was never started`);
    return program;
  };
  const signal = (name: NodeJS.Signals) => void process.kill(-(running().process.pid ?? 0), name);
  return {
    ...identity,
    installation,
    siteUrl: installation.siteUrl,
    get state() {
      return state;
    },
    get program() {
      return running();
    },
    async start() {
      program = await installation.start(undefined, readyWithinMs);
      state = 'running';
    },
    async kill() {
      state = 'ended';
      await program?.killHard();
    },
    pause() {
      signal('SIGSTOP');
      state = 'paused';
    },
    wake() {
      signal('SIGCONT');
      state = 'running';
    },
    async stop() {
      const status = await running().stop();
      state = 'ended';
      return status;
    },
  };
}
