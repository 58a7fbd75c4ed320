/** An account that the operator does not trust gets neither trust nor a private address, by any way in. */

import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { readImport } from '../../src/cli/import/read-import.ts';
import { documentOf } from '../../src/cli/service-commands.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import type { Service } from '../../src/domain/service.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { destinationsByTrust, ownerPolicy } from '../../src/outbound/address-guard.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createProber } from '../../src/probe/prober.ts';
import { addOrClaim, tryService } from '../../src/resources/services/new-service.ts';
import { registerServices } from '../../src/resources/services/services.ts';
import { LOOPBACK_SETTINGS } from '../probe/try-probe.ts';
import { USUAL } from '../support/attempts.ts';
import { listenOn } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { sendWith } from './send-with.ts';
import { startApi } from './site-world.ts';

t.setTimeout(300_000);

/** Hosts that are private, or names that lead there, in forms that readers have taken for something else. */
const HOSTS: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
  ],
  ...[
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127%2e0%2e0%2e1',
    '%31%32%37.0.0.1',
    '127.0.0.1%00.example',
    ' 127.0.0.1',
    '127.0.0.1\t',
  ],
  ...[
    '::1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '::ffff:127.0.0.1',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ],
  ...[
    '[::]',
    '0',
    '0.0.0.0',
    '[fe80::1%25lo]',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'ｌｏｃａｌｈｏｓｔ',
    'loc\u00adalhost',
  ],
  ...[
    'nas',
    'nas.local',
    'nas.internal',
    'nas.home.arpa',
    '10.0.0.1',
    '192.168.1.5',
    '169.254.169.254',
    '[fd00:ec2::254]',
  ],
  ...[
    'private.example',
    'PRIVATE.example.',
    'rebind.example',
    'a.example@127.0.0.1',
    '127.0.0.1#.a.example',
    '127.0.0.1\\.a.example',
  ],
  ...[
    'unix:/var/run/docker.sock',
    'http+unix://%2fvar%2frun%2fdocker.sock',
    'file:///etc/passwd',
    'http://127.0.0.1',
    '//127.0.0.1',
  ],
];

/** Members by which somebody could try to say that they are trusted. `home`: the number of the trusted account. */
const claims = (home: number): readonly object[] => [
  ...[
    { trusted: true },
    { trustedBy: home },
    { trusted_by: 'setup-link' },
    { trustedAt: 1 },
    { isTrusted: true },
  ],
  ...[
    { verified: true },
    { unproven: 0 },
    { origin: 'catalogue' },
    { accountId: home },
    { account_id: home },
    { account: 'home' },
  ],
  ...[
    { check: { trustedBy: home } },
    { check: { trusted: true } },
    { check: { settings: { trusted: true } } },
    { check: { caFile: '/etc' } },
  ],
  ...[
    { __proto__: { trustedBy: home } },
    { constructor: { trustedBy: home } },
    { role: 'operator' },
    { bounds: { anyHost: true } },
  ],
];

async function start(t: Test) {
  const world = await startApi({ kinds: CHANNEL_KINDS_TABLE });
  t.teardown(world.close);
  const { registry, directory } = world;
  t.teardown(registry.watchChanges(await registry.lastChange(), directory.apply));
  const server = createServer((_, response) => response.end());
  const [v4, v6] = [
    await listenOn(server),
    await listenOn(
      createServer((_, response) => response.end()),
      '::1',
    ).catch(() => null),
  ];
  for (const one of [v4, v6]) if (one !== null) t.teardown(one.close);
  let asked = 0;
  const names = await startNameServer(({ name, type }) => {
    // A name that answers with a public address once, and then with a private one.
    const isFirst = name === 'rebind.example' && asked++ % 2 === 0;
    if (type === 'A') return { addresses: [isFirst ? '192.0.2.1' : '127.0.0.1'], ttl: 0 };
    return type === 'AAAA' && !isFirst ? { addresses: ['::1'], ttl: 0 } : { code: 0 };
  });
  t.teardown(() => names.close());
  /** Everything that the operator can open to trusted accounts is open, and the port is allowed. */
  const reach = {
    ports: [80, 443, v4.port],
    ...{ allowPrivate: [], ownersMayProbePrivate: false },
    trustedPrivate: ['private', 'shared', 'unique-local', 'loopback', 'link-local'],
  };
  const prober = createProber({ ...LOOPBACK_SETTINGS, ...reach, nameservers: [names.address] });
  t.teardown(() => prober.close());
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [names.address] });
  t.teardown(() => outbound.close());
  const { signal } = new AbortController();
  const attempt = (target: Parameters<typeof prober.runAttempt>[0]) =>
    prober.runAttempt(target, { timeoutMs: 5_000, number: 0, slot: 0, signal });
  return {
    ...{ world, registry, reach, outbound, attempt, port: v4.port },
    accepted: () => v4.accepted() + (v6?.accepted() ?? 0),
    /** Checks a service as a probe thread does, whatever its state is. */
    check({ id: serviceId, revision, domain, origin, accountId, check: own }: Service) {
      const check = own.kind === 'heartbeat' ? ({ ...own, kind: 'root' } as const) : own;
      const target = { serviceId, revision, domain, origin, accountId, check };
      return attempt({ ...target, memory: NO_MEMORY, lastCheckedAt: null });
    },
  };
}

