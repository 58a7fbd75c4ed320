/** The JSON of webhooks is that which the triggers of earlier versions made, and an upgrade loses no delivery. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import t from 'tap';
import { createFakeClock } from '../../src/clock.ts';
import { INCIDENT_STATUSES, SEVERITIES } from '../../src/domain/incident.ts';
import { incidentEventType, type WebhookEvent, webhookBody } from '../../src/domain/webhook-event.ts';
import { MIGRATION_NAMES } from '../../src/store/registry/migrations.ts';
import { registryFile } from '../../src/store/registry/registry-database.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryHere } from '../support/registry-here.ts';
import { firstTurn, incident, NOON, owned, turn } from './registry-fixtures.ts';

/** The last step whose tables have triggers. */
const LAST_WITH_TRIGGERS = '0013-catalogue-names';

async function statementsOf(name: string): Promise<readonly string[]> {
  const step: { readonly statements: readonly string[] } = await import(
    `../../src/store/registry/migrations/${name}.ts`
  );
  return step.statements;
}

/** A database whose triggers write deliveries, with one service that has a webhook. */
async function withTriggers() {
  const database = new DatabaseSync(':memory:');
  for (const name of MIGRATION_NAMES)
    if (name <= LAST_WITH_TRIGGERS)
      for (const statement of await statementsOf(name)) database.exec(statement);
  database.exec(`INSERT INTO accounts VALUES (1, 'ada', 0);
    INSERT INTO webhooks VALUES (1, 1, 'https://hooks.example', 'secret', 0);
    INSERT INTO services (id, slug, dashed, name, domain, category, origin, account_id, verified, paused,
      check_definition, revision) VALUES (1, 's', 's', 'n', 'd', 'ai', 'owner', 1, 1, 0, '{}', 1)`);
  return database;
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.json());
const time = fc.integer({ min: 0, max: Date.UTC(2100, 0) });

t.test('it makes the JSON that the triggers made, byte for byte', async (t) => {
  const database = await withTriggers();
  const name = database.prepare('UPDATE services SET slug = ?, name = ?, domain = ?');
  const addTransition = database.prepare(
    'INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason) VALUES (1, ?, ?, ?, ?, 0, ?)',
  );
  const addIncident = database.prepare(
    `INSERT INTO incidents VALUES (?, 1, 'own', ?, ?, ?, ?, ?, ?, ?, 0, '[]', 1, 1)`,
  );
  const change = database.prepare('UPDATE incidents SET status = ?, resolved_at = ?');
  const read = database.prepare('DELETE FROM deliveries RETURNING type, body, created_at');
  const same = (event: WebhookEvent) => {
    const rows = read.all();
    const [{ type, body, created_at: at } = {}] = rows;
    return rows.length === 1 && type === event.type && body === webhookBody(event, Number(at));
  };
  let seq = 0;
  fc.assert(
    fc.property(
      fc.record({ slug: text, name: text, domain: text }),
      fc.record({ at: time, reason: fc.option(text) }),
      fc.record({
        id: text,
        title: text,
        description: text,
        sourceUrl: text,
        severity: fc.constantFrom(...SEVERITIES),
        startedAt: time,
        resolvedAt: fc.option(time),
      }),
      fc.constantFrom(...INCIDENT_STATUSES),
      fc.constantFrom(...INCIDENT_STATUSES),
      (service, transition, parts, first, next) => {
        name.run(service.slug, service.name, service.domain);
        seq += 1;
        addTransition.run(seq, 'up', 'down', transition.at, transition.reason);
        const turned = { ...transition, from: 'up', to: 'down' } as const;
        let equal = same({ type: 'service.status_changed', service, transition: turned });
        const one = incident(1, parts.id, { ...parts, status: first });
        const { id, title, description, severity, startedAt, resolvedAt, sourceUrl } = one;
        addIncident.run(id, title, description, severity, first, startedAt, resolvedAt, sourceUrl);
        equal &&= same({ type: 'incident.opened', service, incident: one });
        change.run(next, resolvedAt);
        const type = incidentEventType(first, next);
        equal &&=
          type === null
            ? read.all().length === 0
            : same({ type, service, incident: { ...one, status: next } });
        database.exec('DELETE FROM incidents; DELETE FROM transitions');
        return equal;
      },
    ),
    { numRuns: 300 },
  );
  t.ok(seq >= 300);
  database.close();
});

t.test(
  'it sends what an earlier version left, and writes each delivery once after the upgrade',
  async (t) => {
    const dataDir = t.testdir();
    const open = async () =>
      registryHere(await openRegistryMethods({ dataDir, domainsPerAccount: 9 }), createFakeClock(NOON));
    const before = await open();
    const { id: accountId } = await before.ensureAccount('ada', NOON);
    const service = await before.addService(owned('o.org', accountId));
    const url = 'https://hooks.example';
    await before.addWebhook({ accountId, url, secret: 'whsec_c2VjcmV0', createdAt: NOON });
    await before.close();
    // The same file as the version before the step had it, whose monitor runs on.
    const old = new DatabaseSync(registryFile(dataDir));
    old.exec(`DELETE FROM kysely_migration WHERE name > '${LAST_WITH_TRIGGERS}'`);
    for (const statement of await statementsOf('0006-webhooks'))
      if (statement.startsWith('CREATE TRIGGER')) old.exec(statement);
    old.exec(`UPDATE lease SET fence = 7, pid = 1, host = 'here';
    INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason)
      VALUES (${service.id}, 1, 'unknown', 'down', ${NOON}, ${NOON}, 'no answer');
    UPDATE current SET seq = 1, status = 'down', since = ${NOON}`);
    const [left] = old.prepare('SELECT message, body, created_at FROM deliveries').all();
    t.ok(left, 'the trigger wrote it');

    const registry = await open();
    t.teardown(() => registry.close());
    t.match(await registry.dueDeliveries(Date.now(), 9), [{ message: left?.message, body: left?.body }]);
    t.match(
      await registry.readLease(),
      { fence: 8, holder: null },
      'a monitor of that version writes no more',
    );
    const down = firstTurn(service.id, 'down', NOON, service.slug).current;
    t.match(
      await registry.commitUpdates([
        { ...turn(down, 'up', NOON + 5, service.slug), incident: incident(service.id, 'own-1') },
      ]),
      [{ kind: 'committed' }],
    );
    const types = (await registry.dueDeliveries(Date.now(), 9)).map(({ type }) => type);
    t.same(types.sort(), ['incident.opened', 'service.status_changed', 'service.status_changed']);
    t.equal(old.prepare('SELECT fence FROM lease').get()?.fence, 8);
    old.close();
  },
);
