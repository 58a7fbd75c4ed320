/** Monitors of OpenStatus as services. */
import t from 'tap';
import { fixture } from './imported-fixture.ts';

t.test('it reads the monitors of OpenStatus', async (t) => {
  const { format, services, skipped, notCarried } = fixture('openstatus.yaml');
  t.equal(format, 'openstatus');
  t.same(skipped, []);
  t.match(services, [
    {
      ...{ name: 'Example API', kind: 'root', url: 'https://api.example.com/health', accept: ['2xx'] },
      ...{ method: 'GET', paused: false, visibility: 'private', choice: { intervalMs: 1_800_000 } },
    },
    {
      ...{ name: 'Example Web', kind: 'http', accept: [200], visibility: 'public' },
      settings: {
        ...{ method: 'POST', followRedirects: false, headers: ['User-Agent: OpenStatus'] },
        assertions: ['body is {"status":"ok"}', 'header X-Mode is not test'],
      },
      choice: { intervalMs: 60_000, timeoutMs: 20_000, slowOverMs: 800 },
      texts: { note: 'The web site' },
    },
    { name: 'Database', kind: 'tcp', domain: 'db.example.com', settings: { port: 5432 }, paused: true },
    {
      name: 'Teapot',
      kind: 'http',
      accept: ['4xx', '5xx', '6xx', '7xx', '8xx', '9xx'],
      settings: { assertions: ['status is not 404'] },
    },
  ]);
  t.match(
    notCarried.filter(({ field }) => field !== 'regions'),
    [
      { entry: 'Example API', field: 'retry' },
      { entry: 'Example Web', field: 'openTelemetry' },
      {
        entry: 'Example Web',
        field: 'assertions header',
        reason: 'the comparison "gt" with "10" has no equal here',
      },
    ],
  );
});
