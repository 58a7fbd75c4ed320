/** Monitors and heartbeats of Better Stack as services. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { documentsOf, fixture, NOW } from './imported-fixture.ts';

t.test('it reads the monitors and heartbeats of Better Stack', async (t) => {
  const reading = fixture('better-stack.json');
  t.equal(reading.format, 'better-stack');
  t.match(reading.services, [
    {
      ...{ name: 'Uptime homepage', kind: 'http', paused: false, texts: { note: 'Group: Backend services' } },
      settings: { assertions: ['body contains We call you'], headers: ['Content-Type: application/xml'] },
      choice: { intervalMs: 30_000, timeoutMs: 15_000, confirmAfterMs: [120_000] },
    },
    {
      ...{ name: 'Guard', accept: [307], settings: { followRedirects: false }, paused: true },
      choice: { intervalMs: 900_000, confirmAfterMs: [] },
    },
    { name: 'Ping', kind: 'icmp', domain: '192.0.2.4', choice: { timeoutMs: 2_000 } },
    { name: 'Mail', kind: 'smtp', settings: { port: 25, security: 'plain' } },
    { name: 'IMAP', kind: 'tcp', settings: { port: 993 } },
    { name: 'DNS', kind: 'dns', domain: 'example.com', settings: { server: '192.0.2.53' } },
    {
      ...{ name: 'Testing heartbeat', kind: 'heartbeat', periodMs: 10_800_000, graceMs: 300_000 },
      pushToken: 'abcd1234abcd1234abcd1234',
    },
  ]);
  t.match(reading.skipped, [
    { entry: 'Game', reason: 'monitors of type udp have no equal here' },
    { entry: 'Maintenance of Testing heartbeat', reason: 'its times cannot be read' },
  ]);
  t.match(documentsOf(reading), [
    {
      ...{ list: 'maintenances', title: 'Maintenance of Uptime homepage', services: ['Uptime homepage'] },
      ...{ time_zone: 'Europe/Amsterdam', starts_at: '2026-11-30T01:02', duration: '122m' },
      recurrence: /BYDAY=MO,TU/,
    },
  ]);
  t.same(
    reading.notCarried.map(({ entry, field }) => `${entry}: ${field}`),
    [
      ...['call', 'sms', 'email', 'push', 'ssl_expiration', 'domain_expiration'].map(
        (field) => `Uptime homepage: ${field}`,
      ),
      ...['Guard: regions', 'Guard: ip_version', 'Mail: port'],
      ...['url', 'email', 'push', 'team_wait', 'heartbeat_group_id'].map(
        (field) => `Testing heartbeat: ${field}`,
      ),
    ],
  );
  const table =
    'URL,Pronounceable name,Monitor type,Check frequency,Verify SSL\nhttps://a.example/,A,status,60,false\n';
  t.match(readImport(table, 'x.csv', NOW, {}).services, [
    {
      name: 'A',
      kind: 'http',
      accept: ['2xx'],
      settings: { certificate: 'ignore' },
      choice: { intervalMs: 60_000 },
    },
  ]);
});
