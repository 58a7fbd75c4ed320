/** Channels by the command line and by forms, against the program and a receiver of webhooks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { install } from '../support/program.ts';

t.setTimeout(120_000);

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const received: { readonly headers: object; readonly body: string }[] = [];
let status = 204;
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    received.push({ headers: request.headers, body });
    response.writeHead(status).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
t.teardown(() => receiver.close());
const { port } = receiver.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/alerts`;

const installation = await install([], {
  checks: { controlTargets: [], allowPrivate: ['127.0.0.0/8'], ownersMayProbePrivate: true, ports: [port] },
});
t.teardown(() => installation.remove());
const program = await installation.start();
t.teardown(() => program.killHard());
const run = installation.runHere;

t.test('the command line adds, lists, tests and removes channels', async (t) => {
  const ada = ['--account', 'ada'];
  const settings = ['--setting', `url=${url}`, '--setting', `secret=${SECRET}`];
  const add = (...more: string[]) =>
    run('channels', 'add', ...ada, '--name', 'Ops', '--kind', 'webhook', ...more);
  t.match(await add('--setting', `url=${url}`), { status: 2, stderr: /secret is missing/ });
  t.match(await run('channels', 'add', ...ada, '--name', 'x', '--kind', 'pigeon'), { status: 2 });
  t.match(await add(...settings), { status: 0, stdout: '1\n' });
  t.match(await add(...settings), { status: 1, stderr: /has a channel named Ops already/ });
  t.match(await run('channels', 'test', '1', ...ada), { status: 0, stderr: /delivered/ });
  t.match(JSON.parse(received[0]?.body ?? ''), { data: { type: 'test' } });
  const listed = await run('channels', 'list', ...ada, '--json');
  t.match(JSON.parse(listed.stdout), [
    { id: 1, name: 'Ops', kind: 'webhook', confirmed: true, last: 'test' },
  ]);
  t.notMatch(listed.stdout, SECRET);
  status = 410;
  t.match(await run('channels', 'test', '1', ...ada), { status: 1, stderr: /the test is failed: .*410/ });
  status = 204;
  t.match(await run('rules', 'list', ...ada, '--json'), { status: 0, stdout: '[]\n' });
  t.match(await run('channels', 'test', '9', ...ada), { status: 1, stderr: /no channel 9/ });
});

t.test('the form of a test shows the answer of the receiver', async (t) => {
  const person = await installation.withRegistry(async (registry) => {
    const { id } = await registry.ensureAccount('ada', Date.now());
    const identity = { provider: 'acme', subject: '1', name: 'Ada' };
    const { id: personId } = await registry.linkIdentity(id, identity, Date.now());
    const sessions = createSessions({ registry, clock: systemClock });
    const { token } = await sessions.open(personId);
    return {
      cookie: `${createSiteCookie(installation.siteUrl).name}=${token}`,
      token: (await sessions.find(token))?.formToken ?? '',
    };
  });
  const send = (action: string, fields: Record<string, string> = {}) =>
    fetch(`${installation.siteUrl}/dashboard/channels/1/${action}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: person.cookie },
      body: new URLSearchParams({ token: person.token, ...fields }),
    });
  t.match(await (await send('test')).text(), /The test was delivered\./);
  status = 404;
  t.match(await (await send('test')).text(), /The test failed: HTTP 404/);
  t.equal(
    (await send('remove', { revision: '1', confirmed: 'yes' })).headers.get('location'),
    '/dashboard/channels',
  );
  t.match(await run('channels', 'list', '--account', 'ada', '--json'), { stdout: '[]\n' });
});
