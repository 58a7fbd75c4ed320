/** The program whose parts are broken one after the other, with clients of every kind. */
import { createServer } from 'node:http';
import type { Test } from 'tap';
import { listenOn } from '../support/loopback.ts';
import { plainProvider, startPlainIdentityServer } from '../support/plain-identity-server.ts';
import { type Installation, install } from '../support/program.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Clients, createClients } from './fault-clients.ts';
import { type Fault, WELL } from './fault-table.ts';

/** Programs with their servers start at once, beside whatever else the machine does. */
const START_TIMEOUT_MS = 240_000;

/** The program and its clients. */
export interface World {
  readonly installation: Installation;
  readonly clients: Clients;
  /** Gives the vendor's page another address, so that it is read at once, whatever became of the last one. */
  readonly moveVendorPage: () => void;
  /** What the program has printed. */
  readonly output: () => string;
  /** The roads to the servers outside. */
  readonly roads: Readonly<Record<'control' | 'vendor' | 'provider', TcpProxy>>;
  /** How the servers outside answer, and what the outage of the checked site is. */
  readonly outside: {
    /** Status of the vendor's page and of the provider of identities. */
    status: number;
    /** True: the site that is down closes its connections; false: it answers 503. */
    isUnreachable: boolean;
  };
}

/** Options of {@link startWorld}. */
export interface WorldOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** What stands before the command of the program. */
  readonly enter?: readonly string[];
  /** The host of the site and of the control target in URLs. Default: an address. */
  readonly hostOf?: (name: 'site' | 'control') => string;
}

/** Starts the program with a service, and clients of it. */
export async function startWorld(t: Test, settings: object, options: WorldOptions = {}): Promise<World> {
  const { environment = {}, enter = [], hostOf = () => '127.0.0.1' } = options;
  let isDown = false;
  const outside = { status: 200, isUnreachable: false };
  const site = await listenOn(
    createServer((_request, response) => {
      if (isDown && outside.isUnreachable) response.destroy();
      else response.writeHead(isDown ? 503 : 200).end();
    }),
  );
  const page = await listenOn(
    createServer((_request, response) => {
      const about = { page: { id: 'abc', name: 'Shop', url: 'https://status.shop.example' } };
      response.writeHead(outside.status);
      response.end(JSON.stringify({ ...about, incidents: [], scheduled_maintenances: [] }));
    }),
  );
  const identity = await startPlainIdentityServer();
  const roadTo = (port: number) => startTcpProxy(t, `http://127.0.0.1:${port}`);
  const roads = {
    control: await roadTo(page.port),
    vendor: await roadTo(page.port),
    provider: await roadTo(identity.port),
  };
  const controlPort = new URL(roads.control.url).port;
  const checkUrl = `http://${hostOf('site')}:${site.port}/`;
  let pages = 0;
  const catalogue = () => {
    const statusPage = { url: `${roads.vendor.url}/${++pages}`, kind: 'statuspage' };
    return [{ slug: 'shop', check: { url: checkUrl }, statusPage }];
  };
  const installation = await install(
    catalogue(),
    {
      checks: {
        controlTargets: [`http://${hostOf('control')}:${controlPort}/control`],
        confirmAfter: [],
        ...('checks' in settings ? (settings.checks as object) : {}),
      },
      incidents: { feedInterval: '1s' },
      limits: { anonymousPerMinute: 100_000, authenticatedPerMinute: 100_000, changesPerAccount: 100_000 },
      auth: { providers: [plainProvider(roads.provider.url)] },
      ...Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'checks')),
    },
    environment,
    enter,
  );
  // What enters a place has files there that this process does not see.
  const run = enter.length > 0 ? installation.run : installation.runHere;
  const made = await run(
    ...['keys', 'create', '--account', 'ada', '--name', 'all'],
    ...['--scope', 'read', '--scope', 'heartbeat', '--scope', 'write'],
  );
  const key = made.stdout.trim();
  if (key === '') throw new Error(made.stderr);
  const program = await installation.start(undefined, START_TIMEOUT_MS);
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await Promise.all([site.close(), page.close(), identity.close()]);
  });
  const clients = createClients({
    program,
    key,
    turn(next) {
      isDown = next;
    },
  });
  t.strictSame(await clients.seeAnswers(WELL), WELL, 'before the first fault');
  return {
    installation,
    clients,
    moveVendorPage: () => installation.writeCatalogue(catalogue()),
    output: program.output,
    roads,
    outside: {
      get status() {
        return outside.status;
      },
      set status(status: number) {
        outside.status = status;
        identity.status = status;
      },
      get isUnreachable() {
        return outside.isUnreachable;
      },
      set isUnreachable(isUnreachable: boolean) {
        outside.isUnreachable = isUnreachable;
      },
    },
  };
}

/** What breaks a part, and makes it whole again. */
export interface Switch {
  begin(): unknown;
  end(): unknown;
}

/** What can befall the road to a server: what is set then, and what otherwise. */
const MISHAPS = {
  isCut: [true, false],
  silent: [true, false],
  garbles: [true, false],
  delayMs: [40, 0],
} as const;

/** One of them. */
export type Mishap = keyof typeof MISHAPS;

/** Lets it befall roads. */
export function befall(mishap: Mishap, ...roads: readonly TcpProxy[]): Switch {
  const [fault, none] = MISHAPS[mishap];
  const set = (value: boolean | number) => {
    for (const road of roads) Object.assign(road, { [mishap]: value });
  };
  return { begin: () => set(fault), end: () => set(none) };
}

/** Breaks a part: each kind of client sees its cell of the row meanwhile, and everything is as ever afterwards. */
export async function tryFault(
  t: Test,
  { clients }: World,
  { name, row }: Fault,
  { begin, end }: Switch,
): Promise<void> {
  await t.test(name, async (t) => {
    const events = await clients.readEvents();
    t.teardown(events.close);
    await begin();
    let opened = '';
    const see = async () => {
      const found = await clients.see(row, events);
      opened = await clients.beginEvents();
      return found;
    };
    const { seen, told } = await see().finally(end);
    t.strictSame(seen, row, 'while it is broken');
    t.equal(opened, '200 retry:', 'a stream that is opened meanwhile begins, or says that it will');
    await told;
    const late = await clients.settle();
    t.ok(
      late.every((status) => status === 200 || status === 503),
      `what waited is answered: ${late.join(' ')}`,
    );
    await clients.recover(events);
    t.strictSame(await clients.seeAnswers(WELL), WELL, 'afterwards');
    t.strictSame(clients.faults, [], 'nobody sees a fault of the program');
  });
}
