import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CERTIFICATE_FOLDER, makeCertificate, TEST_CA_FILE } from '../support/certificates.ts';

const authority = new X509Certificate(readFileSync(TEST_CA_FILE));

t.test('it signs certificates with the test authority', async (t) => {
  const notAfter = new Date('2051-06-01T12:00:00Z');
  const { cert } = makeCertificate({ names: ['a.demo.test', '127.0.0.1', '::1'], notAfter });
  const made = new X509Certificate(cert);
  t.same(
    {
      signed: made.verify(authority.publicKey),
      issued: made.checkIssued(authority),
      subject: made.subject,
      names: made.subjectAltName,
      notAfter: made.validToDate.toISOString(),
      forName: made.checkHost('a.demo.test'),
      forAddress: made.checkIP('::1'),
    },
    {
      signed: true,
      issued: true,
      subject: 'CN=a.demo.test',
      names: 'DNS:a.demo.test, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
      notAfter: notAfter.toISOString(),
      forName: 'a.demo.test',
      forAddress: '::1',
    },
  );
});

t.test('it has committed certificates that live for decades, and their bad kinds', async (t) => {
  const read = (name: string) => new X509Certificate(readFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`)));
  t.ok(authority.validToDate.getTime() > Date.UTC(2055, 0, 1));
  t.ok(read('localhost').verify(authority.publicKey));
  t.equal(read('localhost').checkHost('up.demo.test'), '*.demo.test');
  t.ok(read('expired').validToDate.getTime() < Date.UTC(2026, 0, 1));
  t.equal(read('wrong-name').checkHost('localhost'), undefined);
  t.notOk(read('self-signed').verify(authority.publicKey));
});
