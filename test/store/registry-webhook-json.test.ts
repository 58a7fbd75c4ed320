/** The JSON of webhooks is that which the triggers of earlier versions made, and an upgrade loses no delivery. */
import fc from 'fast-check';
import t from 'tap';
import { INCIDENT_STATUSES, SEVERITIES } from '../../src/domain/incident/incident.ts';
import { incidentEventType, type WebhookEvent, webhookBody } from '../../src/domain/webhook-event.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { anyText } from '../support/any-text.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';
import { openEarlier } from './earlier-registry.ts';
import { firstTurn, incident, NOON, turn } from './registry-fixtures.ts';

/** The last step whose tables have triggers. */
const LAST_WITH_TRIGGERS = '0013-catalogue-names';

/** A database of the last version with triggers, with one service that has a webhook. */
async function withTriggers(file = ':memory:') {
  const database = await openEarlier(LAST_WITH_TRIGGERS, file);
  database.exec(`INSERT INTO accounts VALUES (1, 'ada', 0);
    INSERT INTO webhooks VALUES (1, 1, 'https://hooks.example', 'whsec_c2VjcmV0', 0);
    INSERT INTO services (id, slug, dashed, name, domain, category, origin, account_id, verified, paused,
      check_definition, revision) VALUES (1, 's', 's', 'n', 'd', 'ai', 'owner', 1, 1, 0, '{}', 1);
    INSERT INTO current (service_id, seq, observed_at, status) VALUES (1, 0, 0, 'unknown')`);
  return database;
}

const text = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }), fc.json());
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
        const reason =
          transition.reason === null ? null : ({ code: 'text', text: transition.reason } as const);
        const turned = { ...transition, from: 'up', to: 'down', reason } as const;
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
    const old = await withTriggers(registryFile(dataDir));
    // Its monitor runs on.
    old.exec(`UPDATE lease SET fence = 7, pid = 1, host = 'here';
      INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason)
        VALUES (1, 1, 'unknown', 'down', ${NOON}, ${NOON}, 'no answer');
      UPDATE current SET seq = 1, status = 'down', since = ${NOON}`);
    const [left] = old.prepare('SELECT message, body, created_at FROM deliveries').all();
    t.ok(left, 'the trigger wrote it');

    const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
    const registry = registryHere(methods, createFakeClock(NOON));
    t.teardown(() => registry.close());
    t.equal(await registry.sealSecrets(), 1);
    t.match(await registry.dueDeliveries(Date.now(), 9), [{ message: left?.message, body: left?.body }]);
    t.match(
      await registry.readLease(),
      { fence: 8, holder: null },
      'a monitor of that version writes no more',
    );
    const down = firstTurn(1, 'down', NOON, 's').current;
    t.match(
      await registry.commitUpdates([{ ...turn(down, 'up', NOON + 5, 's'), incident: incident(1, 'own-1') }]),
      [{ kind: 'committed' }],
    );
    const types = (await registry.dueDeliveries(Date.now(), 9)).map(({ type }) => type);
    t.same(types.sort(), ['incident.opened', 'service.status_changed', 'service.status_changed']);
    t.equal(old.prepare('SELECT fence FROM lease').get()?.fence, 8);
    old.close();
  },
);
