/** The client certificate of a check, which some servers require: its settings, and what may be wrong with them. */
import { systemClock } from '../clock.ts';
import { Type } from '../json-schema.ts';
import type { ClientCertificate } from '../outbound/connection.ts';
import type { WrongSetting } from './check-kind.ts';
import { readCertificate, readPrivateKey } from './setting-formats.ts';

/** Maximum length of a certificate with its intermediates, characters. */
const MAX_CERTIFICATE_LENGTH = 16_384;
const MAX_KEY_LENGTH = 8_192;

/** The settings, PEM: the certificate, followed by its intermediates, and its key without a passphrase. */
export const CLIENT_CERTIFICATE_SETTINGS = {
  clientCertificate: Type.Optional(
    Type.String({ format: 'certificate', maxLength: MAX_CERTIFICATE_LENGTH, writeOnly: true }),
  ),
  clientKey: Type.Optional(
    Type.String({ format: 'private-key', maxLength: MAX_KEY_LENGTH, writeOnly: true }),
  ),
};

/** The settings with the values that are known; those that are stored encrypted are not. */
interface GivenSettings {
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly plain?: boolean;
}

/** The problem of the settings. `names`: the settings, and the credentials that are stored and stay. */
export function refuseClientCertificate(
  { clientCertificate, clientKey, plain = false }: GivenSettings,
  names: ReadonlySet<string>,
): WrongSetting[] {
  if (!names.has('clientCertificate') && !names.has('clientKey')) return [];
  if (plain) return [{ setting: 'plain', problem: { code: 'not_with', other: 'clientCertificate' } }];
  // One of them fits the other that is stored only by chance.
  if (
    (clientCertificate === undefined) !== (clientKey === undefined) ||
    names.has('clientCertificate') !== names.has('clientKey')
  )
    return clientKey === undefined
      ? [{ setting: 'clientKey', problem: { code: 'together', other: 'clientCertificate' } }]
      : [{ setting: 'clientCertificate', problem: { code: 'together', other: 'clientKey' } }];
  if (clientCertificate === undefined || clientKey === undefined) return [];
  const certificate = readCertificate(clientCertificate);
  const key = readPrivateKey(clientKey);
  // The formats have been validated.
  if (certificate === null || key === null) return [];
  if (!certificate.checkPrivateKey(key))
    return [{ setting: 'clientKey', problem: { code: 'key_of_another', other: 'clientCertificate' } }];
  const endedAt = certificate.validToDate.getTime();
  return endedAt > systemClock.now()
    ? []
    : [{ setting: 'clientCertificate', problem: { code: 'expired', endedAt } }];
}

/** The client certificate of a check; null: it has none. */
export function clientCertificateOf({
  clientCertificate,
  clientKey,
}: GivenSettings): ClientCertificate | null {
  if (clientCertificate === undefined || clientKey === undefined) return null;
  return { cert: clientCertificate, key: clientKey };
}
