import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { listenOn } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { openProbe } from './try-probe.ts';

/** Serves 200, or a redirect where the path names one. */
async function serve(t: Test, host = '127.0.0.1') {
  const server = createServer((request, response) => {
    const location = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (location === null) response.writeHead(200).end();
    else response.writeHead(302, { location }).end();
  });
  const loopback = await listenOn(server, host);
  t.teardown(loopback.close);
  return { ...loopback, url: `http://${host}:${loopback.port}/` };
}

const forbidden = (detail: string | RegExp) => ({
  statusCode: 0,
  responseTimeMs: null,
  failure: { class: 'forbidden_address', phase: 'connect', detail },
  suspect: null,
});

t.test('it reaches no private address without allowPrivate, in whatever form', async (t) => {
  const probe = openProbe(t, { allowPrivate: [] });
  const { port, accepted } = await serve(t);
  for (const host of [
    '127.0.0.1',
    'localhost',
    'app.localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '0.0.0.0',
    '[::]',
  ]) {
    t.match(await probe(`http://${host}:${port}/`), forbidden(/ is not public(?: \(|$)/), host);
  }
  t.equal(accepted(), 0);
});

t.test('it judges an address that stands for the domain itself', async (t) => {
  const probe = openProbe(t, { allowPrivate: [] });
  for (const domain of ['127.0.0.1', '169.254.169.254', '0x7f.1', '2852039166']) {
    t.match(await probe(null, { domain }), forbidden(/ is not public(?: \(|$)/), domain);
  }
  t.match(await probe(null, { domain: 'not a domain' }), {
    statusCode: 0,
    failure: { class: 'protocol', detail: 'the service has an address that cannot be read' },
  });
});

t.test('it judges every hop like the first', async (t) => {
  const probe = openProbe(t, { allowPrivate: ['127.0.0.1/32'] });
  const other = await serve(t, '127.0.0.2');
  const { url } = await serve(t);
  const rows: readonly (readonly [string, string])[] = [
    [`http://127.0.0.2:${other.port}/`, '127.0.0.2 is not public (loopback)'],
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254 is not public (cloud metadata)'],
    ['http://[fd00:ec2::254]/', 'fd00:ec2::254 is not public (cloud metadata)'],
    ['http://100.100.100.200/', '100.100.100.200 is not public (cloud metadata)'],
    ['//0xa9fea9fe/', '169.254.169.254 is not public (cloud metadata)'],
    ['http://10.0.0.1/', '10.0.0.1 is not public (private)'],
    ['http://1.1.1.1:22/', 'port 22 may not be probed'],
  ];
  for (const [to, detail] of rows) {
    t.match(await probe(`${url}?to=${encodeURIComponent(to)}`), forbidden(detail), to);
  }
  t.match(await probe(`${url}?to=${encodeURIComponent('/?to=/')}`), { statusCode: 200, failure: null });
  t.equal(other.accepted(), 0);
});

t.test('it allows owners no private block and no port of their own', async (t) => {
  const probe = openProbe(t);
  const { url, accepted } = await serve(t);
  t.match(await probe(url, { origin: 'owner' }), forbidden('127.0.0.1 is not public (loopback)'));
  t.match(await probe('http://1.1.1.1:8080/', { origin: 'owner' }), forbidden('port 8080 may not be probed'));
  t.equal(accepted(), 0);
  t.match(await probe(url, { origin: 'catalogue' }), { statusCode: 200, failure: null });
});

t.test('it allows owners the private blocks where ownersMayProbePrivate says so', async (t) => {
  const probe = openProbe(t, { ownersMayProbePrivate: true });
  const { url } = await serve(t);
  t.match(await probe(url, { origin: 'owner' }), { statusCode: 200, failure: null });
  t.match(await probe('http://10.0.0.1/', { origin: 'owner' }), forbidden(/private/));
});

t.test('it is not moved by a name server that changes its mind', async (t) => {
  const { port, accepted } = await serve(t);
  let asked = 0;
  const names = await startNameServer(({ type }) => {
    if (type !== 'A') return { code: 0 };
    asked++;
    // First an address that looks harmless, then the one that is meant; no answer may be kept.
    return { addresses: [asked % 2 === 1 ? '127.0.0.9' : '127.0.0.1'], ttl: 0 };
  });
  t.teardown(names.close);
  // 127.0.0.9 plays the public address: it is allowed here, and nothing else is.
  const probe = openProbe(t, {
    allowPrivate: ['127.0.0.9/32'],
    nameservers: [names.address],
    hostsFile: '/nowhere',
  });
  const url = `http://rebind.example:${port}/`;
  t.match(await probe(url), { failure: { class: 'refused' } });
  for (let n = 0; n < 6; n++) {
    const attempt = await probe(url);
    t.match(attempt.failure?.class, asked % 2 === 1 ? 'refused' : 'forbidden_address');
  }
  t.equal(accepted(), 0);
  t.equal(asked, 7);
});

t.test('it resolves anew at a redirect to the same name, and judges what it then is', async (t) => {
  let asked = 0;
  const names = await startNameServer(({ type }) => {
    if (type !== 'A') return { code: 0 };
    return { addresses: [asked++ === 0 ? '127.0.0.9' : '127.0.0.1'], ttl: 0 };
  });
  t.teardown(names.close);
  const first = await serve(t, '127.0.0.9');
  const inner = await serve(t);
  const probe = openProbe(t, {
    allowPrivate: ['127.0.0.9/32'],
    nameservers: [names.address],
    hostsFile: '/nowhere',
  });
  const to = encodeURIComponent(`http://rebind.example:${inner.port}/`);
  t.match(
    await probe(`http://rebind.example:${first.port}/?to=${to}`),
    forbidden('the name leads to an address that is not public'),
  );
  t.equal(first.accepted(), 1);
  t.equal(inner.accepted(), 0);
});

t.test('it measures the resolution of a name, and asks anew at a re-check', async (t) => {
  const names = await startNameServer(() => ({ addresses: ['127.0.0.1'] }));
  t.teardown(names.close);
  const { port } = await serve(t);
  const probe = openProbe(t, { nameservers: [names.address], hostsFile: '/nowhere' });
  const url = `http://named.example:${port}/`;
  const asked = () => names.questions.filter(({ type }) => type === 'A').length;
  const first = await probe(url);
  t.ok((first.timing.dnsMs ?? 0) > 0);
  t.ok((first.timing.totalMs ?? 0) >= (first.timing.dnsMs ?? 0));
  t.equal((await probe(url)).timing.dnsMs, null);
  t.equal(asked(), 1);
  t.ok(((await probe(url, { number: 1 })).timing.dnsMs ?? 0) > 0);
  t.equal(asked(), 2);
});
