/** The page of all maintenance: what runs, what is planned, and what is over. */
import t from 'tap';
import type { Incident } from '../../src/domain/incident/incident.ts';
import type { Maintenance } from '../../src/domain/incident/maintenance.ts';
import { incident, NOW, service, startApi } from '../site/site-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function maintenance(
  id: string,
  serviceId: number,
  from: number,
  to: number | null,
  more: Partial<Maintenance> = {},
): Maintenance {
  const phase = from <= 0 ? 'running' : 'planned';
  return {
    id,
    serviceId,
    title: `Work ${id}`,
    description: '',
    startsAt: NOW + from,
    endsAt: to === null ? null : NOW + to,
    reportedState: phase,
    phase,
    sourceUrl: `https://status.vendor.example/${id}`,
    updates: [],
    ...more,
  };
}

function past(id: string, serviceId: number, from: number, more: Partial<Incident> = {}): Incident {
  return incident(id, serviceId, {
    source: 'vendor',
    severity: 'maintenance',
    status: 'resolved',
    title: `Work ${id}`,
    startedAt: NOW + from,
    resolvedAt: NOW + from + HOUR,
    ...more,
  });
}

async function start() {
  const owned = { domain: 'shop.example', origin: 'owner', accountId: 1 } as const;
  const world = await startApi({
    services: [
      service(1, 'alpha', { name: 'Alpha' }),
      service(2, 'beta', { name: 'Beta' }),
      service(3, 'shop-example', { ...owned, name: 'Shop' }),
      service(4, 'secret-example', { ...owned, name: 'Secret', domain: 'secret.example', verified: false }),
    ],
  });
  /** Each section as lines of text without markup, by the name of the list. */
  const read = async (query = '', language = 'en') => {
    const { status, text } = await world.get(`/maintenance${query}`, { 'accept-language': language });
    const [, ...sections] = text.split('<section aria-labelledby="');
    const lists = sections.map((section) => [
      section.slice(0, section.indexOf('"')),
      [...section.matchAll(/<li class="work">(.*)<\/li>/g)].map(([, row = '']) =>
        row
          .replace(/<[^>]+>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    ]);
    return { status, text, lists: Object.fromEntries(lists) as Record<string, string[]> };
  };
  return { world, read };
}

t.test('it lists what runs, what is planned and what is over, of vendors and owners', async (t) => {
  const { world, read } = await start();
  t.teardown(world.close);
  await world.putMaintenances(
    maintenance('runs', 1, -34 * MINUTE, 26 * MINUTE),
    maintenance('soon', 1, 5 * HOUR, 8 * HOUR, { title: 'Network' }),
    maintenance('soon-2', 2, 5 * HOUR, 8 * HOUR, { title: 'Network' }),
    maintenance('later', 3, 3 * DAY, null, { ownerId: 4, description: 'Orders may be late.' }),
    maintenance('hidden', 4, HOUR, 2 * HOUR),
  );
  await world.putIncidents(
    past('runs', 1, -34 * MINUTE, { resolvedAt: null, status: 'identified' }),
    past('was', 2, -3 * HOUR),
    past('outage-within', 2, -3 * HOUR, { source: 'own' }),
    past('hidden-past', 4, -5 * HOUR),
    past('no-work', 1, -4 * HOUR, { severity: 'major' }),
  );
  const { text, lists } = await read();
  t.same(lists, {
    running: [
      'for 34 min takes 1 hr Work runs Alpha · from 20 Nov 2026, 09:26 UTC to 20 Nov 2026, 10:26 UTC',
    ],
    planned: [
      'in 5 hours takes 3 hr Network Alpha , Beta · from 20 Nov 2026, 15:00 UTC to 20 Nov 2026, 18:00 UTC',
      'in 3 days Work later Shop (shop.example) · from 23 Nov 2026, 10:00 UTC The owner says: Orders may be late.',
    ],
    past: ['2 hours ago lasted 1 hr Work was Beta · from 20 Nov 2026, 07:00 UTC to 20 Nov 2026, 08:00 UTC'],
  });
  t.match(text, 'href="/status/alpha-example/incidents/runs"', 'what has begun has a page');
  t.match(text, 'href="https://status.vendor.example/soon" rel="noopener nofollow"');
  t.match(text, /<a href="\/maintenance" aria-current="page">Maintenance<\/a>/, 'it is in the navigation');
  const german = await read('', 'de');
  t.match(german.lists.running?.[0], /^seit 34 Min\. dauert 1 Std\. Work runs/);
  t.match(german.lists.planned?.[0], /^in 5 Stunden dauert 3 Std\./);
});

t.test('each list has pages of its own', async (t) => {
  const { world, read } = await start();
  t.teardown(world.close);
  await world.putIncidents(
    ...Array.from({ length: 60 }, (_, index) => past(`p${index}`, 1, -index * HOUR - DAY)),
  );
  const all = await read();
  t.equal(all.lists.past?.length, 10);
  t.match(all.text, '<a href="?list=past">All past maintenance</a>');
  const first = await read('?list=past');
  t.same([Object.keys(first.lists), first.lists.past?.length], [['past'], 50]);
  t.match(first.text, 'rel="next" href="?list=past&amp;offset=50"');
  const second = await read('?list=past&offset=50');
  t.equal(second.lists.past?.length, 10);
  t.match(second.text, 'rel="prev" href="?list=past&amp;offset=0"');
  t.notMatch(second.text, 'rel="next"');
  t.equal((await read('?list=other')).status, 400);
});

t.test(
  'it says so where there is none, and lets no markup or script address of others through',
  async (t) => {
    const { world, read } = await start();
    t.teardown(world.close);
    const { text } = await read();
    for (const word of [
      'No maintenance is in progress.',
      'No maintenance is planned.',
      'no maintenance yet.',
    ])
      t.match(text, word);
    const evil = { title: '<b>x</b>', sourceUrl: 'javascript:alert(1)' };
    await world.putMaintenances(maintenance('evil', 1, HOUR, 2 * HOUR, evil));
    const filled = (await read()).text;
    t.match(filled, '<strong>&lt;b&gt;x&lt;/b&gt;</strong>');
    t.notMatch(filled, 'javascript:');
  },
);
