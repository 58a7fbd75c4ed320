/**
 * Networks for tests: network namespaces joined by veth pairs to a router in a namespace of its own, with links that
 * can be cut. Needs root and iproute2. Nothing has a name in the system: the namespaces, with all that is in them, end
 * with the processes that live there, and those end with the test, after SIGKILL too.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { AgentAnswer, AgentRequest } from './namespace-agent.ts';

/** A machine of its own on the network. */
export interface NetworkNamespace {
  /** Its IPv4 address, `10.77.N.2`. */
  readonly address: string;
  /** Its IPv6 address, `fd77:0:0:N::2`. */
  readonly address6: string;
  /** What starts a program inside, before the program's own words. */
  readonly enter: readonly string[];
  /** Starts a program inside; it is killed at the end of the test. */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  /**
   * Lets a server of this process (HTTP, HTTPS or TCP) answer at a port of the namespace, on all its addresses, until
   * the returned function is called; from then on connections are refused.
   */
  serve(server: Server, port: number): Promise<() => void>;
  /**
   * Makes a port of the namespace's loopback reachable from here, at `nearPort` (default: a free one); returns
   * `http://127.0.0.1:nearPort`. A cut does not disturb it.
   */
  expose(port: number, nearPort?: number): Promise<string>;
  /**
   * Cuts its link: packets from it and to it vanish without a word, those of open connections too. `from`: only those
   * between it and another namespace.
   */
  cut(from?: Pick<NetworkNamespace, 'address'>): void;
  /** Mends the link, and all cuts of it. */
  restore(): void;
}

/** A router with the namespaces that hang on it. */
export interface Network {
  /** Makes a namespace. Its only way out is the router, which knows this network and nothing else. */
  add(): Promise<NetworkNamespace>;
}

/** Addresses at which nothing answers, and no error comes back either. */
export const SILENT_ADDRESS = '10.77.255.1';
/** The same of IPv6. */
export const SILENT_ADDRESS_6 = 'fd77:0:0:ffff::1';

/** Options of a test that needs {@link openNetwork}: skipped, with the reason, where the system does not allow it. */
export const withNamespaces: { readonly skip?: string } = findObstacle();

const AGENT = join(import.meta.dirname, 'namespace-agent.ts');
const MAX_NAMESPACES = 200;
/** Preference of the rules between two namespaces: after those of whole links, before the routes. */
const PAIR_PREFERENCE = 1_000;
/** IPv6 addresses are of use at once, without a second of duplicate address detection. */
const NO_DAD = 'for each in all default; do echo 0 > /proc/sys/net/ipv6/conf/$each/accept_dad; done';

/** Makes a network without namespaces, which ends with the test. Throws with the system's own words where it cannot. */
export async function openNetwork(t: { teardown(end: () => unknown): unknown }): Promise<Network> {
  const agents: Agent[] = [];
  const programs = new Set<ChildProcess>();
  const listeners = new Set<Server>();
  t.teardown(async () => {
    for (const listener of listeners) listener.close();
    await Promise.all([...programs].map(endProcess));
    await Promise.all(agents.map((agent) => agent.end()));
  });
  const router = await startAgent();
  agents.push(router);
  router.run('echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding');
  router.run(NO_DAD);
  router.ip('link set lo up', 'route add blackhole 10.77.255.0/24', 'route add blackhole fd77:0:0:ffff::/64');
  let count = 0;

  return {
    async add() {
      const n = ++count;
      if (n > MAX_NAMESPACES) throw new RangeError(`a network has at most ${MAX_NAMESPACES} namespaces`);
      const agent = await startAgent();
      agents.push(agent);
      agent.run(NO_DAD);
      router.ip(
        `link add port${n} type veth peer name eth0 netns ${agent.pid}`,
        `address add 10.77.${n}.1/24 dev port${n}`,
        `address add fd77:0:0:${n}::1/64 dev port${n} nodad`,
        `link set port${n} up`,
      );
      agent.ip(
        'link set lo up',
        `address add 10.77.${n}.2/24 dev eth0`,
        `address add fd77:0:0:${n}::2/64 dev eth0 nodad`,
        'link set eth0 up',
        `route add default via 10.77.${n}.1`,
        `route add default via fd77:0:0:${n}::1`,
      );
      const enter = ['nsenter', '--target', String(agent.pid), '--net', '--'];
      const setRules = (verb: 'add' | 'delete') => {
        for (const [family, own] of networksOf(n)) {
          // They come before the routes. What the router itself sends is not forwarded, and passes.
          router.run(
            `ip ${family} rule ${verb} to ${own} iif lo lookup main pref ${n * 3}
             ip ${family} rule ${verb} to ${own} blackhole pref ${n * 3 + 1}
             ip ${family} rule ${verb} iif port${n} blackhole pref ${n * 3 + 2}`,
          );
        }
      };
      /** Cuts the way to another namespace and back, or mends it. */
      const setPairRules = (verb: 'add' | 'delete', other: number) => {
        const theirs = networksOf(other);
        for (const [index, [family, own]] of networksOf(n).entries())
          router.run(
            `ip ${family} rule ${verb} to ${theirs[index]?.[1]} iif port${n} blackhole pref ${PAIR_PREFERENCE}
             ip ${family} rule ${verb} to ${own} iif port${other} blackhole pref ${PAIR_PREFERENCE}`,
          );
      };
      let isCut = false;
      const cutFrom = new Set<number>();
      return {
        address: `10.77.${n}.2`,
        address6: `fd77:0:0:${n}::2`,
        enter,
        spawn(command, args, options = {}) {
          const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...enter, command, ...args], options);
          programs.add(child);
          child.once('exit', () => programs.delete(child));
          return child;
        },
        async serve(server, port) {
          const listener = (await agent.ask({ type: 'listen', port })) as Server;
          listener.on('connection', (socket: Socket) => void server.emit('connection', socket));
          listeners.add(listener);
          return () => {
            if (listeners.delete(listener)) listener.close();
          };
        },
        async expose(port, nearPort = 0) {
          const listener = createServer({ pauseOnConnect: true }).listen(nearPort, '127.0.0.1');
          await once(listener, 'listening');
          const { port: near } = listener.address() as AddressInfo;
          await agent.ask({ type: 'expose', host: '127.0.0.1', port }, listener);
          listener.close();
          return `http://127.0.0.1:${near}`;
        },
        cut(from) {
          if (from !== undefined) {
            const other = Number(from.address.split('.')[2]);
            if (!cutFrom.has(other)) setPairRules('add', other);
            cutFrom.add(other);
            return;
          }
          if (!isCut) setRules('add');
          isCut = true;
        },
        restore() {
          if (isCut) setRules('delete');
          isCut = false;
          for (const other of cutFrom) setPairRules('delete', other);
          cutFrom.clear();
        },
      };
    },
  };
}

