/** `upbeat nodes`: lists the live nodes of the cluster, or the process itself if it is not part of a cluster. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { systemClock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { formatTimeOrNull, readTime } from '../domain/durations.ts';
import { describeClockOffset, type NodeRole, type NodeState, nodeNameOf } from '../domain/node.ts';
import { printable } from '../domain/printable-text.ts';
import { describeRedis, readRedisAddress } from '../domain/store-address.ts';
import { messageOf } from '../error.ts';
import { silentLog } from '../log.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { localOrigin } from './local-origin.ts';
import { readConfig } from './open-stores.ts';
import { type OutputRow, printJson, printNote, printRows, whileWaiting } from './output.ts';

/** A node as the command shows it. Null: not known. Times are epoch milliseconds. */
interface ShownNode {
  readonly name: string;
  readonly region: string;
  readonly roles: readonly NodeRole[];
  readonly version: string | null;
  readonly host: string;
  readonly pid: number | null;
  readonly since: number | null;
  readonly lastSeen: number | null;
  readonly services: number | null;
  readonly checksPerSecond: number | null;
  readonly online: boolean | null;
  readonly offlineSince: number | null;
  readonly reachesRegistry: boolean | null;
  readonly checksProblem?: string | null;
  readonly clockOffsetMs: number | null;
}

const REDIS_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 3_000;
const HTTP_TIMEOUT_MS = 3_000;
const POLL_MS = 20;

const COLUMNS = 'name region roles version since seen services checks/s connection clock'.split(' ');

/** Prints the nodes. Ends with status 1 if Redis does not respond. */
export async function listNodes({ config: file, json = false }: CommonOptions): Promise<void> {
  const config = readConfig(file);
  const { url } = config.storage.redis;
  const clustered = isClustered(config) && url !== null;
  const { nodes, now } = await whileWaiting('asking for the nodes', () =>
    clustered ? readCluster(url) : readThisProcess(config),
  );
  if (!clustered)
    printNote(
      'not clustered: storage.postgres.url and storage.redis.url are not both set, so that one process does everything',
    );
  if (json) printJson(nodes.map(viewNode));
  else
    printRows(
      nodes.map((node) => rowOf(node, now)),
      false,
      'No node is alive.',
      { columns: COLUMNS, style: colourOf, paragraphOf },
    );
  for (const { name, clockOffsetMs, reachesRegistry, checksProblem } of nodes) {
    const problem = describeClockOffset(clockOffsetMs ?? 0);
    if (problem !== null) printNote(`warning: the clock of ${name} is ${problem}; synchronize it by NTP`);
    if (reachesRegistry === false)
      printNote(`warning: ${name} does not reach PostgreSQL; it learns of no changes until it does`);
    if (checksProblem) printNote(`warning: ${name} makes no checks: ${printable(checksProblem)}`);
  }
}

/** The nodes in Redis. */
export interface ClusterView {
  readonly nodes: readonly NodeState[];
  /** Redis' time, epoch milliseconds. */
  readonly now: number;
  /** The clock of this machine minus Redis' clock, milliseconds, with an error of at most half of a round trip. */
  readonly clockOffsetMs: number;
}

/** Reads the nodes from the Redis at `url`. Rejects with {@link CommandError} if it does not respond. */
export async function readCluster(url: string): Promise<ClusterView> {
  const address = readRedisAddress(url);
  if (address === null) throw new CommandError('storage.redis.url has no known form');
  const { readNodes } = await import('../cluster/nodes.ts');
  const { openRedisConnection } = await import('../store/status/redis-connection.ts');
  const connection = openRedisConnection({
    address,
    purpose: 'command',
    timeoutMs: REDIS_TIMEOUT_MS,
    prepare: (client) => readNodes(client, address.prefix),
    probe: async () => {},
    clock: systemClock,
    log: silentLog,
  });
  try {
    const until = systemClock.monotonic() + CONNECT_TIMEOUT_MS;
    while (!connection.ready && systemClock.monotonic() < until) await sleep(POLL_MS);
    const sentMs = systemClock.monotonic();
    const { nodes, redisAt } = await connection.run((client) => readNodes(client, address.prefix));
    const half = (systemClock.monotonic() - sentMs) / 2;
    return { nodes, now: redisAt, clockOffsetMs: Math.round(systemClock.now() - half - redisAt) };
  } catch (error) {
    throw new CommandError(`Redis at ${describeRedis(address)}: ${messageOf(error)}`);
  } finally {
    connection.close();
  }
}

