/** An installation to apply files to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { systemClock } from '../../../src/clock.ts';
import type { ChannelKind } from '../../../src/domain/alert/channel.ts';
import { DEFAULT_CHECK, type ProbedKind } from '../../../src/domain/service.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistryInProcess } from '../../../src/store/registry/open-registry.ts';
import type { RegistryClient } from '../../../src/store/registry/registry-client.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { install } from '../../support/program.ts';

/** An installation whose registry has the public service `github`. */
export async function setUp(t: Test, postgresUrl: string | null = null) {
  const installation = await install([{ slug: 'github', name: 'GitHub', domain: 'github.example' }], {
    storage: postgresUrl === null ? {} : { postgres: { url: postgresUrl } },
  });
  t.teardown(() => installation.remove());
  const { folder } = installation;
  const dataDir = join(folder, 'data');
  const registry: RegistryClient = await openRegistryInProcess({
    ...{ dataDir, postgresUrl, log: silentLog, clock: systemClock },
    domainsPerAccount: Number.POSITIVE_INFINITY,
  });
  t.teardown(() => registry.close());
  const github = { slug: 'github', name: 'GitHub', domain: 'github.example', category: 'developer' } as const;
  await registry.putCatalogue([
    {
      ...github,
      origin: 'catalogue',
      accountId: null,
      verified: true,
      paused: false,
      check: DEFAULT_CHECK,
      statusPage: null,
    },
  ]);
  const file = (name: string, content: object | string): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : stringify(content));
    return path;
  };
  const apply = (...words: string[]) => installation.runHere('apply', '--account', 'ada', ...words);
  return { installation, registry, folder, file, apply };
}

/** What the accounts have, as `account: domain slug name kind`, and their pages. */
export async function contentOf(registry: RegistryClient): Promise<string[]> {
  const accounts = await registry.listAccounts();
  const states = await registry.loadServices();
  const bySlug = new Map(states.map(({ service }) => [service.id, service.slug]));
  const nameOf = (id: number | null) => accounts.find((one) => one.id === id)?.name ?? 'catalogue';
  const services = states.map(
    ({ service: { accountId, domain, slug, name, check } }) =>
      `${nameOf(accountId)}: ${domain} ${slug} ${name} ${check.kind}`,
  );
  const pages = (await registry.listPages()).map(({ accountName, slug, title, groups }) => {
    const shown = groups.map(
      ({ name, services }) => `${name}: ${services.map((id) => bySlug.get(id)).join(' ')}`,
    );
    return `${accountName}: /p/${slug} ${title} [${shown.join('; ')}]`;
  });
  return [...services.sort(), ...pages];
}

export const DOCUMENT = `# Secrets such as \${NOTHING} may stand in a comment.
services:
  - domain: shop.example.org
    name: Shop
    category: ecommerce
    check: { kind: http, interval: 1m, settings: { path: /health } }
  - domain: cron.example.org
    check: { kind: heartbeat }
    period: 1h
pages:
  - slug: acme
    title: Acme
    groups:
      - name: Web
        services: [shop.example.org, github]
`;

/** An account with every kind of check and channel, each secret that they have, and everything else that an account has. */
export function everything() {
  const { cert, key } = makeCertificate({ names: ['probe.example'], client: true });
  const http = {
    ...{ path: '/a', method: 'POST', body: 'secret-body', secretHeaders: ['x-a: secret-1', 'x-b: secret-2'] },
    ...{ username: 'ada', password: 'secret-pass', clientCertificate: cert, clientKey: key },
  };
  const settings: Readonly<Record<ProbedKind, object>> = {
    root: {},
    health: {},
    http,
    tcp: { port: 443 },
    tls: { port: 443, clientCertificate: cert, clientKey: key },
    dns: { record: 'A' },
    icmp: {},
    domain: { minDays: 30 },
    mongodb: { port: 443 },
    docker: { container: 'web', port: 443 },
    mqtt: { port: 443, username: 'secret-user', password: 'secret-pass', topic: 'a' },
    redis: { port: 443, username: 'secret-user', password: 'secret-pass' },
    mysql: { port: 443, username: 'secret-user', password: 'secret-pass', query: 'secret-query' },
    postgres: { port: 443, username: 'secret-user', password: 'secret-pass', query: 'secret-query' },
    ssh: { port: 443 },
    smtp: { port: 443, username: 'secret-user', password: 'secret-pass' },
    grpc: { clientCertificate: cert, clientKey: key },
    websocket: { send: 'secret-message', clientCertificate: cert, clientKey: key },
  };
  const [url, word] = ['https://hooks.example.com/secret/x', 'abcdef0123456789'];
  const whsec = `whsec_${'A'.repeat(43)}=`;
  const channels: Readonly<Record<ChannelKind, object>> = {
    email: { to: 'ops@example.com' },
    slack: { token: `xoxb-${word}`, channel: 'C0123456789' },
    discord: { url, forum: true },
    teams: { url },
    mattermost: { server: 'https://chat.example.com', token: word, channel: 'a'.repeat(26) },
    'google-chat': { url },
    telegram: { token: `123456:${word}`, chat: '-100123' },
    matrix: { server: 'https://matrix.example.com', room: '!a:example.com', token: word },
    ntfy: { topic: 'secret-topic', server: 'https://ntfy.example.com', token: word },
    gotify: { server: 'https://gotify.example.com', token: word },
    pushover: { user: 'u'.repeat(30), token: 't'.repeat(30), emergency: true },
    pagerduty: { key: 'k'.repeat(32), region: 'eu' },
    opsgenie: { key: word, region: 'eu' },
    webhook: { url: 'https://example.com/hook', secret: whsec },
  };
  return {
    services: [
      ...Object.entries(settings).map(([kind, given]) => ({
        domain: `${kind}.example.org`,
        check: { kind, ...(Object.keys(given).length === 0 ? {} : { settings: given }) },
      })),
      { domain: '1.example.org', check: { kind: 'http', settings: { token: 'secret-token' } } },
      { domain: 'beat.example.org', check: { kind: 'heartbeat' }, period: '1h' },
    ],
    pages: [{ slug: 'acme', title: 'Acme', access: 'password', password: 'a long secret-password' }],
    channels: [
      ...Object.entries(channels).map(([kind, given]) => ({ name: `Ops ${kind}`, kind, settings: given })),
      // Names of which variables have the same letters.
      ...['St\u00f6rung', 'St rung', '1'].map((name) => ({ name, kind: 'slack', settings: { url } })),
    ],
    rules: [{ name: 'Night: all', own: true, channels: ['Ops slack', '1'], repeat: '1h' }],
    maintenances: [
      { title: 'Upgrade', starts_at: '2026-11-24T22:00', duration: '90m', services: ['tcp.example.org'] },
    ],
  };
}
