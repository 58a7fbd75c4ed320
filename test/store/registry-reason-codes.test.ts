/** Texts that the program writes into the registry have codes beside them, for other languages and other versions. */

import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { describeReason } from '../../src/domain/incident/incident.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { LANGUAGES } from '../../src/web/language/language.ts';
import { inLanguage } from '../../src/web/parts/incidents.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';
import { openEarlier } from './earlier-registry.ts';
import { entry, firstTurn, incident, NOON } from './registry-fixtures.ts';

const ONE_SERVICE = `INSERT INTO services (id, slug, dashed, name, domain, category, origin, verified, paused,
    check_definition, revision) VALUES (1, 's', 's', 'n', 'd', 'ai', 'catalogue', 1, 0, '{}', 1);
  INSERT INTO current (service_id, seq, observed_at, status) VALUES (1, 0, 0, 'unknown')`;

async function open(t: Test, dataDir: string) {
  const registry = registryHere(
    await openRegistryMethods({ dataDir, domainsPerAccount: 9 }),
    createFakeClock(NOON),
  );
  t.teardown(() => registry.close());
  return registry;
}

t.test('it keeps the texts of earlier versions, with a code where one explains them', async (t) => {
  const dataDir = t.testdir();
  const old = await openEarlier('0015-notice-codes', registryFile(dataDir));
  old.exec(`${ONE_SERVICE};
    INSERT INTO accounts VALUES (1, 'ada', 0);
    INSERT INTO webhooks VALUES (1, 1, 'https://hooks.example', 'whsec_c2VjcmV0', 0);
    INSERT INTO deliveries (message, webhook_id, type, body, created_at, problem)
      VALUES ('m1', 1, 'test', '', 1, 'HTTP 503'), ('m2', 1, 'test', '', 1, 'no answer within 15000 ms')`);
  const failed = { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } };
  const expected: readonly (readonly [string | null, object | null])[] = [
    ['it reports that it is down', { code: 'reported_down' }],
    ['it reports that it is slow', { code: 'reported_slow' }],
    ['it reports that a run failed', { code: 'run_failed' }],
    ['it took 4.2 s to answer', { code: 'slow_response', responseTimeMs: 4_200 }],
    ['it took 12.0 s to answer', { code: 'slow_response', responseTimeMs: 12_000 }],
    ['it reports a response time of 3.1 s', { code: 'reported_response_time', responseTimeMs: 3_100 }],
    ['no heartbeat arrived for 90s', { code: 'no_heartbeat', silenceMs: 90_000 }],
    ['no heartbeat arrived for 1500ms', { code: 'no_heartbeat', silenceMs: 1_500 }],
    ['no heartbeat arrived for 2h', { code: 'no_heartbeat', silenceMs: 7_200_000 }],
    ['no heartbeat arrived for 4 moons', { code: 'text', text: 'no heartbeat arrived for 4 moons' }],
    ['it answered with status 503', { code: 'check_failed', failure: failed }],
    ['it refused the connection', { code: 'text', text: 'it refused the connection' }],
    [null, null],
  ];
  const add = old.prepare(
    `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason)
     VALUES (1, ?, 'up', 'down', ?, ?, ?)`,
  );
  for (const [index, [text]] of expected.entries()) add.run(index + 1, NOON, NOON, text);
  old.close();

  const registry = await open(t, dataDir);
  await registry.sealSecrets();
  const transitions = await registry.transitionsAfter(0, 99);
  t.strictSame(
    transitions.map(({ reason }) => reason),
    expected.map(([, reason]) => reason),
  );
  t.strictSame(
    transitions.map(({ reason }) => (reason === null ? null : describeReason(reason))),
    expected.map(([text]) =>
      text === 'it answered with status 503' ? 'it is returning errors (HTTP 503)' : text,
    ),
    'clients read the same text, in the words of today',
  );
  t.strictSame(
    (await registry.deliveriesOf(1)).map(({ problem }) => problem),
    [
      { code: 'text', text: 'no answer within 15000 ms' },
      { code: 'status', statusCode: 503 },
    ],
  );
});

t.test('it shows the stored sentence of a code that a later version wrote', async (t) => {
  const dataDir = t.testdir();
  const registry = await open(t, dataDir);
  await registry.putCatalogue([entry('a')]);
  const { id: ada } = await registry.ensureAccount('ada', NOON);
  await registry.addWebhook({
    accountId: ada,
    url: 'https://h.example',
    secret: 'whsec_c2',
    createdAt: NOON,
  });
  const updates = [
    { at: NOON, status: 'investigating', text: 'It is upside down.', note: { code: 'upside_down' } },
    {
      at: NOON + 1,
      status: 'investigating',
      text: 'a.example is down: it hums.',
      note: {
        code: 'failing_again',
        domain: 'a.example',
        isReported: true,
        reason: {
          code: 'check_failed',
          failure: { class: 'body', phase: 'body', cause: { code: 'hums' } },
        },
      },
    },
  ];
  await registry.commitUpdates([
    { ...firstTurn(1, 'down', NOON, 'a'), incident: incident(1, 'own-1', { title: 'A is upside down' }) },
  ]);
  const later = new DatabaseSync(registryFile(dataDir), { timeout: 5_000 });
  later.prepare('UPDATE incidents SET updates = ?').run(JSON.stringify(updates));
  later.exec(`UPDATE transitions SET reason = 'it is upside down', reason_code = '{"code":"upside_down"}';
    INSERT INTO account_notices (account_id, at, text, notice)
      VALUES (${ada}, ${NOON}, 'Your service moved.', '{"code":"service_moved"}');
    INSERT INTO deliveries (message, webhook_id, type, body, created_at, problem, problem_code)
      VALUES ('m1', 1, 'test', '', 1, 'it was eaten', '{"code":"eaten"}')`);
  later.close();

  t.match(await registry.transitionsAfter(0, 9), [{ reason: { code: 'text', text: 'it is upside down' } }]);
  t.match(await registry.noticesOf(ada), [{ text: 'Your service moved.', notice: null }]);
  t.match(await registry.deliveriesOf(ada), [{ problem: { code: 'text', text: 'it was eaten' } }]);
  const [stored] = await registry.listIncidents({ limit: 9, offset: 0 });
  t.ok(stored);
  if (stored === undefined) return;
  const { title, updates: shown } = inLanguage(stored, LANGUAGES.de);
  t.same(
    [title, ...shown.map(({ text }) => text)],
    ['A is upside down', 'It is upside down.', 'a.example is down: it hums.'],
  );
});
