/** Status pages as JSON and as Atom feeds. */
import t from 'tap';
import { start } from '../site/posting-account.ts';
import { NOW } from '../site/site-world.ts';

const HOUR = 3_600_000;

const at = (ms: number) => new Date(ms).toISOString();

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('what an owner says of a page alone is in its JSON and its Atom feed', async (t) => {
  const { ada, world, send } = await start(t);
  await world.registry.addPage({ accountId: 1, slug: 'bare', title: 'Bare', text: '', groups: [], now: NOW });
  await send('POST', '/api/v1/incidents', { ...SAID, pages: ['bare', 'acme'] }, ada);
  const work = { title: 'Disks', text: '*All* of them', duration: '1h', pages: ['bare'] };
  await send('POST', '/api/v1/maintenances', work, ada);
  const incident = {
    id: 'owner-1',
    title: 'Orders are late',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    url: 'https://upbeat.test/p/bare/incidents/owner-1',
    updates: [{ at: at(NOW), status: 'investigating', text: 'We look into it.' }],
    updates_total: 1,
    post_mortem: null,
  };
  const maintenance = {
    id: 'm1',
    title: 'Disks',
    description: 'All of them',
    state: 'running',
    starts_at: at(NOW),
    ends_at: at(NOW + HOUR),
  };
  for (const path of ['/api/v1/pages/bare', '/p/bare.json']) {
    const { json } = await send('GET', path);
    t.strictSame(json.owner_incidents, [incident]);
    t.strictSame(json.owner_maintenances, [maintenance]);
  }
  const listed = (await send('GET', '/api/v1/pages/acme')).json;
  t.match(listed, { owner_incidents: { length: 0 }, incidents: [{ id: 'owner-1-1' }] }, 'its service has it');
  const feed = async (slug: string) => (await fetch(`${world.origin}/p/${slug}/incidents.atom`)).text();
  const bare = await feed('bare');
  for (const part of [
    '<id>tag:upbeat.test,2026:incident/owner-1</id>',
    '<title>Orders are late (major, investigating)</title>',
    `<id>tag:upbeat.test,2026:maintenance/m1-${NOW / 1_000}</id>`,
    '<title>Disks (maintenance, running)</title>',
  ])
    t.match(bare, part);
  const acme = await feed('acme');
  t.match(acme, '<id>tag:upbeat.test,2026:incident/owner-1-1</id>');
  t.notMatch(acme, 'incident/owner-1</id>', 'what a service says is not said twice');
});
