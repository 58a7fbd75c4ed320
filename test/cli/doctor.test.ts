/** `upbeat doctor`: what it prints. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
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
  const installation = await install([], {
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
  }
});
