/** A site for the services of a cluster: it records which node has requested which path when, and fails as told. */
import { createServer, type Server } from 'node:http';
import type { Cluster, ClusterNode } from './cluster.ts';
import { listenOn } from './loopback.ts';
import type { Scope } from './run-servers.ts';

/** A request that a node has made. */
export interface CountedRequest {
  readonly path: string;
  readonly node: ClusterNode;
  /** Time of arrival, monotonic milliseconds. */
  readonly atMs: number;
  readonly failed: boolean;
}

/** The site. */
export interface CountedSite {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The server, to be served in a namespace too. */
  readonly server: Server;
  /** Requests by nodes, in the order of their arrival; those of {@link CONTROL_PATH} are left out. */
  readonly requests: readonly CountedRequest[];
  /** Attributes requests to the nodes of a cluster. Earlier ones, and those of other programs, are not recorded. */
  attribute(cluster: Pick<Cluster, 'senderOf'>): void;
  /** Answers a path with 503 from now on; with `from`, to these regions or nodes alone. Replaces what was told of the path before. */
  fail(path: string, from?: readonly string[]): void;
  /** Answers a path with 200 from now on. */
  recover(path: string): void;
}

/** Options of a site. */
export interface CountedSiteOptions {
  /** Time before each response, milliseconds. Default: 0. */
  readonly delayMs?: number;
}

/** Path for `checks.controlTargets`. It never fails. */
export const CONTROL_PATH = '/control';

/** Starts a site on loopback; it is closed after the test. */
export async function startCountedSite(
  scope: Scope,
  { delayMs = 0 }: CountedSiteOptions = {},
): Promise<CountedSite> {
  const requests: CountedRequest[] = [];
  /** Paths that fail; null: everywhere. */
  const failing = new Map<string, ReadonlySet<string> | null>();
  let cluster: Pick<Cluster, 'senderOf'> | null = null;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const node = cluster?.senderOf(request);
    const from = failing.get(path);
    const failed =
      from === null || (node !== undefined && [node.region, node.name].some((one) => from?.has(one)));
    if (path !== CONTROL_PATH && node !== undefined)
      requests.push({ path, node, atMs: performance.now(), failed });
    const answer = () => void response.writeHead(failed ? 503 : 200).end();
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs);
  });
  const { port, close } = await listenOn(server);
  scope.teardown(close);
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    requests,
    attribute(next) {
      cluster = next;
    },
    fail(path, from) {
      failing.set(path, from === undefined ? null : new Set(from));
    },
    recover(path) {
      failing.delete(path);
    },
  };
}
