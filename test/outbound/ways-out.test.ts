/** No way out leads into a private network: every way, every form of an address, names that change, and redirects. */
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listenOn, listenRaw } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { openWaysOut } from './ways-out.ts';

t.setTimeout(180_000);

/** Plays a public address: it is allowed, nothing listens there but the redirecting server, and nothing else is allowed. */
const PUBLIC = '127.0.0.9';

const LITERALS = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '0.0.0.0'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
  ...['[2002:7f00:1::]', '10.0.0.1', '100.64.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254'],
  ...['100.100.100.200', '[fd00:ec2::254]', '[fe80::1]', '[ff02::1]', '224.0.0.1', '255.255.255.255'],
];

/** Names and what the name server says of them; of a list of lists, one after the other. */
const NAMES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'loopback.example': [['127.0.0.1']],
  'six.example': [['::1']],
  'mapped.example': [['::ffff:7f00:1']],
  'nat64.example': [['64:ff9b::7f00:1']],
  'metadata.example': [['169.254.169.254']],
  'mixed.example': [[PUBLIC, '127.0.0.1']],
  'mixed-other.example': [['127.0.0.1', PUBLIC]],
  'rebinding.example': [[PUBLIC], ['127.0.0.1']],
};

/** Names that also have the public address, where nothing answers. */
const TRIED_PUBLIC = ['mixed.example', 'mixed-other.example', 'rebinding.example'];

/**
 * How an outcome says that nothing was dialled. A name server is not taken by a form of an address that only `inet_aton` knows, and
 * the proof of a domain says no more than that its address was not the domain's own.
 */
const REFUSED = /forbidden_address|is not public|name_not_found|"redirected"|cannot be read/;

async function startNames(t: Test): Promise<string> {
  const asked = new Map<string, number>();
  const names = await startNameServer(({ name, type }) => {
    const known = NAMES[name.toLowerCase()];
    if (known === undefined) return { code: 3 };
    const count = asked.get(`${name} ${type}`) ?? 0;
    asked.set(`${name} ${type}`, count + 1);
    const addresses = known[count % known.length] ?? [];
    const ofType = addresses.filter((address) => address.includes(':') === (type === 'AAAA'));
    return ofType.length > 0 && (type === 'A' || type === 'AAAA')
      ? { addresses: ofType, ttl: 0 }
      : { code: 0 };
  });
  t.teardown(names.close);
  return names.address;
}

/** What must not be reached: it counts connections on both families. */
async function startTrap(t: Test) {
  const four = await listenRaw((socket) => socket.destroy());
  const six = await listenRaw((socket) => socket.destroy(), '::1', four.port).catch(() => null);
  t.teardown(async () => {
    await four.close();
    await six?.close();
  });
  return { port: four.port, reached: () => four.accepted() + (six?.accepted() ?? 0) };
}

t.test('no way out reaches a private address, in whatever form it is written or resolved', async (t) => {
  const nameservers = [await startNames(t)];
  const trap = await startTrap(t);
  const ports = [80, 443, trap.port];
  const out = openWaysOut({ allowPrivate: [`${PUBLIC}/32`], ports, nameservers });
  t.teardown(out.close);
  t.ok(out.ways.length >= 15, 'every way is there');
  for (const way of out.ways) {
    const open: string[] = [];
    const hosts = [...LITERALS, 'localhost', 'app.localhost', ...Object.keys(NAMES)];
    for (const host of hosts) {
      // The rebinding name is private at every second question.
      for (let turn = 0; turn < (host === 'rebinding.example' ? 4 : 1); turn++) {
        const outcome = await way.go(host, trap.port).catch((error: Error) => error.message);
        if (!REFUSED.test(outcome) && !TRIED_PUBLIC.includes(host)) open.push(`${host}: ${outcome}`);
      }
    }
    t.strictSame(open, [], `${way.name} refuses`);
    t.equal(trap.reached(), 0, `${way.name} connects to nothing private`);
  }
});

t.test('no redirect leads to a private address', async (t) => {
  const trap = await startTrap(t);
  const redirecting = await listenOn(
    createServer((request, response) => {
      const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to') ?? '/';
      response.writeHead(302, { location: to }).end();
    }),
    PUBLIC,
  );
  t.teardown(redirecting.close);
  const nameservers = [await startNames(t)];
  const ports = [80, 443, trap.port, redirecting.port];
  const out = openWaysOut({ allowPrivate: [`${PUBLIC}/32`], ports, nameservers });
  t.teardown(out.close);
  for (const { name, go, takesPort, redirects } of out.ways) {
    if (!takesPort || name.startsWith('check dns')) continue;
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost', 'loopback.example']) {
      const to = encodeURIComponent(`http://${host}:${trap.port}/`);
      await go(PUBLIC, redirecting.port, `/?to=${to}`).catch(() => {});
    }
    if (redirects) t.ok(redirecting.accepted() > 0, `${name} was redirected`);
    t.equal(trap.reached(), 0, name);
  }
});

t.test('the same ways lead to loopback where the operator allows it', async (t) => {
  const trap = await startTrap(t);
  const nameservers = [await startNames(t)];
  const out = openWaysOut({ allowPrivate: ['127.0.0.0/8'], ports: [80, 443], nameservers });
  t.teardown(out.close);
  for (const { name, go, takesPort } of out.ways) {
    // A query for records is sent by UDP first, which the trap does not count.
    if (!takesPort || name === 'check dns') continue;
    const before = trap.reached();
    await go('127.0.0.1', trap.port).catch(() => {});
    t.ok(trap.reached() > before, `${name} connects`);
  }
});

/** Files outside of `src/outbound/` that open connections, and whose word their addresses are. */
const OPERATORS_OWN: Readonly<Record<string, string>> = {
  'src/cli/doctor.ts': 'this machine',
  'src/cli/health-check.ts': 'this machine',
  'src/cli/nodes.ts': 'this machine',
  'src/cli/apply/apply-command.ts': 'the command line',
  'src/cli/discover/discover-command.ts': 'the command line',
  'src/notify/mail/smtp-mailer.ts': 'alerts.smtp',
  'src/store/database/postgres/postgres-database.ts': 'storage.postgres.url',
  'src/store/database/postgres/postgres-servers.ts': 'storage.postgres.url',
  'src/store/database/postgres/postgres-store.ts': 'storage.postgres.url',
  'src/store/samples/influx/influx-link.ts': 'storage.influx.url',
  'src/store/status/redis-client.ts': 'storage.redis.url',
};

t.test('nothing else in the program opens a connection', async (t) => {
  const root = join(import.meta.dirname, '../..');
  const opens =
    /\bfetch\(|\bimport (?!type)[^;]*\b(createConnection|connect|createSocket|request|get)\b[^;]*'node:(net|tls|https?|http2|dgram)'|from '(pg|ioredis|undici)'|\('nodemailer'\)/;
  const found = globSync('{src,workers}/**/*.ts', { cwd: root })
    .filter((file) => !file.startsWith('src/outbound/'))
    .filter((file) =>
      opens.test(
        readFileSync(join(root, file), 'utf8')
          .replaceAll(/^import type [^;]*;/gm, '')
          .replaceAll(/^\s*(\*|\/\/).*$/gm, ''),
      ),
    );
  t.strictSame(found.sort(), Object.keys(OPERATORS_OWN).sort());
});
