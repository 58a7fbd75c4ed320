/** Monitors of UptimeRobot: answers of its API in both versions, and its CSV. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { documentsOf, fixture, NOW } from './imported-fixture.ts';

t.test('it reads the monitors of UptimeRobot', async (t) => {
  const { format, services, skipped } = fixture('uptimerobot.json');
  t.equal(format, 'uptimerobot');
  const choice = { intervalMs: 300_000 };
  t.match(services, [
    {
      ...{ name: 'Main site', kind: 'http', accept: ['2xx', '3xx'], paused: false },
      ...{ settings: { headers: ['X-Source: uptimerobot'] }, choice: { ...choice, timeoutMs: 30_000 } },
    },
    {
      ...{ name: 'Status page', accept: ['2xx', '3xx', 404] },
      settings: { path: '/status', assertions: ['status is not 301', 'body lacks Error'] },
      secrets: { username: 'u', password: 'p' },
    },
    { name: 'Welcome', kind: 'root', paused: true },
    { name: 'Server ping', kind: 'icmp', domain: '192.0.2.4', choice },
    { name: 'HTTPS port', kind: 'tcp', settings: { port: 443 } },
    { name: 'Own port', kind: 'tcp', settings: { port: 5432 } },
    {
      ...{ name: 'Nightly backup', domain: 'nightly-backup', kind: 'heartbeat', periodMs: 86_400_000 },
      ...{ graceMs: 30_000, pushToken: 'm107-0123456789abcdef' },
    },
    {
      name: 'POST',
      settings: { method: 'POST', headers: ['Content-Type: application/json'] },
      secrets: { body: '{"a":1}' },
    },
  ]);
  t.match(skipped, [
    { entry: 'Unknown', reason: 'monitors of type 99 have no equal in this import' },
    { entry: 'contact 2403925', reason: /type "1" have no equal/ },
  ]);
});

t.test('it reads version 3 and the CSV of UptimeRobot', async (t) => {
  const monitor = {
    ...{
      id: 1,
      friendlyName: 'Shop',
      type: 'KEYWORD',
      url: 'https://shop.example.com/',
      interval: 300,
      timeout: 30,
    },
    ...{ status: 'PAUSED', keywordType: 'ALERT_NOT_EXISTS', keywordValue: '200 ✓', keywordCaseType: 1 },
    ...{ successHttpResponseCodes: ['2xx', '401'], checkSSLErrors: false, followRedirections: false },
    ...{
      httpMethodType: 'GET',
      authType: 'NONE',
      tags: [{ id: 7, name: 'prod' }],
      responseTimeThreshold: 900,
    },
    ...{ assignedAlertContacts: [{ alertContactId: '9', threshold: 0, recurrence: 0 }], regionalData: 'na' },
    ...{
      lastIncident: null,
      currentStateDuration: 5,
      createDateTime: '2026-01-01',
      apiKey: 'm1-x',
      groupId: 0,
    },
  };
  const answer = { nextLink: null, data: [monitor, { friendlyName: 'UDP', type: 'UDP', url: 'x' }] };
  const reading = readImport(JSON.stringify(answer), 'x.json', NOW, {});
  t.match(reading.services, [
    {
      ...{ name: 'Shop', paused: true, accept: ['2xx', 401], choice: { slowOverMs: 900, timeoutMs: 30_000 } },
      settings: { certificate: 'ignore', followRedirects: false, assertions: ['body contains 200 ✓'] },
      texts: { note: 'Tags: prod' },
    },
  ]);
  t.match(reading.skipped, [
    { entry: 'UDP' },
    { entry: 'contact 9', reason: 'the file has only its number' },
  ]);
  t.match(reading.notCarried, [{ entry: 'Shop', field: 'regionalData' }]);
  t.equal(reading.notCarried.length, 1);
  const table = (interval: number, ...more: string[]) =>
    [
      'Type,Friendly Name,URL/IP,Interval,Alert Contact,Keyword Type,Keyword Value,Port',
      `1,Shop,https://shop.example.com/,${interval},1861777,,,`,
      ...more,
    ].join('\n');
  t.match(
    readImport(table(5, 'Keyword,Page,https://page.example.com/,60,,exists,Error,'), 'x.csv', NOW, {}),
    {
      format: 'uptimerobot',
      services: [
        { name: 'Shop', kind: 'root', choice: { intervalMs: 300_000 } },
        { settings: { assertions: ['body lacks Error'] }, choice: { intervalMs: 3_600_000 } },
      ],
      notCarried: [{ entry: 'Shop', field: 'alertContacts' }],
    },
  );
  t.match(readImport(table(300, 'Port,DB,db.example.com,300,,,,5432'), 'x.csv', NOW, {}).services, [
    { choice: { intervalMs: 300_000 } },
    { kind: 'tcp', domain: 'db.example.com', settings: { port: 5432 } },
  ]);
});

t.test('contacts of UptimeRobot become channels and rules, and what has no equal is named', async (t) => {
  const reading = fixture('uptimerobot.json');
  t.match(documentsOf(reading), [
    { list: 'channels', kind: 'email', settings: { to: 'uptime@example.com' } },
    { list: 'rules', services: ['Main site'], events: ['down', 'up'], after: '5m', repeat: '30m' },
    { list: 'channels', kind: 'slack', name: 'contact 2403924' },
    { list: 'rules', services: ['Main site', 'Status page'], channels: ['contact 2403924'] },
  ]);
  t.match(reading.notCarried, [
    { entry: 'Welcome', field: 'keywordValue', reason: /add "body contains Welcome"/ },
    { entry: 'Nightly backup', field: 'url', reason: /\/beat\/ before the same token/ },
    { entry: 'Nightly backup', field: 'gracePeriod' },
  ]);
});
