/** Rules over several settings: what contradicts itself, and what an operator should know before it hurts. */
import { formatDuration } from '../domain/durations.ts';
import type { SchemaProblem } from './describe-errors.ts';
import type { Config } from './resolve-config.ts';

/** What cannot be meant. */
export function findContradictions({ storage, auth }: Config): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  if (storage.rawRetentionMs > storage.rollupRetentionMs) {
    problems.push({
      parts: ['storage', 'rollupRetention'],
      message: 'must not be shorter than storage.rawRetention',
    });
  }
  const { api, token, url } = storage.influx;
  if (url !== null && api === 'v1' && token !== null && !token.includes(':')) {
    problems.push({
      parts: ['storage', 'influx', 'token'],
      message: 'must be user:password where api is v1',
    });
  }
  auth.providers.forEach(({ id, kind, issuer }, index, all) => {
    const parts = ['auth', 'providers', String(index)];
    if (kind === 'oidc' && issuer === undefined)
      problems.push({ parts: [...parts, 'issuer'], message: 'is missing; kind oidc needs it' });
    const first = all.findIndex((other) => other.id === id);
    if (first < index)
      problems.push({
        parts: [...parts, 'id'],
        message: `"${id}" is the id of auth.providers[${first}] already`,
      });
  });
  return problems;
}

/** Something that works, but perhaps not as the operator thinks; the program says it at start and goes on. */
export interface ConfigWarning {
  readonly path: string;
  readonly message: string;
}

/** Finds settings that are valid but probably not intended. */
export function findWarnings({ http, checks, storage }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const everyone = http.trustedProxies.find((block) => block.endsWith('/0'));
  if (everyone !== undefined) {
    warnings.push({
      path: 'http.trustedProxies',
      message: `${everyone} trusts every client: any client can choose the address that rate limits count`,
    });
  }
  const { timeoutMs, confirmAfterMs, intervalMs } = checks;
  const maxMs = timeoutMs * (confirmAfterMs.length + 1) + confirmAfterMs.reduce((sum, ms) => sum + ms, 0);
  if (maxMs > intervalMs) {
    warnings.push({
      path: 'checks.interval',
      message: `a check that fails can last ${formatDuration(maxMs)} with its re-checks, longer than the interval of ${formatDuration(intervalMs)}; the service is then checked less often`,
    });
  }
  if (checks.slowOverMs >= timeoutMs) {
    warnings.push({
      path: 'checks.slowOver',
      message: 'is not shorter than checks.timeout; nothing is ever slow',
    });
  }
  const { url, api, org } = storage.influx;
  if (url !== null && api === 'v2' && org === null) {
    warnings.push({
      path: 'storage.influx.org',
      message:
        'is not set; InfluxDB 2 takes no samples without it (InfluxDB 1.8 and VictoriaMetrics need none): run upbeat doctor',
    });
  }
  if (checks.ownersMayProbePrivate) {
    warnings.push({
      path: 'checks.ownersMayProbePrivate',
      message: 'lets the services of owners reach private addresses; it is meant for tests only',
    });
  }
  return warnings;
}
