/** Imports of monitors that talk with a server by its own protocol. */
import t from 'tap';
import { readImport } from '../../src/cli/import/read-import.ts';

t.test("it reads Uptime Kuma's monitors of servers", async (t) => {
  const monitorList = [
    {
      ...{ type: 'smtp', name: 'Mail', hostname: 'mail.example.com', port: 465, smtpSecurity: 'secure' },
      ...{ accepted_statuscodes: ['200-299'], interval: 60, maxretries: 0 },
    },
    { type: 'smtp', name: 'Relay', hostname: 'relay.example.com', port: 25 },
  ];
  const { services, skipped, notCarried } = readImport(JSON.stringify({ monitorList }), 'kuma.json');
  const simple = services.map(({ domain, kind, settings, secrets }) => ({ domain, kind, settings, secrets }));
  t.same(simple, [
    { domain: 'mail.example.com', kind: 'smtp', settings: { port: 465, security: 'tls' }, secrets: null },
    {
      domain: 'relay.example.com',
      kind: 'smtp',
      settings: { port: 25, security: 'starttls' },
      secrets: null,
    },
  ]);
  t.same([skipped, notCarried], [[], []]);
});
