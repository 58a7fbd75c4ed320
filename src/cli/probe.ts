/** `upbeat probe`: makes one check and prints its phases. */
import { existsSync } from 'node:fs';
import { viewLatestCheck } from '../api/service-view.ts';
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { type CheckTarget, timingOf } from '../domain/check-target.ts';
import { formatTime } from '../domain/durations.ts';
import { describeCause } from '../domain/failure.ts';
import { readHostName } from '../domain/host-name.ts';
import { describeHostNameProblem } from '../domain/input-problem.ts';
import { type Attempt, NO_MEMORY, type SuspectReason } from '../domain/result.ts';
import { type CheckDefinition, DEFAULT_CHECK, type ProbedKind, type Service } from '../domain/service.ts';
import { judgeAttempt, latestCheckOf } from '../domain/status/judge.ts';
import type { Verdict } from '../domain/status.ts';
import { messageOf } from '../error.ts';
import { queryControlTargets } from '../outbound/control-targets.ts';
import { createProber, type Prober } from '../probe/prober.ts';
import type { NewService } from '../store/ports/services.ts';
import { findChecksKey } from '../store/secrets/secret-box.ts';
import { registryFile } from '../store/sqlite/private-files.ts';
import { VERSION } from '../version.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { readConfig, withRegistry } from './open-stores.ts';
import { printJson, printNote, printText, whileWaiting } from './output.ts';

/** Timeout of the control targets, as in the engine. */
const CONTROL_TIMEOUT_MS = 3_000;

/**
 * Checks a domain once and prints what happened. Ends with status 1 if the service is down or its status cannot be
 * determined. `kind` undefined: as the catalogue or the owner has it.
 */
export async function probeDomain(
  domainText: string,
  { config: file, json = false, kind }: CommonOptions & { kind?: ProbedKind },
): Promise<void> {
  const config = readConfig(file);
  const listed = [...(await readListed(config.catalogue.file)), ...(await readOwned(file, config))];
  const wanted = whatToProbe(domainText, kind, listed);
  const { domain } = wanted;
  const prober = openProber(config, 1);
  try {
    const { attempt: made, verdict } = await whileWaiting(`checking ${domain}`, () =>
      checkOnce(prober, config, wanted, 0),
    );
    const attempt = (await isOffline(made, config)) ? { ...made, suspect: 'offline' as const } : made;
    if (json) printJson(viewAttempt(wanted, verdict, attempt));
    else printText(describeAttempt(domain, verdict, attempt));
    if (verdict === 'down' || attempt.suspect !== null) process.exitCode = 1;
  } finally {
    await prober.close();
  }
}

/** Returns true if an attempt got no response because this machine is offline, so that no control target responds either. */
async function isOffline(
  { failure, answered }: Attempt,
  { checks: { controlTargets, nameservers } }: Config,
): Promise<boolean> {
  if (failure === null || answered || controlTargets.length === 0) return false;
  return !(await queryControlTargets(controlTargets, CONTROL_TIMEOUT_MS, { nameservers }));
}

/** The catalogue; empty if its file cannot be read. */
async function readListed(file: string): Promise<readonly NewService[]> {
  try {
    return (await loadCatalogue(file)).services;
  } catch {
    return [];
  }
}

/** The services of owners that are checked; empty if there is no registry yet, or it cannot be read, which is said. */
async function readOwned(file: string, { storage }: Config): Promise<readonly ListedCheck[]> {
  if (storage.postgres.url === null && !existsSync(registryFile(storage.dataDir))) return [];
  try {
    const states = await withRegistry(file, (registry) => registry.loadServices());
    return states.flatMap(({ service }) =>
      service.origin === 'owner' && service.check.kind !== 'heartbeat' ? [service] : [],
    );
  } catch (error) {
    printNote(`the services of owners cannot be read: ${messageOf(error)}`);
    return [];
  }
}

/**
 * The check that the engine would make for a domain, or for the slug of a service: that of its catalogue entry, else of the service
 * of an owner, if there is one of the same `kind`, else one of the domain itself. Throws {@link CommandError} if the name is not a host name.
 */
export function whatToProbe(
  domainText: string,
  kind: ProbedKind | undefined,
  listed: readonly ListedCheck[],
): OneCheck {
  const name = domainText.trim().toLowerCase();
  const isMeant = ({ check }: ListedCheck) => kind === undefined || kind === check.kind;
  const entry =
    listed.find((one) => one.domain === name && one.isFurther !== true && isMeant(one)) ??
    listed.find((one) => (one.domain === name || one.slug === name) && isMeant(one));
  if (entry !== undefined) {
    const { domain, check, origin = 'catalogue', accountId = null } = entry;
    return { domain, origin, check, ...(accountId === null ? {} : { accountId }) };
  }
  const reading = readHostName(domainText);
  if (!reading.ok)
    throw new CommandError(`domain "${domainText}" ${describeHostNameProblem(reading.problem)}`);
  return { domain: reading.domain, origin: 'catalogue', check: { kind: kind ?? 'root' } };
}

