/** `upbeat doctor`: examines everything that the program needs and says what to fix. */

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { allowsPasskeys } from '../auth/passkeys.ts';
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { systemClock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { openCredential } from '../domain/credential-seal.ts';
import { describeCause } from '../domain/failure.ts';
import { countNodesByRegion, describeClockOffset, NODE_ROLES, SHARDS } from '../domain/node.ts';
import { hideUserinfo } from '../domain/printable-text.ts';
import { type CheckDefinition, PROBED_KINDS } from '../domain/service.ts';
import { messageOf } from '../error.ts';
import { destinationOf, obstacleOf } from '../kinds/settings.ts';
import { smtpServerOf } from '../main/mail-server.ts';
import { queryNameServers } from '../outbound/name-client.ts';
import { createServerList } from '../outbound/name-socket.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import { DEFAULT_BUCKET, type InfluxSettings } from '../store/samples/influx/influx-settings.ts';
import { examineSamplesFile, samplesFile } from '../store/samples/samples-file.ts';
import { findChecksKey, keyFile } from '../store/secrets/secret-box.ts';
import { findLooseFiles, type LooseFile } from '../store/sqlite/private-files.ts';
import { VERSION } from '../version.ts';
import { findLockedAccounts, type NamedAccount } from './accounts.ts';
import type { CommonOptions } from './command.ts';
import { readConfig, withRegistry } from './open-stores.ts';
import { printRows, whileWaiting } from './output.ts';

/** A finding; `advice` is null if nothing needs to be fixed. */
interface Finding {
  readonly what: string;
  readonly found: string;
  readonly advice: string | null;
  /** True: it was created just now; absent: it was not. */
  readonly made?: boolean;
}

/** `advice`: what to fix; null if nothing needs to be fixed. */
function finding(what: string, found: string, advice: string | null = null): Finding {
  return { what, found, advice };
}

const MIN_FREE_BYTES = 1_073_741_824;
const MAX_LOCAL_CLOCK_OFFSET_MS = 5_000;
const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

export interface DoctorOptions extends CommonOptions {
  /** Only creates what is missing in the stores. */
  readonly setup?: boolean;
}

/** Examines everything, or sets the stores up. Exits with status 1 if something needs to be fixed. */
export async function examine({ config: file, json = false, setup = false }: DoctorOptions): Promise<void> {
  const config = readConfig(file);
  const findings = await whileWaiting(setup ? 'setting the stores up' : 'examining', async () =>
    setup
      ? [...(await setUpRegistry(config)), ...(await setUpSamples(config))]
      : await examineAll(file, config),
  );
  const rows = findings.map(({ what, found, advice, made = false }) => ({
    state: advice !== null ? 'FIX' : made ? 'made' : 'ok',
    what,
    found: hideUserinfo(found),
    advice: advice === null ? null : hideUserinfo(advice),
  }));
  printRows(rows, json, '');
  if (findings.some(({ advice }) => advice !== null)) process.exitCode = 1;
}

async function setUpRegistry({ storage }: Config): Promise<Finding[]> {
  const { url } = storage.postgres;
  if (url === null)
    return [finding('postgres', 'storage.postgres is not set: the registry stays in storage.dataDir')];
  const { setUpPostgres } = await import('../store/database/postgres/examine-postgres.ts');
  return (await setUpPostgres(url)).map(({ what, ...step }) => ({ what: `postgres ${what}`, ...step }));
}

async function setUpSamples({ storage }: Config): Promise<Finding[]> {
  const settings = influxSettings(storage);
  if (settings === null)
    return [finding('influx', 'storage.influx is not set: samples stay in storage.dataDir')];
  const { setUpInflux } = await import('../store/samples/influx/set-up-influx.ts');
  const steps = await setUpInflux(settings, storage.rawRetentionMs);
  return steps.map(({ what, ...step }) => ({ what: `influx ${what}`, ...step }));
}

async function examineAll(file: string, config: Config): Promise<Finding[]> {
  return [
    finding('configuration', `${file} is valid`),
    await examineCatalogue(config),
    // Permissions are examined first, because opening the stores may correct them.
    ...examineFiles(config),
    ...(await examineStores(file, config)),
    ...(await examineSignIn(file, config)),
    await examineMail(config),
    ...(await examineServer(config)),
    ...examineHistory(config),
    ...(await examineCache(config)),
    ...(await examineCluster(config)),
    ...(await examineSamples(config)),
    await examineDisk(config),
    await examinePort(config),
    await examineNames(config),
    ...(await examineControlTargets(config)),
    finding('certificates', `${rootCertificates.length} authorities are trusted`),
  ];
}

async function examineCatalogue({ catalogue }: Config): Promise<Finding> {
  try {
    const { services } = await loadCatalogue(catalogue.file);
    const missing = services.filter(({ check }) => check.caFile !== null && !existsSync(check.caFile));
    const slugs = missing.map(({ slug }) => slug).join(', ');
    const advice = slugs === '' ? null : `the caFile of ${slugs} is not there`;
    return finding('catalogue', `${services.length} services in ${catalogue.file}`, advice);
  } catch (error) {
    return finding('catalogue', messageOf(error).split('\n')[0] ?? '', `fix ${catalogue.file}`);
  }
}

async function examineStores(file: string, config: Config): Promise<Finding[]> {
  const { node } = config;
  try {
    const checks = await withRegistry(file, async (registry) => {
      // A node that only makes checks may not read other tables.
      if (node.roles.every((role) => role === 'probe'))
        return await registry.loadTargets(ALL_SHARDS, node.region);
      await registry.checkSecrets();
      return (await registry.loadServices()).map(({ service }) => service);
    });
    return [
      finding('registry', `${checks.length} services are known`),
      ...examineCredentials(config, checks),
      ...examineKinds(checks),
    ];
  } catch (error) {
    return [finding('registry', 'it cannot be opened', messageOf(error))];
  }
}

/** The kinds of checks that this machine cannot make although services have them; empty: there are none. */
function examineKinds(checks: readonly { readonly check: CheckDefinition }[]): Finding[] {
  return PROBED_KINDS.flatMap((kind) => {
    const count = checks.filter(({ check }) => check.kind === kind).length;
    const cause = count === 0 ? null : obstacleOf(kind);
    const found = `${count} services have checks of the kind ${kind}`;
    return cause === null ? [] : [finding('checks', found, describeCause({ cause }))];
  });
}

/** Returns true if this node can decrypt the credentials of checks; empty if no check has any. */
function examineCredentials(
  { secrets, storage }: Config,
  checks: readonly { readonly domain: string; readonly check: CheckDefinition }[],
): Finding[] {
  const withCredentials = checks.filter(({ check }) => check.sealed !== undefined);
  if (withCredentials.length === 0) return [];
  const key = findChecksKey(storage.dataDir, secrets);
  const unreadable = withCredentials.filter(({ domain, check }) => {
    const destination = destinationOf(check);
    return Object.entries(check.sealed ?? {}).some(
      ([setting, text]) => !openCredential(key, { domain, kind: check.kind, destination, setting }, text).ok,
    );
  });
  const found = `${withCredentials.length} checks have credentials`;
  if (unreadable.length === 0) return [finding('credentials', found)];
  const domains = unreadable.slice(0, 5).map(({ domain }) => domain);
  const some = `${domains.join(', ')}${unreadable.length > domains.length ? ', …' : ''}`;
  return [
    finding(
      'credentials',
      `${found}; those of ${some} cannot be decrypted`,
      'set secrets.checksKey to what "npx upbeat secrets checks-key" prints on a node that judges, or enter the credentials again',
    ),
  ];
}

function describeLocked(locked: readonly NamedAccount[]): Finding {
  const names = locked.slice(0, 3).map(({ id, name }) => `${name} (number ${id})`);
  return finding(
    'accounts',
    `no owner can sign in to ${locked.length === 1 ? '' : `${locked.length} accounts, such as `}${names.join(', ')}`,
    'give an owner another way in by "npx upbeat accounts reset", or link another person by "npx upbeat accounts link"',
  );
}

/** Examines the ways to sign in, and who has none; empty if the registry cannot be opened, or this node serves no pages. */
async function examineSignIn(file: string, { auth, http, node }: Config): Promise<Finding[]> {
  if (!node.roles.includes('serve')) return [];
  try {
    const { ways, locked } = await withRegistry(file, async (registry) => ({
      ways: await registry.signInWays(),
      locked: await findLockedAccounts(registry, new Set(auth.providers.map(({ id }) => id))),
    }));
    const found = [
      ...auth.providers.map(({ id, name }) => name ?? id),
      ...(ways.hasPasskeys ? ['passkeys'] : []),
      ...(ways.hasPasswords ? ['passwords'] : []),
    ];
    const nobody = 'nobody can sign in yet: "upbeat accounts setup-link" prints a link';
    const passkeys = allowsPasskeys(http.siteUrl)
      ? ''
      : '; passkeys need https and a host name in http.siteUrl';
    return [
      finding('sign-in', `${found.length === 0 ? nobody : `by ${found.join(', ')}`}${passkeys}`),
      ...(locked.length === 0 ? [] : [describeLocked(locked)]),
    ];
  } catch {
    // The finding about the registry says why.
    return [];
  }
}

async function examineMail(config: Config): Promise<Finding> {
  const server = smtpServerOf(config);
  if (server === null) return finding('e-mail', 'alerts.smtp.host is not set: no e-mail is sent');
  const { examineMailServer } = await import('../notify/mail/smtp-mailer.ts');
  const state = await examineMailServer(server);
  return finding('e-mail', state.found, state.ok ? null : state.advice);
}

/** Files of the data directory that other users can access. */
function examineFiles({ storage, secrets }: Config): Finding[] {
  const { dataDir } = storage;
  const loose = findLooseFiles(dataDir);
  const describe = ({ path, mode, wantedMode, foreignOwner }: LooseFile) =>
    mode === wantedMode ? `${path} belongs to user ${foreignOwner}` : `${path} is ${mode}`;
  const key = secrets.key === null ? `in ${keyFile(dataDir)}` : 'the setting secrets.key';
  const advice = `chown -R the folder to the user of the program, chmod 700 ${dataDir} and 600 what is in it; a start closes what it owns`;
  return [
    loose.length === 0
      ? finding('files', `${dataDir} is this user's alone`)
      : finding('files', loose.map(describe).join(', '), advice),
    finding('secrets', `their key is ${key}`),
  ];
}

/** Damage of the embedded sample store, and files that a start has moved away because of it; empty if there is none. */
function examineHistory({ storage }: Config): Finding[] {
  const { dataDir } = storage;
  const aside = existsSync(dataDir)
    ? readdirSync(dataDir).filter((name) => /\.damaged-[^-]+-\d\d-[^-]+-\d\d-[\d.]+Z$/.test(name))
    : [];
  const problem = examineSamplesFile(dataDir);
  const restore = 'put a backup in its place while the program is stopped';
  const damaged = finding(
    'history',
    `${samplesFile(dataDir)} is damaged (${problem})`,
    `${restore}; a start sets aside what is damaged and goes on without it`,
  );
  return [
    ...(problem === null ? [] : [damaged]),
    ...aside.map((name) =>
      finding('history', `${join(dataDir, name)} was damaged and is set aside`, `${restore}, then delete it`),
    ),
  ];
}

/** Empty if PostgreSQL is not used. */
async function examineServer({ storage }: Config): Promise<Finding[]> {
  const { url } = storage.postgres;
  if (url === null) return [];
  const { examinePostgres } = await import('../store/database/postgres/examine-postgres.ts');
  return (await examinePostgres(url, systemClock)).map(({ what, ...finding }) => ({
    what: `postgres ${what}`.trimEnd(),
    ...finding,
  }));
}

/** Empty if Redis is not used. */
async function examineCache({ storage }: Config): Promise<Finding[]> {
  const { url } = storage.redis;
  if (url === null) return [];
  const { examineRedis } = await import('../store/status/examine-redis.ts');
  return [{ what: 'redis', ...(await examineRedis(url, systemClock)) }];
}

async function examineSamples({ storage }: Config): Promise<Finding[]> {
  const settings = influxSettings(storage);
  if (settings === null) return [];
  const { examineInflux } = await import('../store/samples/influx/set-up-influx.ts');
  return [{ what: 'influx', ...(await examineInflux(settings)) }];
}

/** Null: samples are in the embedded store. */
function influxSettings({ influx }: Config['storage']): InfluxSettings | null {
  const { url, bucket } = influx;
  return url === null ? null : { ...influx, url: url.replace(/\/+$/, ''), bucket: bucket ?? DEFAULT_BUCKET };
}

/** Examines the cluster: whether a node has each role, and whether the clocks of the nodes agree. */
async function examineCluster(config: Config): Promise<Finding[]> {
  const { url } = config.storage.redis;
  if (url === null || !isClustered(config)) return [];
  const { readCluster } = await import('./nodes.ts');
  try {
    const { nodes, clockOffsetMs } = await readCluster(url);
    const counted = countNodesByRegion(nodes);
    const found = Object.entries(counted).map(([region, count]) => `${count} in ${region}`);
    const absent = NODE_ROLES.filter((role) => !nodes.some(({ roles }) => roles.includes(role)));
    const isIncomplete = nodes.length > 0 && absent.length > 0;
    const stopped = nodes.filter(({ checksProblem }) => checksProblem);
    const clock = describeClockOffset(clockOffsetMs);
    return [
      finding(
        'nodes',
        found.length === 0 ? 'no node is alive' : `${found.join(', ')} alive`,
        isIncomplete ? `no node has the role ${absent.join(' or ')}; start one that has it` : null,
      ),
      ...stopped.map(({ name, checksProblem }) =>
        finding(
          'checks',
          `${name} makes none: ${checksProblem}`,
          'see UpbeatChecksStopped in docs/runbook.md',
        ),
      ),
      finding(
        'node clock',
        clock ?? "agrees with Redis' clock",
        clock === null ? null : 'synchronize this machine and that of Redis by NTP',
      ),
    ];
  } catch (error) {
    return [finding('nodes', messageOf(error), 'start Redis, or correct storage.redis.url')];
  }
}

async function examineDisk({ storage }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(existsSync(storage.dataDir) ? storage.dataDir : '.');
  const free = bavail * bsize;
  const advice = free < MIN_FREE_BYTES ? 'make room, or set storage.dataDir to a larger disk' : null;
  return finding('disk', `${(free / 2 ** 30).toFixed(1)} GiB are free for ${storage.dataDir}`, advice);
}

async function examinePort({ http }: Config): Promise<Finding> {
  const server = createServer();
  const problem = await once(server.listen(http.port, http.host), 'listening').then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  server.close();
  if (problem === null) return finding('port', `${http.host}:${http.port} is free`);
  const isRunning = problem === 'EADDRINUSE' && (await answersHealth(http.port));
  if (isRunning) return finding('port', 'Upbeat is serving');
  return finding('port', `${problem} on ${http.port}`, 'choose another http.port');
}

async function answersHealth(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, {
    signal: AbortSignal.timeout(2_000),
  }).catch(() => null);
  return answer !== null && /"status":"ok"/.test(await answer.text());
}

