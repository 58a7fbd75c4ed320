/**
 * Makes the certificates of this folder anew: `node test/certs/make.ts`. They are for tests on loopback alone;
 * their keys are public. The authority lives for 30 years. Certificates whose dates matter are made at run time
 * by `makeCertificate` of `test/support/certificates.ts`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CERTIFICATE_FOLDER,
  type CertificatePair,
  makeAuthority,
  makeCertificate,
} from '../support/certificates.ts';

const from = new Date('2026-01-01T00:00:00Z');
const to = new Date('2056-01-01T00:00:00Z');
const loopback = ['localhost', '127.0.0.1', '::1', '*.demo.test'];

save('ca', makeAuthority(from, to));
save('localhost', makeCertificate({ names: loopback, notBefore: from, notAfter: to }));
save(
  'expired',
  makeCertificate({ names: loopback, notBefore: new Date('2025-01-01'), notAfter: new Date('2025-02-01') }),
);
save('wrong-name', makeCertificate({ names: ['somewhere-else.test'], notBefore: from, notAfter: to }));
save('self-signed', makeCertificate({ names: loopback, notBefore: from, notAfter: to, selfSigned: true }));

function save(name: string, { cert, key }: CertificatePair): void {
  writeFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`), cert);
  writeFileSync(join(CERTIFICATE_FOLDER, `${name}-key.pem`), key);
}