t.test('no way in gives an account trust or a private address', async (t) => {
  const { world, registry, reach, outbound, attempt, check, port, accepted } = await start(t);
  const { id: home } = await registry.ensureAccount('home', 1);
  await registry.trustAccount(home, 'setup-link', 1);
  const send = sendWith(world);
  let requests = 0;
  const destinations = destinationsByTrust(reach, registry);
  const context = {
    registry,
    destinations,
    bounds: { usual: USUAL, minIntervalMs: 1_000, regions: () => ['eu'] },
    findService: world.directory.bySlug,
    // The attacker owns the names, and has proved them.
    proofs: { check: async () => null },
    resolve: async () => [],
    now: () => 1,
    charge: async () => {},
    tryCheck: attempt,
    catalogueDomains: new Set<string>(),
    usual: USUAL,
  };
  /** Ways in, each with an account of its own, so that one does not fill the limits of another. */
  const ways: Readonly<
    Record<
      string,
      (
        accountId: number,
        document: Record<string, unknown>,
        key: Record<string, string>,
        own: string,
      ) => Promise<unknown>
    >
  > = {
    'a service by the API': (_, document, key) => send('POST', '/api/v1/services', document, key),
    'a patch by the API': (_, document, key, own) =>
      send('PATCH', `/api/v1/services/${own}`, document, {
        ...key,
        'content-type': 'application/merge-patch+json',
      }),
    'a file of apply': (_, document, key) => send('POST', '/api/v1/apply', { services: [document] }, key),
    'a form': (accountId, document) => addOrClaim(context, { role: 'owner', accountId }, document),
    'a trial': (accountId, document) => tryService(context, { role: 'owner', accountId }, document),
    'a command': (accountId, document) =>
      registerServices(context, { role: 'operator', accountId }, [document]),
    'an import': (accountId, document) => {
      const { services } = readImport(JSON.stringify({ services: [document] }), 'services.json');
      return registerServices(context, { role: 'operator', accountId }, services.map(documentOf));
    },
    'a heartbeat': async (accountId, document, key) => {
      await send('POST', '/api/v1/heartbeat', { ...document, status: 'ok' }, key);
      for (const { report } of world.heartbeats.taken.splice(0))
        await registry.claimDomain(report.domain, accountId);
    },
    'a webhook': (_, { check: { url } = {} }: { check?: { url?: string } }, key) =>
      send('POST', '/api/v1/webhooks', { url }, key),
    'a channel': (_, { check: { url } = {}, name }: { check?: { url?: string }; name?: string }, key) =>
      send('POST', '/api/v1/channels', { name, kind: 'webhook', settings: { url } }, key),
  };
  const accounts: number[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const { id: accountId } = await registry.ensureAccount(name, 1);
    accounts.push(accountId);
    const key = world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
    const own = await registry.registerService(
      accountId,
      {
        domain: `own-${accountId}.example`,
        name: `Own ${accountId}`,
        category: 'developer',
        paused: false,
        check: { kind: 'root', url: null, method: null, accept: null, caFile: null },
      },
      { isProven: true, now: 1 },
    );
    const attack = async (document: Record<string, unknown>) => {
      requests++;
      // A refusal, or a reader that throws, is as good as the other.
      await way(accountId, document, key, own.slug).catch(() => {});
    };
    let n = 0;
    for (const host of HOSTS) {
      const [domain, label] = [`d${accountId}-${n++}.example`, `Service ${accountId} ${n}`];
      const url = `http://${host}:${port}/`;
      await attack({ domain: host, name: label });
      await attack({ domain, name: label, check: { url, kind: 'http' } });
      await attack({
        domain: 'private.example',
        name: label,
        check: { url: `http://private.example@${host}:${port}/` },
      });
    }
    for (const claim of claims(home)) {
      await attack({ domain: `c${accountId}-${n++}.example`, name: `Claim ${n}`, ...claim });
      await attack({ domain: '127.0.0.1', check: { url: `http://127.0.0.1:${port}/` }, ...claim });
    }
  }
  t.ok(requests >= 1_000, `${requests} requests`);
  let checked = 0;
  let sent = 0;
  for (const accountId of accounts) {
    t.equal(await registry.isTrusted(accountId), false);
    for (const service of await registry.servicesOf(accountId)) {
      t.equal(service.check.trustedBy, undefined);
      await check(service);
      checked++;
    }
    const policy = ownerPolicy(reach, await registry.isTrusted(accountId));
    const urls = [
      ...(await registry.webhooksOf(accountId)).map(({ url }) => url),
      ...(await registry.channelsOf(accountId)).map(({ settings }) => String(settings.url)),
    ];
    for (const url of urls) {
      await outbound.request({ url, timeoutMs: 5_000, maxBodyBytes: 10, policy }).catch(() => {});
      sent++;
    }
  }
  t.ok(checked > 50 && sent > 2, `${checked} services and ${sent} receivers were left to try`);
  t.equal(accepted(), 0, 'nothing has connected to a private address');
  t.match(
    (await registry.listAccounts()).filter(({ trustedAt }) => trustedAt !== null),
    [{ name: 'home' }],
  );

  // The same requests by an account that is trusted do connect: the test would see it.
  const key = world.makeKey({ accountId: home, scopes: ['read', 'heartbeat', 'write'] });
  const trial = await tryService(
    context,
    { role: 'owner', accountId: home },
    { domain: '127.0.0.1', check: { url: `http://127.0.0.1:${port}/` } },
  );
  t.match(trial, { ok: true, value: { attempt: { statusCode: 200 } } });
  await send(
    'POST',
    '/api/v1/services',
    { domain: 'private.example', check: { url: `http://private.example:${port}/` } },
    key,
  );
  for (const service of await registry.servicesOf(home)) await check(service);
  t.equal(accepted(), 2);
});
