/** Formats of settings of checks that are text: what each accepts, and an example for messages. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isExpression, readAssertion } from './assertions.ts';

interface SettingFormat {
  readonly accepts: (text: string) => boolean;
  readonly example: string;
}

/** Headers that the program sends itself. */
const RESERVED_HEADERS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect'],
  'proxy-authorization',
]);
/** Headers that carry credentials: only settings that are encrypted may have them. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie']);

/** Headers whose names say that they carry a credential. */
const CREDENTIAL_NAME = /auth|cookie|token|secret|key|pass|session|credential/i;

/** Returns true if the name of a header, or of the header of a line, says that it carries a credential. */
export function namesCredential(line: string): boolean {
  return CREDENTIAL_NAME.test(line.split(':', 1)[0] ?? '');
}

/** The name of a header line in lower case; null: it is no line that a check may send. */
function readHeaderName(text: string): string | null {
  const [, name = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\x20-\x7e\t]*$/.exec(text) ?? [];
  return name === '' || RESERVED_HEADERS.has(name.toLowerCase()) ? null : name.toLowerCase();
}

/** Returns true if a text is labels of a host name, joined by dots. */
function isLabels(text: string): boolean {
  return text.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}

/** A token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Formats by the name that a schema gives as `format`. */
export const SETTING_FORMATS = {
  path: { accepts: (text) => /^\/[\x21-\x7e]*$/.test(text), example: 'a path such as /login?lang=en' },
  header: {
    accepts: (text) => {
      const name = readHeaderName(text);
      return name !== null && !CREDENTIAL_HEADERS.has(name);
    },
    example: 'a header such as "Accept: text/html"; those with credentials belong to secretHeaders',
  },
  token: { accepts: (text) => TOKEN.test(text), example: 'one word such as graphql-ws' },
  expression: { accepts: isExpression, example: 'a short expression of RE2 such as ^pong' },
  'secret-header': {
    accepts: (text) => readHeaderName(text) !== null,
    example: 'a header such as "X-Api-Key: …"',
  },
  // RFC 7617, 2: no colon in the name, and no control characters.
  username: { accepts: (text) => /^[^:\p{Cc}]+$/u.test(text), example: 'a name without a colon' },
  password: { accepts: (text) => /^\P{Cc}+$/u.test(text), example: 'a password in one line' },
  'bearer-token': { accepts: (text) => /^[\x21-\x7e]+$/.test(text), example: 'a token without spaces' },
  certificate: {
    accepts: (text) => readCertificate(text) !== null,
    example: 'certificates in PEM (-----BEGIN CERTIFICATE-----)',
  },
  'certificate-rule': {
    accepts: (text) => text === 'verify' || text === 'ignore' || readCertificate(text) !== null,
    example: 'verify, ignore, or the certificate of an authority in PEM',
  },
  'private-key': {
    accepts: (text) => readPrivateKey(text) !== null,
    example: 'a private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)',
  },
  labels: { accepts: isLabels, example: 'labels of a name such as _sip._tcp' },
  host: {
    accepts: (text) => isIP(text) !== 0 || (text.includes('.') && isLabels(text)),
    example: 'an address or a host name such as ns1.example.com',
  },
  'rdap-server': {
    accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    example: 'an address such as https://rdap.example/',
  },
  assertion: {
    accepts: (text) => readAssertion(text) !== null,
    example: 'an expectation such as "body contains ok"',
  },
} satisfies Readonly<Record<string, SettingFormat>>;

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
