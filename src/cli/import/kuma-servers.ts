/** Monitors of Uptime Kuma that talk with a server by its own protocol. */
import type { CheckSettings, ProbedKind } from '../../domain/service.ts';
import { asText, type LostField, type Row } from './listed-service.ts';

/** The check of such a monitor. */
export interface KumaServer {
  readonly kind: ProbedKind;
  readonly host: string | null;
  readonly settings: CheckSettings;
  readonly lost: readonly LostField[];
  /** Fields that have become settings, or say nothing more. */
  readonly imported: readonly string[];
}

const SMTP_SECURITY: ReadonlyMap<string, string> = new Map([
  ['secure', 'tls'],
  ['starttls', 'starttls'],
  ['nostarttls', 'plain'],
]);

const READERS: ReadonlyMap<string, (row: Row) => KumaServer> = new Map([
  [
    'smtp',
    (row: Row) => ({
      kind: 'smtp',
      host: asText(row.hostname),
      settings: {
        ...portOf(row.port),
        // Kuma speaks TLS where the server offers it.
        security: SMTP_SECURITY.get(asText(row.smtpSecurity) ?? '') ?? 'starttls',
      },
      lost: [],
      imported: ['smtpSecurity'],
    }),
  ],
]);

/** The check of a monitor of one of these types; null: it is of another type. */
export function readKumaServer(type: string, row: Row): KumaServer | null {
  return READERS.get(type)?.(row) ?? null;
}

function portOf(value: unknown): { readonly port?: number } {
  const port = Number(value);
  return Number.isSafeInteger(port) && port > 0 ? { port } : {};
}