async function examineNames({ checks }: Config): Promise<Finding> {
  const { nameservers } = checks;
  const servers = createServerList(nameservers, systemClock)().join(', ');
  const [answer] = await queryNameServers('one.one.one.one', ['A'], { nameservers, timeoutMs: 5_000 });
  if (answer?.kind === 'records') return finding('names', `${servers} answers`);
  const advice = 'see /etc/resolv.conf, or name working servers in checks.nameservers';
  return finding('names', `${servers}: ${answer?.code}`, advice);
}

/** Requests each control target separately. Their Date headers show whether the clock of this machine is right. */
async function examineControlTargets({ checks, http }: Config): Promise<Finding[]> {
  const outbound = createOutbound({
    userAgent: userAgentOf(VERSION, http.siteUrl),
    nameservers: checks.nameservers,
  });
  // The operator configured these addresses, so any address is allowed.
  const policy = { allowPrivate: ['0.0.0.0/0', '::/0'], ports: checks.ports };
  const answers = await Promise.all(
    checks.controlTargets.map((url) =>
      outbound.request({ url, timeoutMs: 3_000, maxBodyBytes: 65_536, policy }),
    ),
  );
  outbound.close();
  const answered = answers.filter(({ status }) => status !== 0);
  const isOffline = answered.length === 0 && answers.length > 0;
  const offline =
    'this machine is offline: nothing is called down, and nothing is checked, until one answers';
  const found = `${answered.length} of ${answers.length} control targets answer`;
  const outgoing = finding('outgoing', found, isOffline ? offline : null);
  const offset = Math.abs(systemClock.now() - Date.parse(String(answered[0]?.headers.date ?? '')));
  if (Number.isNaN(offset)) return [outgoing];
  const clockAdvice = offset > MAX_LOCAL_CLOCK_OFFSET_MS ? 'set the clock (NTP)' : null;
  return [
    outgoing,
    finding('clock', `${(offset / 1_000).toFixed(1)} s from a control target's`, clockAdvice),
  ];
}