/** The attempt with the members of the API's `latest_check`; the status of a suspect attempt is `unknown`. */
function viewAttempt({ domain, check }: OneCheck, verdict: Verdict, attempt: Attempt): object {
  const { suspect, retryAfterMs } = attempt;
  const view = viewLatestCheck(latestCheckOf(attempt, verdict), check);
  return {
    domain,
    ...view,
    status: suspect === null ? verdict : 'unknown',
    retry_after_ms: retryAfterMs,
    suspect,
  };
}

/** Why an attempt does not count. */
const SUSPECT_TEXTS: Readonly<Record<SuspectReason, string>> = {
  offline: 'not judged: this machine seems to be offline, no control target answers',
  own_fault: 'not judged, as the fault may be ours',
  loop_late: 'not judged, as this machine was too busy to see the answer in time',
};

function describeAttempt(domain: string, verdict: Verdict, attempt: Attempt): string {
  const { timing, failure, answered, statusCode, responseTimeMs, certificateExpiresAt } = attempt;
  const { suspect, blocked, via } = attempt;
  const phases = [
    ['name', timing.dnsMs],
    ['connect', timing.connectMs],
    ['TLS', timing.tlsMs],
    ['first byte', timing.firstByteMs],
    ['total', timing.totalMs],
  ] as const;
  const lines = phases.map(
    ([name, ms]) => `  ${name.padEnd(12)}${ms === null ? '-' : `${ms.toFixed(1)} ms`}`,
  );
  const said = failure === null ? '' : `: ${failure.class} in ${failure.phase}: ${describeCause(failure)}`;
  return [
    `${domain} is ${suspect === null ? verdict : SUSPECT_TEXTS[suspect]}${said}`,
    `  ${'asked'.padEnd(12)}${via}${blocked ? ' (a bot wall answered)' : ''}`,
    `  ${'answer'.padEnd(12)}${statusCode !== 0 ? `HTTP ${statusCode}` : answered ? 'arrived' : 'none'}${responseTimeMs === null ? '' : ` in ${responseTimeMs} ms`}`,
    ...lines,
    ...(certificateExpiresAt === null
      ? []
      : [`  ${'certificate'.padEnd(12)}until ${formatTime(certificateExpiresAt)}`]),
  ].join('\n');
}

/** Opens the prober with the settings of the engine. */
export function openProber({ checks, http, storage, secrets }: Config, concurrency: number): Prober {
  const settings = {
    version: VERSION,
    siteUrl: http.siteUrl,
    allowPrivate: checks.allowPrivate,
    trustedPrivate: checks.trustedPrivate,
    ports: checks.ports,
    nameservers: checks.nameservers,
    ownersMayProbePrivate: checks.ownersMayProbePrivate,
    checksKey: findChecksKey(storage.dataDir, secrets),
    concurrency,
  };
  return createProber(settings, systemClock, {
    onForbidden: ({ host, refusal }) => printNote(`${host}: ${describeCause({ cause: refusal })}`),
  });
}

/** An entry of the catalogue, or a service of an owner. */
type ListedCheck = Pick<NewService, 'slug' | 'domain' | 'check'> &
  Partial<Pick<Service, 'origin' | 'accountId' | 'isFurther'>>;

type OneCheck = Pick<CheckTarget, 'domain' | 'origin'> &
  Partial<Pick<CheckTarget, 'accountId'>> & { readonly check: Partial<CheckDefinition> };

/** Makes one attempt without re-checks, except for one by GET if HEAD got no response. */
export async function checkOnce(
  prober: Prober,
  config: Config,
  { domain, origin, accountId = null, check }: OneCheck,
  slot: number,
): Promise<{ readonly attempt: Attempt; readonly verdict: Verdict }> {
  const target: CheckTarget = {
    serviceId: slot + 1,
    revision: 1,
    domain,
    origin,
    accountId,
    check: { ...DEFAULT_CHECK, ...check },
    memory: NO_MEMORY,
    lastCheckedAt: null,
  };
  const { timeoutMs, slowOverMs } = timingOf(check, config.checks);
  const signal = new AbortController().signal;
  const first = await prober.runAttempt(target, { timeoutMs, number: 0, slot, signal });
  const mayUseHead = target.check.kind === 'root' || target.check.kind === 'health';
  const isSilent = mayUseHead && !first.answered && first.failure?.phase === 'first_byte';
  const attempt = isSilent ? await prober.runAttempt(target, { timeoutMs, number: 1, slot, signal }) : first;
  return { attempt, verdict: judgeAttempt(attempt, slowOverMs) };
}
