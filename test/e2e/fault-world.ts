/** The program whose parts are broken one after the other, with clients of every kind. */
import { createServer } from 'node:http';
import type { Test } from 'tap';
import { listenOn } from '../support/loopback.ts';
import { type Installation, install } from '../support/program.ts';
import { type Clients, createClients } from './fault-clients.ts';
import { type Fault, WELL } from './fault-table.ts';

/** Programs with their servers start at once, beside whatever else the machine does. */
const START_TIMEOUT_MS = 240_000;

/** The program and its clients. */
export interface World {
  readonly installation: Installation;
  readonly clients: Clients;
}

/** Starts the program with a service, and clients of it. `enter`: what stands before its command. */
export async function startWorld(
  t: Test,
  settings: object,
  environment: Readonly<Record<string, string>> = {},
  enter: readonly string[] = [],
): Promise<World> {
  let isDown = false;
  const site = await listenOn(
    createServer((request, response) => {
      const about = { page: { id: 'abc', name: 'Shop', url: 'https://status.shop.example' } };
      if (request.url === '/') response.writeHead(isDown ? 503 : 200).end();
      else response.end(JSON.stringify({ ...about, incidents: [], scheduled_maintenances: [] }));
    }),
  );
  const url = `http://127.0.0.1:${site.port}`;
  const installation = await install(
    [{ slug: 'shop', check: { url: `${url}/` }, statusPage: { url, kind: 'statuspage' } }],
    {
      checks: { controlTargets: [`${url}/control`], confirmAfter: [] },
      incidents: { feedInterval: '1s' },
      limits: { anonymousPerMinute: 100_000, authenticatedPerMinute: 100_000 },
      ...settings,
    },
    environment,
    enter,
  );
  const made = await installation.run(
    ...['keys', 'create', '--account', 'ada', '--name', 'all'],
    ...['--scope', 'read', '--scope', 'heartbeat', '--scope', 'write'],
  );
  const key = made.stdout.trim();
  if (key === '') throw new Error(made.stderr);
  const program = await installation.start(undefined, START_TIMEOUT_MS);
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await site.close();
  });
  const clients = createClients({
    program,
    key,
    turn(next) {
      isDown = next;
    },
  });
  return { installation, clients };
}

/** What breaks a part, and makes it whole again. */
export interface Switch {
  begin(): unknown;
  end(): unknown;
}

/** Breaks a part: each kind of client sees its cell of the row meanwhile, and everything is as ever afterwards. */
export async function tryFault(
  t: Test,
  { clients }: World,
  { name, row }: Fault,
  { begin, end }: Switch,
): Promise<void> {
  await t.test(name, async (t) => {
    t.strictSame(await clients.seeAnswers(WELL), WELL, 'before');
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
  });
}
