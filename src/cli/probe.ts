/** `upbeat probe`: one check now, told phase by phase. */
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { formatTime } from '../domain/durations.ts';
import { readHostName } from '../domain/host-name.ts';
import type { Attempt } from '../domain/result.ts';
import type { Verdict } from '../domain/status.ts';
import type { NewService } from '../store/ports/registry.ts';
import type { CommonOptions } from './commands.ts';
import { checkOnce, type OneCheck, openProber } from './one-check.ts';
import { readConfig } from './open-stores.ts';
import { CommandError } from './services.ts';

/**
 * Checks a domain once and prints what happened. A service that is down ends with status 1. `kind` undefined: as the
 * catalogue has it.
 */
export async function probeDomain(
  domainText: string,
  { config: file, json = false, kind }: CommonOptions & { kind?: 'root' | 'health' },
): Promise<void> {
  const config = readConfig(file);
  const wanted = whatToProbe(domainText, kind, await readListed(config.catalogue.file));
  const { domain } = wanted;
  const prober = openProber(config, 1);
  try {
    const { attempt, verdict } = await checkOnce(prober, config, wanted, 0);
    if (json) console.log(JSON.stringify({ domain, status: verdict, ...viewAttempt(attempt) }, null, 2));
    else console.log(describeAttempt(domain, verdict, attempt));
    if (verdict === 'down') process.exitCode = 1;
  } finally {
    await prober.close();
  }
}

/** The public list; without a readable file there is none, and the domain is asked as any other. */
async function readListed(file: string): Promise<readonly NewService[]> {
  try {
    return (await loadCatalogue(file)).services;
  } catch {
    return [];
  }
}

/**
 * What the engine would ask for a domain: the check of its catalogue entry, where it has one, else its root. Another
 * `kind` than the entry's is asked at the domain itself. Throws {@link CommandError} for a name that is no host name.
 */
export function whatToProbe(
  domainText: string,
  kind: 'root' | 'health' | undefined,
  listed: readonly NewService[],
): OneCheck {
  const entry = listed.find(({ domain }) => domain === domainText.trim().toLowerCase());
  if (entry !== undefined && (kind === undefined || kind === entry.check.kind))
    return { domain: entry.domain, origin: 'catalogue', check: entry.check };
  const reading = readHostName(domainText);
  if (!reading.ok) throw new CommandError(`domain "${domainText}" ${reading.problem}`);
  return { domain: reading.domain, origin: 'catalogue', check: { kind: kind ?? 'root' } };
}

function viewAttempt({ memory: _memory, startedAt, certificateExpiresAt, ...rest }: Attempt): object {
  const expires = certificateExpiresAt === null ? null : formatTime(certificateExpiresAt);
  return { checkedAt: formatTime(startedAt), certificateExpires: expires, ...rest };
}

/** The attempt as lines for people. */
export function describeAttempt(domain: string, verdict: Verdict, attempt: Attempt): string {
  const { timing, failure, statusCode, responseTimeMs, certificateExpiresAt, suspect, blocked, via } =
    attempt;
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
  const said = failure === null ? '' : `: ${failure.class} in ${failure.phase}: ${failure.detail}`;
  return [
    `${domain} is ${suspect === null ? verdict : 'not judged, as the fault may be ours'}${said}`,
    `  ${'asked'.padEnd(12)}${via}${blocked ? ' (a bot wall answered)' : ''}`,
    `  ${'answer'.padEnd(12)}${statusCode === 0 ? 'none' : `HTTP ${statusCode}`}${responseTimeMs === null ? '' : ` in ${responseTimeMs} ms`}`,
    ...lines,
    ...(certificateExpiresAt === null
      ? []
      : [`  ${'certificate'.padEnd(12)}until ${formatTime(certificateExpiresAt)}`]),
  ].join('\n');
}
