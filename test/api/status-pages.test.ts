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
  const { id } = (await send('POST', '/api/v1/incidents', { ...SAID, pages: ['bare', 'acme'] }, ada)).json;
  const work = { title: 'Disks', text: '*All* of them', duration: '1h', pages: ['bare'] };
  const announced = (await send('POST', '/api/v1/maintenances', work, ada)).json.id;
  const incident = {
    id,
    title: 'Orders are late',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    url: `https://upbeat.test/p/bare/incidents/${id}`,
    updates: [{ at: at(NOW), status: 'investigating', text: 'We look into it.' }],
    updates_total: 1,
    post_mortem: null,
  };
  const maintenance = {
    id: announced,
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
  const [{ id: ofService }] = listed.incidents;
  t.match(ofService, new RegExp(`^${id}-[0-9a-f]{12}$`), 'its service has it');
  t.match(listed, { owner_incidents: { length: 0 } });
  const feed = async (slug: string) => (await fetch(`${world.origin}/p/${slug}/incidents.atom`)).text();
  const bare = await feed('bare');
  for (const part of [
    `<id>tag:upbeat.test,2026:incident/${id}</id>`,
    '<title>Orders are late (major, investigating)</title>',
    `<id>tag:upbeat.test,2026:maintenance/${announced}-${NOW / 1_000}</id>`,
    '<title>Disks (maintenance, running)</title>',
  ])
    t.match(bare, part);
  const acme = await feed('acme');
  t.match(acme, `<id>tag:upbeat.test,2026:incident/${ofService}</id>`);
  t.notMatch(acme, `incident/${id}</id>`, 'what a service says is not said twice');
});
