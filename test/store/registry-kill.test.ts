/** `kill -9` at any moment: whatever was acknowledged is there, whole, and nothing is there by half. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { type RegistryPlace, testOverBoth } from '../support/both-registries.ts';
import { entry, NOON, owned } from './registry-fixtures.ts';

const SERVICES = 4;
const KILLS = 5;

/** Runs the writer until it has acknowledged `lines` commits and a random moment more; returns its last word per service. */
async function writeAndKill(
  { dataDir, postgresUrl }: RegistryPlace,
  lines: number,
): Promise<Map<number, string>> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'registry-writer.ts'), dataDir, postgresUrl ?? ''],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    const before = seen;
    seen += chunk.toString().split('\n').length - 1;
    if (before < lines && seen >= lines) setTimeout(() => child.kill('SIGKILL'), Math.random() * 20);
  });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself: ${said.slice(-200)}`);
  return new Map(
    said
      .split('\n')
      // A last line without its end was not said.
      .slice(0, -1)
      .map((line) => [Number(line.split(' ')[0]), line] as const),
  );
}

async function deliveriesIn(place: RegistryPlace, webhookId: number, type: string): Promise<number> {
  const [{ n, messages } = {}] = await place.read(
    `SELECT count(*) AS n, count(DISTINCT message) AS messages FROM deliveries
     WHERE webhook_id = ${webhookId} AND type = '${type}'`,
  );
  return Number(n) === Number(messages) ? Number(n) : Number.NaN;
}

t.setTimeout(120_000);

testOverBoth(
  'it has every acknowledged update after kill -9, without gaps and halves',
  async (t, makePlace) => {
    const place = await makePlace(t);
    const methods = await place.open();
    await methods.putCatalogue(Array.from({ length: SERVICES }, (_, n) => entry(`s${n}`)));
    const { id: accountId } = await methods.ensureAccount('ada', NOON);
    await methods.addService(owned('o.org', accountId));
    const { id: webhookId } = await methods.addWebhook({
      accountId,
      url: 'https://hooks.example',
      secret: 'whsec_c2VjcmV0',
      createdAt: NOON,
    });
    await methods.close();

    let position = 0;
    // What differs is the crash of a session, which is the same each time.
    const kills = place.postgresUrl === null ? KILLS : 2;
    for (let kill = 0; kill < kills; kill++) {
      const acknowledged = await writeAndKill(place, 20 + kill * 30);
      const registry = await place.open();
      const states = await registry.loadServices();
      const transitions = await registry.transitionsAfter(0, 1_000_000);
      const stored = await registry.listIncidents({ limit: 1_000_000, offset: 0 });
      const incidents = new Set(stored.map(({ id }) => id));

      const wrong: string[] = [];
      for (const { service, current } of states) {
        const [, seq = 0, observedAt = 0] = (acknowledged.get(service.id) ?? '').split(' ').map(Number);
        if (current.seq < seq || current.observedAt < observedAt)
          wrong.push(
            `${service.slug} lost ${seq}/${observedAt}: it has ${current.seq}/${current.observedAt}`,
          );
        const own = transitions.filter(({ serviceId }) => serviceId === service.id);
        if (!own.every((transition, index) => transition.seq === index + 1))
          wrong.push(`${service.slug} has a gap in its transitions`);
        if (own.length !== current.seq || (own.at(-1)?.to ?? 'unknown') !== current.status)
          wrong.push(`${service.slug}: ${own.length} transitions beside seq ${current.seq}`);
        const missing = own.filter(({ seq }) => !incidents.has(`own-${service.id}-${seq}`));
        if (missing.length > 0) wrong.push(`${service.slug} lacks incidents of its transitions`);
      }
      if (!transitions.every((transition, index) => transition.position === index + 1))
        wrong.push('the feed of transitions has a gap');
      if (incidents.size !== transitions.length) wrong.push('there are incidents without a transition');
      const changes = transitions.filter(({ slug }) => slug === 'o-org').length;
      for (const type of ['service.status_changed', 'incident.opened'])
        if ((await deliveriesIn(place, webhookId, type)) !== changes)
          wrong.push(`not one ${type} for each change`);
      t.same(wrong, [], `kill ${kill + 1}`);
      const last = await registry.lastTransition();
      t.ok(last > position, 'there was something to lose');
      position = last;
      await registry.close();
    }
  },
);