/** The networks of a namespace, each with the option of `ip` for its family. */
function networksOf(n: number): readonly (readonly [family: '-4' | '-6', network: string])[] {
  return [
    ['-4', `10.77.${n}.0/24`],
    ['-6', `fd77:0:0:${n}::/64`],
  ];
}

type Asked = { readonly type: 'listen'; port: number } | { type: 'expose'; host: string; port: number };

/** The process that lives in a namespace. */
interface Agent {
  readonly pid: number;
  /** Runs a shell script inside. Throws with its words where it fails. */
  run(script: string): void;
  /** Runs lines of `ip -batch` inside. */
  ip(...lines: readonly string[]): void;
  ask(request: Asked, handle?: Server): Promise<unknown>;
  end(): Promise<unknown>;
}

async function startAgent(): Promise<Agent> {
  const child = spawn('unshare', ['--net', process.execPath, AGENT], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (answer: AgentAnswer, handle: unknown) => void>();
  const ready = new Promise<void>((resolve) => waiting.set(0, () => resolve()));
  child.on('message', (answer: AgentAnswer, handle: unknown) => waiting.get(answer.id)?.(answer, handle));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => reject(new Error(`a network namespace ended with status ${status}`)));
  });
  failed.catch(() => {});
  await Promise.race([ready, failed]);
  const pid = child.pid as number;
  let asked = 0;
  const enter = ['--target', String(pid), '--net', '--'];
  const run = (command: readonly string[], input?: string): void => {
    const { status, stderr, error } = spawnSync('nsenter', [...enter, ...command], {
      encoding: 'utf8',
      ...(input === undefined ? {} : { input }),
    });
    if (status !== 0) throw new Error(`in a network namespace: ${error?.message ?? stderr}`);
  };
  return {
    pid,
    run: (script) => run(['sh', '-ec', script]),
    ip: (...lines) => run(['ip', '-batch', '-'], `${lines.join('\n')}\n`),
    ask(request, handle) {
      const id = ++asked;
      const answered = new Promise((resolve, reject) => {
        waiting.set(id, ({ error }, given) => {
          waiting.delete(id);
          if (error === null) resolve(given);
          else reject(new Error(`in a network namespace: ${error}`));
        });
      });
      child.send({ ...request, id } satisfies AgentRequest, handle);
      return Promise.race([answered, failed]);
    },
    end: () => endProcess(child),
  };
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Tries the whole of it in a namespace that is gone at once. */
function findObstacle(): { readonly skip?: string } {
  const { status, stderr, error } = spawnSync(
    'unshare',
    [
      '--net',
      'sh',
      '-ec',
      `echo 1 > /proc/sys/net/ipv4/ip_forward
       ip link add port type veth peer name peer
       ip rule add iif port blackhole
       exec setpriv --pdeathsig KILL true`,
    ],
    { encoding: 'utf8' },
  );
  if (status === 0) return {};
  const words = (error?.message ?? stderr).trim().split('\n').at(-1);
  return { skip: `network namespaces need root, iproute2 and util-linux: ${words}` };
}
