/** A cluster whose nodes are in places of their own, with services in two halves, and what its registry says of them. */
import pg from 'pg';
import { type Cluster, type ClusterNode, createCluster, type NodeOptions } from './cluster.ts';
import { type CountedSite, startCountedSite } from './counted-site.ts';
import { at } from './json.ts';
import { type FarEnd, openPlaces, type Place, type Places } from './places.ts';
import { mergeSettings } from './program.ts';
import type { Scope } from './run-servers.ts';

/** Options of the cluster. Durations are milliseconds. */
export interface CutClusterOptions {
  /** The first one is the first monitor. */
  readonly nodes: readonly Pick<NodeOptions, 'name' | 'region' | 'roles' | 'settings'>[];
  /** Services of each half: `west1`, `west2`, ..., `east1`, ... */
  readonly services: number;
  readonly intervalMs: number;
  /** Settings of all nodes, over those of the places. */
  readonly checks?: object;
}

/** A change that the registry has, in the order of its position. */
export interface StoredTransition {
  readonly slug: string;
  /** `up to down`; with a change of scope alone, `scope partial` or `scope null`. */
  readonly change: string;
  /** Epoch milliseconds. */
  readonly recordedAt: number;
}

/** The cluster at work. */
export interface CutCluster {
  readonly cluster: Cluster;
  readonly places: Places;
  readonly sites: Readonly<Record<'west' | 'east', CountedSite>>;
  /** Slugs of the services of a half. */
  readonly slugs: Readonly<Record<'west' | 'east', readonly string[]>>;
  /** The node of a name. */
  node(name: string): ClusterNode;
  /** Cuts the places of all nodes of a region, or of one node, off from the ends. */
  cut(name: string, ...ends: readonly FarEnd[]): void;
  /** Mends all cuts of all places. */
  restore(): void;
  /** The places of a region, or of one node. */
  placesOf(name: string): readonly Place[];
  /**
   * Waits until each status at a node is as wanted; `accept` gets the body of `GET /api/v1/status/:slug`. Resolves with
   * the milliseconds that it took.
   */
  until(
    node: ClusterNode,
    slugs: readonly string[],
    accept: (body: unknown) => boolean,
    withinMs?: number,
  ): Promise<number>;
  transitions(): Promise<readonly StoredTransition[]>;
}

/** Names of the regions in which a service is down, joined by a space. */
export function failingIn(body: unknown): string {
  return regionsOf(body)
    .filter((one) => at(one, 'status') === 'down')
    .map((one) => at(one, 'region'))
    .join(' ');
}

/** The regions of a status; none before several regions have checked. */
function regionsOf(body: unknown): readonly unknown[] {
  const regions = at(body, 'regions');
  return Array.isArray(regions) ? regions : [];
}

/** Whether the newest check of each of `regions` is good, and began after `sinceAt`, epoch milliseconds. */
export function isGoodSince(sinceAt: number, regions: readonly string[], body: unknown): boolean {
  const good = regionsOf(body).filter(
    (one) => at(one, 'status') === 'up' && Date.parse(String(at(one, 'checked_at'))) >= sinceAt,
  );
  return regions.every((region) => good.some((one) => at(one, 'region') === region));
}

/** Starts the first node, then the others at once. Everything ends with `scope`. */
export async function startCutCluster(scope: Scope, options: CutClusterOptions): Promise<CutCluster> {
  const [control, west, east] = await Promise.all([
    startCountedSite(scope),
    startCountedSite(scope),
    startCountedSite(scope),
  ]);
  let cluster: Cluster | null = null;
  const places = await openPlaces(scope, {
    sites: { control: control.server, west: west.server, east: east.server },
    senderOf: (request) => cluster?.senderOf(request)?.name,
  });
  const slugsOf = (half: string) =>
    Array.from({ length: options.services }, (_, index) => `${half}${index + 1}`);
  const slugs = { west: slugsOf('west'), east: slugsOf('east') };
  const entriesOf = (half: 'west' | 'east') =>
    slugs[half].map((slug) => ({ slug, check: { url: `${places.siteUrl(half)}/${slug}`, method: 'GET' } }));
  const started = await createCluster(scope, {
    entries: [...entriesOf('west'), ...entriesOf('east')],
    storage: {},
    settings: { checks: { ...places.checks, interval: `${options.intervalMs}ms`, ...options.checks } },
  });
  cluster = started;
  west.attribute(started);
  east.attribute(started);
  const placeOf = new Map<string, { readonly region: string; readonly place: Place }>();
  const installed: ClusterNode[] = [];
  for (const node of options.nodes) {
    const place = await places.add(node.name);
    placeOf.set(node.name, { region: node.region, place });
    const settings = mergeSettings(place.node.settings ?? {}, node.settings ?? {});
    installed.push(await started.install({ ...node, ...place.node, settings }));
  }
  await installed[0]?.start();
  await Promise.all(installed.slice(1).map((node) => node.start()));
  const reader = new pg.Client({ connectionString: places.postgresUrl });
  await reader.connect();
  scope.teardown(() => reader.end());
  const placesOf = (name: string) =>
    [...placeOf].flatMap(([own, { region, place }]) => (own === name || region === name ? [place] : []));

  return {
    cluster: started,
    places,
    sites: { west, east },
    slugs,
    node(name) {
      const found = started.nodes.find((one) => one.name === name);
      if (found === undefined) throw new Error(`there is no node ${name}`);
      return found;
    },
    placesOf,
    cut(name, ...ends) {
      for (const place of placesOf(name)) place.cut(...ends);
    },
    restore() {
      for (const { place } of placeOf.values()) place.restore();
    },
    async until({ program }, wanted, accept, withinMs) {
      const beganMs = performance.now();
      for (const slug of wanted) await program.until(`/api/v1/status/${slug}`, accept, withinMs);
      return Math.round(performance.now() - beganMs);
    },
    async transitions() {
      const { rows } = await reader.query<{
        slug: string;
        from: string;
        to: string;
        scope: string;
        at: string;
      }>(
        `SELECT slug, from_status AS "from", to_status AS "to", transitions.scope::text AS scope, recorded_at AS at
         FROM transitions JOIN services ON services.id = service_id ORDER BY position`,
      );
      return rows.map(({ slug, from, to, scope: text, at: recordedAt }) => ({
        slug,
        change: from === to ? `scope ${at(JSON.parse(text), 'to')}` : `${from} to ${to}`,
        recordedAt: Number(recordedAt),
      }));
    },
  };
}
