import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import t from 'tap';
import { queryControlTargets } from '../../src/outbound/control-targets.ts';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { type Loopback, listenOn, listenRaw, until } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';

const urlOf = ({ port }: Loopback) => `http://127.0.0.1:${port}/`;
const answering = (text: string) => listenRaw((socket) => void socket.once('data', () => socket.end(text)));

t.test('it holds any HTTP answer for a sign of being online, on any address', async (t) => {
  for (const status of ['200 OK', '302 Found\r\nlocation: http://10.0.0.1/', '404 Not Found', '503 Busy']) {
    const server = await answering(`HTTP/1.1 ${status}\r\n\r\n`);
    t.teardown(server.close);
    t.equal(await queryControlTargets([urlOf(server)], 20_000), true, status);
    t.equal(server.accepted(), 1);
  }
});

t.test('it does not mind a certificate', async (t) => {
  const read = (file: string) => readFileSync(join(CERTIFICATE_FOLDER, file));
  const expired = { cert: read('expired.pem'), key: read('expired-key.pem') };
  const server = await listenOn(createServer(expired, (_, response) => response.writeHead(204).end()));
  t.teardown(server.close);
  t.equal(await queryControlTargets([`https://127.0.0.1:${server.port}/`], 20_000), true);
});

t.test('it returns true at the first response and aborts the other requests', async (t) => {
  const hole = await listenRaw((socket) => void socket.resume());
  const good = await answering('HTTP/1.1 204 No Content\r\n\r\n');
  t.teardown(() => Promise.all([hole.close(), good.close()]));
  const startedAt = performance.now();
  t.equal(await queryControlTargets([urlOf(hole), urlOf(good), urlOf(hole)], 20_000), true);
  t.ok(performance.now() - startedAt < 15_000);
  await until(() => hole.open() === 0);
});

t.test('it says no where none answers in time', async (t) => {
  const hole = await listenRaw((socket) => void socket.resume());
  const rubbish = await answering('rubbish');
  const closed = await listenRaw(() => {});
  await closed.close();
  t.teardown(() => Promise.all([hole.close(), rubbish.close()]));
  t.equal(await queryControlTargets([urlOf(hole), urlOf(closed), urlOf(rubbish)], 300), false);
  await until(() => hole.open() === 0);
});

t.test(
  'it says no at once where all have failed, where the list is empty, or holds no address',
  async (t) => {
    const closed = await listenRaw(() => {});
    await closed.close();
    t.equal(await queryControlTargets([urlOf(closed), urlOf(closed)]), false);
    t.equal(await queryControlTargets([]), false);
    t.equal(await queryControlTargets(['ftp://127.0.0.1/', 'no address']), false);
  },
);

t.test('it asks the name servers it is given', async (t) => {
  const names = await startNameServer(() => ({ addresses: ['127.0.0.1'] }));
  const server = await answering('HTTP/1.1 200 OK\r\n\r\n');
  t.teardown(() => Promise.all([names.close(), server.close()]));
  const url = `http://control.example:${server.port}/`;
  t.equal(await queryControlTargets([url], 20_000, { nameservers: [names.address] }), true);
  const deaf = await startNameServer(() => 'silence');
  t.teardown(deaf.close);
  t.equal(await queryControlTargets([url], 300, { nameservers: [deaf.address] }), false);
});
