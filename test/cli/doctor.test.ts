/** `upbeat doctor`: what it prints. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { startMailServer } from '../support/mail-server.ts';
import { install } from '../support/program.ts';

t.setTimeout(300_000);

t.test('it prints no user and no password of an address', async (t) => {
  // Whatever it is asked, there is nothing.
  const influx = createServer((_request, response) => response.end('{"results":[{}]}')).listen(
    0,
    '127.0.0.1',
  );
  await once(influx, 'listening');
  t.teardown(() => influx.close());
  const { port } = influx.address() as AddressInfo;
  const mail = await startMailServer({ tls: 'none', auth: { user: 'upbeat', password: 's3cret' } });
  t.teardown(() => mail.close());
  const smtp = { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'upbeat@example.org' };
  const installation = await install([], {
    alerts: { smtp: { ...smtp, user: 'upbeat', password: 's3cret-too' } },
    storage: { influx: { url: `http://upbeat:s3cret@127.0.0.1:${port}`, bucket: 'upbeat', api: 'v1' } },
    checks: { controlTargets: [] },
  });
  t.teardown(() => installation.remove());
  // The configuration has no provider any more.
  await installation.withRegistry(async (registry) => {
    await registry.ensureAccount('ops', 1);
    await registry.ensureIdentity({ provider: 'github', subject: '42', name: 'ada' }, 1);
  });
  for (const option of [[], ['--json']]) {
    const { stdout, stderr } = await installation.run('doctor', ...option);
    t.match(stdout, `http://***@127.0.0.1:${port}`);
    t.notMatch(stdout + stderr, /s3cret|upbeat:/);
    t.match(
      stdout,
      /no owner can sign in to ada \(number 2\)/,
      'and tells of accounts that are out of reach',
    );
    t.match(
      stdout,
      /127\.0\.0\.1:\d+: 535 .*correct alerts\.smtp\.user and alerts\.smtp\.password/s,
      'and what is wrong with the mail server',
    );
  }
});