/** Queries the running process over HTTP. If it does not respond, returns the properties from the configuration. */
async function readThisProcess(config: Config): Promise<{ nodes: readonly ShownNode[]; now: number }> {
  const { name, region, roles } = config.node;
  const now = systemClock.now();
  const configured: ShownNode = {
    name: name ?? nodeNameOf(hostname()),
    ...{ region, roles, host: hostname() },
    ...{ version: null, pid: null, since: null, lastSeen: null, services: null, checksPerSecond: null },
    ...{ online: null, offlineSince: null, reachesRegistry: null, clockOffsetMs: null },
  };
  const origin = localOrigin(config.http);
  try {
    const [ready, metrics] = await Promise.all(
      ['/readyz', '/metrics'].map(async (path) => {
        const response = await fetch(origin + path, { signal: AbortSignal.timeout(HTTP_TIMEOUT_MS) });
        return await response.text();
      }),
    );
    return { nodes: [{ ...configured, ...readRunning(ready ?? '', metrics ?? '', now) }], now };
  } catch {
    printNote(`Upbeat is not running, or does not respond at ${origin}`);
    return { nodes: [configured], now };
  }
}

/** Parses the responses of a running process. Throws if they are not those of Upbeat. */
function readRunning(ready: string, metrics: string, now: number): Partial<ShownNode> {
  const { node, prober, parts } = JSON.parse(ready) as {
    readonly node: string;
    readonly parts: { readonly checks?: { readonly problem: string | null } };
    readonly prober: { readonly online: boolean; readonly offline_since: string | null };
  };
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  const since = Math.round(figure('upbeat_process_start_time_seconds') * 1_000);
  const rate = figure('upbeat_checks_total') / Math.max(1, (now - since) / 1_000);
  return {
    name: node,
    version: /^upbeat_site_info\{.*\bversion="([^"]*)"/m.exec(metrics)?.[1] ?? null,
    ...{ since, lastSeen: now, clockOffsetMs: 0 },
    services: figure('upbeat_services_probed'),
    checksPerSecond: Math.round(rate * 100) / 100,
    online: prober.online,
    offlineSince: prober.offline_since === null ? null : readTime(prober.offline_since),
    checksProblem: figure('upbeat_checks_stopped_seconds') > 0 ? (parts.checks?.problem ?? null) : null,
  };
}

function viewNode(node: ShownNode): object {
  const { name, region, roles, version, host, pid } = node;
  const { since, lastSeen, services, checksPerSecond, online, offlineSince, clockOffsetMs } = node;
  return {
    ...{ name, region, roles, version, host, pid },
    since: formatTimeOrNull(since),
    last_seen: formatTimeOrNull(lastSeen),
    services,
    checks_per_second: checksPerSecond,
    online,
    offline_since: formatTimeOrNull(offlineSince),
    clock_offset_ms: clockOffsetMs,
  };
}

function rowOf(node: ShownNode, now: number): OutputRow {
  const { name, region, roles, version, since, lastSeen, services, checksPerSecond } = node;
  return {
    ...{ name, region, version, services },
    roles: roles.join(','),
    since: since === null ? null : formatSecond(since).slice(0, -1).replace('T', ' '),
    seen: lastSeen === null ? null : `${(Math.max(0, now - lastSeen) / 1_000).toFixed(1)} s ago`,
    'checks/s': checksPerSecond,
    connection: connectionOf(node),
    clock: clockOf(node),
  };
}

function connectionOf({ online, offlineSince }: ShownNode): string | null {
  if (online !== false) return online === null ? null : 'online';
  return offlineSince === null ? 'offline' : `offline since ${formatSecond(offlineSince)}`;
}

/** A time without fractions of a second. */
function formatSecond(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The offset of a node's clock, as `+90.0 s`; `ok`: it agrees with Redis' clock. */
function clockOf({ clockOffsetMs }: ShownNode): string | null {
  if (clockOffsetMs === null) return null;
  if (describeClockOffset(clockOffsetMs) === null) return 'ok';
  return `${clockOffsetMs > 0 ? '+' : ''}${(clockOffsetMs / 1_000).toFixed(1)} s`;
}

/** A node on three short lines, for narrow terminals. What is not known is left out. */
function paragraphOf(row: OutputRow): string {
  const line = (...parts: readonly (readonly [column: string, before: string, after: string])[]) =>
    parts
      .flatMap(([column, before, after]) => {
        const text = row[column] ?? null;
        return text === null ? [] : [before + colourOf(column, printable(String(text))) + after];
      })
      .join(', ');
  const lines = [
    line(['version', '', ''], ['since', 'since ', ''], ['seen', 'seen ', '']),
    line(
      ...([
        ['services', '', ' services'],
        ['checks/s', '', ' checks/s'],
      ] as const),
      ...([
        ['connection', '', ''],
        ['clock', 'clock ', ''],
      ] as const),
    ),
  ];
  const head = `${row.name} (${row.region}): ${row.roles}`;
  return [printable(head), ...lines.filter((text) => text !== '').map((text) => `  ${text}`)].join('\n');
}

/** Green and red on a terminal with colours, unless NO_COLOR is set. */
function colourOf(column: string, text: string): string {
  if ((column !== 'connection' && column !== 'clock') || text.trim() === '-') return text;
  const isGood = /^(?:online|ok) *$/.test(text);
  return styleText(isGood ? 'green' : 'red', text, { stream: process.stdout });
}
