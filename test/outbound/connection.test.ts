import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { createIdentityReader } from '../../src/outbound/connection.ts';
import { makeCertificate } from '../support/certificates.ts';

const notAfter = new Date(Date.UTC(2056, 0, 1));
const FOREIGN = {
  expiresAt: notAfter.getTime(),
  intermediate: null,
  problem: 'ERR_TLS_CERT_ALTNAME_INVALID',
};
const OWN = { expiresAt: notAfter.getTime(), intermediate: null, problem: null };

/** A certificate that counts how often it is read. */
function counted(...names: string[]) {
  const certificate = new X509Certificate(makeCertificate({ names, notAfter }).cert);
  let readings = 0;
  const toLegacyObject = certificate.toLegacyObject.bind(certificate);
  certificate.toLegacyObject = () => {
    readings++;
    return toLegacyObject();
  };
  return { certificate, readings: () => readings };
}

t.test('it tells whether a certificate is for a host, by name, wildcard or address', async (t) => {
  const { certificate } = counted('one.example', '*.two.example', '192.0.2.1');
  const identify = createIdentityReader(() => false);
  for (const host of ['one.example', 'a.two.example', '192.0.2.1'])
    t.same(identify(host, certificate), OWN, host);
  for (const host of ['www.one.example', 'two.example', 'a.b.two.example', '192.0.2.2'])
    t.same(identify(host, certificate), FOREIGN, host);
});

t.test('it reads a certificate once for each host', async (t) => {
  const identify = createIdentityReader(() => false);
  const { certificate, readings } = counted('one.example');
  for (let n = 0; n < 3; n++) t.same(identify('one.example', certificate), OWN);
  t.equal(readings(), 1);
  for (let n = 0; n < 3; n++) t.same(identify('two.example', certificate), FOREIGN);
  t.equal(readings(), 2);
  const other = counted('two.example');
  t.same(identify('two.example', other.certificate), OWN);
  t.same(identify('one.example', other.certificate), FOREIGN);
  t.equal(other.readings(), 2);
});
