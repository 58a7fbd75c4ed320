/** Kind `tls`: a TLS handshake at any port, and how long the certificate is still valid. */
import { DAY_MS } from '../domain/durations.ts';
import { type Failure, type FailureCause, failureOf, oneLine } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { Type } from '../json-schema.ts';
import { attemptOf, defineKind, PortSetting } from './check-kind.ts';
import {
  CLIENT_CERTIFICATE_SETTINGS,
  clientCertificateOf,
  connect,
  refuseClientCertificate,
  timingOf,
} from './connect.ts';

const DEFAULT_PORT = 443;

export const tlsCheck = defineKind({
  settings: Type.Object({
    port: Type.Optional(PortSetting),
    minDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 365 })),
    ...CLIENT_CERTIFICATE_SETTINGS,
  }),
  defaultPort: DEFAULT_PORT,
  destinationOf: ({ port = DEFAULT_PORT }) => `tls:${port}`,
  refuse: refuseClientCertificate,
  prepare: (tools) => async (run, settings) => {
    const { port = DEFAULT_PORT, minDays = 0 } = settings;
    const client = clientCertificateOf(settings);
    const url = `https://${hostInUrl(run.target.domain)}:${port}/`;
    const connected = await connect(tools, run, 'tls', { url, protocols: [], client });
    if ('attempt' in connected) return connected.attempt;
    const { socket, phases, startedAt } = connected;
    const timing = timingOf(phases, tools.clock.monotonic() - startedAt);
    socket.destroy();
    const { certificateExpiresAt, intermediate } = phases;
    return attemptOf(run, 'tls', {
      answered: true,
      timing,
      certificateExpiresAt,
      fault: null,
      failure: judgeExpiry(certificateExpiresAt, minDays, run.startedAt, intermediate),
      lostMs: run.deadline.lostMs,
    });
  },
});

/**
 * The failure of a certificate that is valid for fewer than `minDays` whole days; null: it is valid for long enough. `intermediate`: its
 * name if it is an intermediate.
 */
export function judgeExpiry(
  expiresAt: number | null,
  minDays: number,
  now: number,
  intermediate: string | null = null,
): Failure | null {
  if (expiresAt === null) return null;
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days >= minDays) return null;
  const cause: FailureCause =
    intermediate === null
      ? { code: 'certificate_expires_soon', days, minDays }
      : { code: 'intermediate_expires_soon', name: oneLine(intermediate), days, minDays };
  return failureOf('content', 'tls', cause);
}
