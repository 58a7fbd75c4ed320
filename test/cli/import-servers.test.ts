/** Imports of monitors that talk with a server by its own protocol. */
import t from 'tap';
import { readImport } from '../../src/cli/import/read-import.ts';

/** Monitors of Uptime Kuma, and the services that they become. */
const MONITORS: readonly (readonly [object, object])[] = [
  [
    {
      ...{ type: 'smtp', hostname: 'mail.example.com', port: 465, smtpSecurity: 'secure' },
      ...{ accepted_statuscodes: ['200-299'], interval: 60, maxretries: 0 },
    },
    { domain: 'mail.example.com', settings: { port: 465, security: 'tls' } },
  ],
  [
    { type: 'smtp', hostname: 'relay.example.com', port: 25 },
    { domain: 'relay.example.com', settings: { port: 25, security: 'starttls' } },
  ],
  [
    {
      ...{ type: 'postgres', databaseQuery: 'SELECT 1' },
      databaseConnectionString: 'postgres://ada:hunter%202@db.example.com:5433/orders?sslmode=require',
    },
    {
      domain: 'db.example.com',
      settings: { port: 5433, security: 'starttls', database: 'orders' },
      secrets: { username: 'ada', password: 'hunter 2', query: 'SELECT 1' },
    },
  ],
  [
    { type: 'postgres', databaseConnectionString: 'postgres://open.example.com/postgres' },
    { domain: 'open.example.com' },
  ],
  [
    {
      ...{ type: 'mysql', databaseQuery: 'SELECT 1', radiusPassword: '' },
      databaseConnectionString: 'mysql://ada:hunter2@db.example.com:3307/orders',
    },
    {
      domain: 'db.example.com',
      settings: { port: 3307, database: 'orders' },
      secrets: { username: 'ada', password: 'hunter2', query: 'SELECT 1' },
    },
  ],
  [
    { type: 'redis', databaseConnectionString: 'rediss://ada:hunter2@cache.example.com:6380' },
    {
      domain: 'cache.example.com',
      settings: { port: 6380, security: 'tls' },
      secrets: { username: 'ada', password: 'hunter2' },
    },
  ],
  [
    {
      ...{ type: 'mqtt', hostname: 'mqtts://broker.example.com', port: 8883, mqttTopic: 'house/#' },
      ...{ mqttUsername: 'ada', mqttPassword: 'hunter2', mqttSuccessMessage: 'ok', mqttCheckType: 'keyword' },
    },
    {
      domain: 'broker.example.com',
      settings: { port: 8883, security: 'tls', topic: 'house/#', contains: 'ok' },
      secrets: { username: 'ada', password: 'hunter2' },
    },
  ],
  [
    { type: 'mqtt', hostname: 'broker.example.org', mqttTopic: 'house', mqttSuccessMessage: '' },
    { domain: 'broker.example.org', settings: { topic: 'house', matches: '^' } },
  ],
  [
    { type: 'mongodb', databaseConnectionString: 'mongodb://db.example.org:27018/?tls=true' },
    { domain: 'db.example.org', settings: { port: 27_018, security: 'tls' } },
  ],
];

t.test("it reads Uptime Kuma's monitors of servers", async (t) => {
  const monitorList = MONITORS.map(([monitor]) => ({ name: 'One', ...monitor }));
  const { services, skipped, notCarried } = readImport(JSON.stringify({ monitorList }), 'kuma.json');
  t.same(
    services.map(({ domain, kind, settings, secrets }) => ({ domain, kind, settings, secrets })),
    MONITORS.map(([monitor, expected]) => ({
      kind: Object(monitor).type,
      settings: null,
      secrets: null,
      ...expected,
    })),
  );
  t.same([skipped, notCarried], [[], []]);
});
