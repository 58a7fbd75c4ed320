/** Certificates and keys in PEM. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** The first certificate of a text, all of which must be readable; null: there is none, or something else. */
export function readCertificate(text: string): X509Certificate | null {
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].map(
    ([pem]) => pem,
  );
  try {
    const [first = null] = blocks.map((pem) => new X509Certificate(pem));
    return text.includes('PRIVATE KEY') ? null : first;
  } catch {
    return null;
  }
}

/** A private key without a passphrase; null: it is none. */
export function readPrivateKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
}
