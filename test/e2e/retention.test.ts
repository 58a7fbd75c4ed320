/** `storage.incidentRetention` in the whole program: what is deleted is gone from the API and from pages. */
import t from 'tap';
import { DAY_MS } from '../../src/domain/durations.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { entry, incident, stay } from '../store/registry-fixtures.ts';
import { install } from '../support/program.ts';

t.setTimeout(300_000);

t.test('incidents that are out of retention are gone from the API and from pages', async (t) => {
  const check = { kind: 'root', url: 'http://127.0.0.1:9/' };
  const installation = await install([{ slug: 'a', domain: 'a.com', category: 'cloud', check }], {
    storage: { incidentRetention: '30d' },
  });
  t.teardown(() => installation.remove());
  const now = Date.now();
  await installation.withRegistry(async (registry) => {
    await registry.putCatalogue([entry('a')]);
    for (const [id, days] of [
      ['old', 31],
      ['young', 29],
    ] as const) {
      const [startedAt, resolvedAt] = [now - days * DAY_MS - 1, now - days * DAY_MS];
      const own = incident(1, id, { status: 'resolved', startedAt, resolvedAt });
      await registry.commitUpdates([{ ...stay(unknownStatus(1), now), incident: own }]);
    }
  });
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const listed = await program.until<{ incidents: { id: string }[]; total: number }>(
    '/api/v1/incidents?status=resolved',
    ({ incidents }) => incidents.every(({ id }) => id !== 'old'),
  );
  t.strictSame([listed.incidents.map(({ id }) => id), listed.total], [['young'], 1]);
  t.equal((await program.get('/status/a-com/incidents/old')).status, 404);
  t.equal((await program.get('/status/a-com/incidents/young')).status, 200);
  t.match(program.output(), /incidents and changes of status that are out of retention are deleted/);
  t.equal(await program.stop(), 0);
});
