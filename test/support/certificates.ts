/** Makes certificates for tests and the demonstration: EC P-256, signed by the test authority of `test/certs`. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP, SocketAddress } from 'node:net';
import { join } from 'node:path';
import { bits, der, integer, objectId, octets, sequence, setOf, text, time, yes } from './der.ts';

/** Folder of the committed certificates; `make.ts` there makes them anew. */
export const CERTIFICATE_FOLDER = join(import.meta.dirname, '../certs');

/** Path of the authority's certificate, for `check.caFile` and the `ca` option of clients. */
export const TEST_CA_FILE = join(CERTIFICATE_FOLDER, 'ca.pem');

/** A certificate and its private key, PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateOptions {
  /** DNS names (a wildcard is allowed) and IP addresses it is for; the first is its common name. */
  readonly names: readonly string[];
  /** Default: a day ago. */
  readonly notBefore?: Date;
  /** Default: a year from now. */
  readonly notAfter?: Date;
  /** A key of RSA with that many bits; default: of EC P-256. */
  readonly rsaBits?: number;
  /** Default: the test authority. */
  readonly signer?: TestAuthority;
  /** For clients instead of servers. */
  readonly client?: boolean;
  /** Signed by its own key instead of the authority's. */
  readonly selfSigned?: boolean;
}

const DAY_MS = 86_400_000;
const AUTHORITY_NAME = 'Upbeat test authority';

/** Makes a server certificate. A new key each time; takes about a millisecond. */
export function makeCertificate(options: CertificateOptions): CertificatePair {
  const { names, selfSigned = false, rsaBits, signer, client = false } = options;
  const keys =
    rsaBits === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: rsaBits });
  const commonName = names[0] ?? 'nobody';
  const cert = writeCertificate({
    subject: commonName,
    issuer: selfSigned ? commonName : (signer?.name ?? AUTHORITY_NAME),
    publicKey: keys.publicKey,
    signingKey: selfSigned
      ? keys.privateKey
      : createPrivateKey(signer?.key ?? readFileSync(join(CERTIFICATE_FOLDER, 'ca-key.pem'))),
    notBefore: options.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: options.notAfter ?? new Date(Date.now() + 365 * DAY_MS),
    extensions: [
      extension('2.5.29.17', sequence(...names.map(alternativeName))),
      extension('2.5.29.37', sequence(objectId(`1.3.6.1.5.5.7.3.${client ? 2 : 1}`))),
    ],
  });
  return { cert, key: exportKey(keys.privateKey) };
}

/** An authority of tests, which signs certificates. */
export interface TestAuthority extends CertificatePair {
  readonly name: string;
}

/** Makes an authority that is signed by another one, or by itself. */
export function makeSigner(name: string, notAfter: Date, issuer: TestAuthority | null = null): TestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({
    subject: name,
    issuer: issuer?.name ?? name,
    publicKey: keys.publicKey,
    signingKey: issuer === null ? keys.privateKey : createPrivateKey(issuer.key),
    notBefore: new Date(Date.now() - 400 * DAY_MS),
    notAfter,
    extensions: AUTHORITY_EXTENSIONS,
  });
  return { name, cert, key: exportKey(keys.privateKey) };
}

/** The certificate of an authority that another one has signed. */
export function crossSign(authority: TestAuthority, issuer: TestAuthority, notAfter: Date): string {
  return writeCertificate({
    subject: authority.name,
    issuer: issuer.name,
    publicKey: createPublicKey(createPrivateKey(authority.key)),
    signingKey: createPrivateKey(issuer.key),
    notBefore: new Date(Date.now() - 400 * DAY_MS),
    notAfter,
    extensions: AUTHORITY_EXTENSIONS,
  });
}

/** Makes the authority itself; only `test/certs/make.ts` calls it. */
export function makeAuthority(notBefore: Date, notAfter: Date): CertificatePair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({
    subject: AUTHORITY_NAME,
    issuer: AUTHORITY_NAME,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    notBefore,
    notAfter,
    extensions: AUTHORITY_EXTENSIONS,
  });
  return { cert, key: exportKey(keys.privateKey) };
}

interface CertificateContent {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Uint8Array[];
}

/** RFC 5280, 4.1: the signed part, the algorithm, the signature. */
function writeCertificate(content: CertificateContent): string {
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const signed = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(serial),
    ecdsaWithSha256,
    distinguishedName(content.issuer),
    sequence(time(content.notBefore), time(content.notAfter)),
    distinguishedName(content.subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...content.extensions)),
  );
  const whole = sequence(signed, ecdsaWithSha256, bits(sign('sha256', signed, content.signingKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string): Buffer {
  return sequence(setOf(sequence(objectId('2.5.4.3'), text(commonName))));
}

function extension(id: string, value: Uint8Array, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [yes] : []), octets(value));
}

/** GeneralName: an IP address or a DNS name. */
function alternativeName(name: string): Buffer {
  if (isIP(name) === 0) return der(0x82, Buffer.from(name, 'ascii'));
  return der(0x87, addressBytes(name));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const { address: shortest } = new SocketAddress({ address, family: 'ipv6' });
  const [head = '', tail] = shortest.split('::');
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const before = words(head);
  const after = words(tail ?? '');
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  return Buffer.from(
    [...before, ...new Array<number>(gap).fill(0), ...after].flatMap((word) => [word >> 8, word & 0xff]),
  );
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Basic constraints of an authority; its key may sign certificates and lists (keyCertSign and cRLSign). */
const AUTHORITY_EXTENSIONS = [
  extension('2.5.29.19', sequence(yes), true),
  extension('2.5.29.15', bits(Buffer.of(0x06), 1), true),
];
