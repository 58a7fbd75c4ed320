/**
 * Places for the nodes of a cluster, whose ways to PostgreSQL, Redis and the checked sites can be cut one by one. Each
 * place, each server and each site has a network namespace of its own. Where these are not allowed, the nodes are plain
 * processes: proxies before the servers fall silent instead, and the sites do not answer.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { NodeOptions } from './cluster.ts';
import { listenOn } from './loopback.ts';
import { type NetworkNamespace, openNetwork, withNamespaces } from './network-namespaces.ts';
import { createRegistry, type Scope, usePostgres, useRedis } from './run-servers.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** What a place can be cut off from: the servers, and the sites with control targets and services. */
export const FAR_ENDS = ['postgres', 'redis', 'control', 'west', 'east'] as const;
/** One of {@link FAR_ENDS}. */
export type FarEnd = (typeof FAR_ENDS)[number];
/** A site: `control` for control targets, `west` and `east` for one half of the services each. */
export type SiteName = Exclude<FarEnd, 'postgres' | 'redis'>;

/** All sites: what a place without internet does not reach. */
export const INTERNET: readonly SiteName[] = ['control', 'west', 'east'];

/** The place of one node. */
export interface Place {
  /** Name of the node. */
  readonly name: string;
  /** For `install` of a cluster: the name, the namespace, and the addresses of the servers as the place reaches them. */
  readonly node: Pick<NodeOptions, 'name' | 'place' | 'settings'>;
  /** The ways to the servers, to make them slow. */
  readonly roads: Readonly<Record<'postgres' | 'redis', TcpProxy>>;
  /** Cuts the ways to some ends; packets vanish without an error. */
  cut(...ends: readonly FarEnd[]): void;
  /** Mends all cuts. */
  restore(): void;
}

/** The places of a cluster. */
export interface Places {
  /** False: network namespaces are not allowed, and the nodes are plain processes. */
  readonly areNamespaces: boolean;
  /** Checks that the places need, for the settings of the cluster. */
  readonly checks: object;
  /** URL of the database, for a look past the cluster. */
  readonly postgresUrl: string;
  /** Base of the URLs of a site, without a slash at the end. */
  siteUrl(site: SiteName): string;
  /** Adds a place. */
  add(name: string): Promise<Place>;
}

/** Options of places. */
export interface PlacesOptions {
  /** Servers that answer as the sites. */
  readonly sites: Readonly<Record<SiteName, Server>>;
  /** Name of the node that has sent a request; undefined: another program. */
  readonly senderOf: (request: IncomingMessage) => string | undefined;
}

const FIRST_PORT = 20_000;

/** Opens places on a new database and a new key prefix of the run's servers. Everything ends with `scope`. */
export async function openPlaces(scope: Scope, { sites, senderOf }: PlacesOptions): Promise<Places> {
  const [postgres, redis] = await Promise.all([usePostgres(scope), useRedis(scope)]);
  await createRegistry(postgres, redis.prefix);
  const postgresUrl = postgres.url(redis.prefix);
  const areNamespaces = withNamespaces.skip === undefined;
  if (!areNamespaces)
    console.warn(`NETWORK NAMESPACES ARE NOT ALLOWED, cuts are made by proxies (${withNamespaces.skip})`);

  const network = areNamespaces ? await openNetwork(teardownOf(scope)) : null;
  const spaces = new Map<FarEnd, NetworkNamespace>();
  const siteUrls = new Map<SiteName, string>();
  /** Without namespaces: the sites that do not answer, by name of a node. */
  const mute = new Map<string, ReadonlySet<FarEnd>>();
  if (network !== null) for (const end of FAR_ENDS) spaces.set(end, await network.add());
  for (const site of INTERNET) siteUrls.set(site, await openSite(site));

  async function openSite(site: SiteName): Promise<string> {
    const space = spaces.get(site);
    if (space !== undefined) {
      await space.serve(sites[site], 80);
      return `http://${space.address}`;
    }
    const front = createServer((request, response) => {
      if (mute.get(senderOf(request) ?? '')?.has(site) !== true)
        sites[site].emit('request', request, response);
    });
    const { port, close } = await listenOn(front);
    scope.teardown(close);
    return `http://127.0.0.1:${port}`;
  }

  let count = 0;
  /** Opens the way from one place to a server; returns it with the server's host and port as the place sees them. */
  async function openRoad(end: 'postgres' | 'redis', url: string) {
    const road = await startTcpProxy(scope, url.replace(/^\w+:/, 'http:'));
    const space = spaces.get(end);
    if (space === undefined) return { road, host: new URL(road.url).host };
    const port = FIRST_PORT + count;
    await space.serve(road.server, port);
    return { road, host: `${space.address}:${port}` };
  }

  return {
    areNamespaces,
    postgresUrl,
    checks: {
      allowPrivate: ['127.0.0.0/8', '10.77.0.0/16'],
      controlTargets: [`${siteUrls.get('control')}/control`],
    },
    siteUrl: (site) => siteUrls.get(site) ?? '',
    async add(name) {
      count += 1;
      const toPostgres = await openRoad('postgres', postgresUrl);
      const toRedis = await openRoad('redis', redis.url);
      const own = await network?.add();
      const storage = {
        postgres: { url: postgresUrl.replace(/@[^/]+/, `@${toPostgres.host}`) },
        redis: { url: `redis://${toRedis.host}?prefix=${redis.prefix}` },
      };
      const roads = { postgres: toPostgres.road, redis: toRedis.road };
      return {
        name,
        node: { name, settings: { storage }, ...(own === undefined ? {} : { place: own }) },
        roads,
        cut(...ends) {
          for (const end of ends) {
            const space = spaces.get(end);
            if (space !== undefined) own?.cut(space);
            else if (end === 'postgres' || end === 'redis') roads[end].silent = true;
            else mute.set(name, new Set([...(mute.get(name) ?? []), end]));
          }
        },
        restore() {
          own?.restore();
          mute.delete(name);
          for (const road of Object.values(roads)) road.silent = false;
        },
      };
    },
  };
}

function teardownOf(scope: Scope): { teardown(end: () => unknown): unknown } {
  return { teardown: (end) => scope.teardown(end) };
}
