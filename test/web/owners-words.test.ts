/** The dashboard's pages about incidents and maintenance: what their forms take, show before it is sent, and refuse. */
import t from 'tap';
import { NOW } from '../site/site-world.ts';
import { dashboard } from './dashboard-world.ts';

t.test('an incident is previewed, written, updated, explained and removed by forms', async (t) => {
  const { registry, ada, grace, call, post } = await dashboard(t);
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  const PATH = '/dashboard/incidents';
  t.match(await call(PATH, null), { status: 303, location: '/sign-in' });
  t.match(await call(PATH, ada), {
    status: 200,
    text: /You have written no incident yet[\s\S]*name="page:acme"/,
  });
  const typed = { title: 'Late', text: 'We **look**. <script>', 'page:acme': 'on' };
  const preview = await post(`${PATH}/add`, ada, { ...typed, preview: '1' });
  t.match(preview, { status: 200, text: /<strong>look<\/strong>\. &lt;script&gt;/ });
  t.match(preview.text, /value="Late"[\s\S]*name="page:acme" checked/);
  t.same(await registry.ownerIncidentsOf(ada.id), [], 'a preview writes nothing');
  t.match(await post(`${PATH}/add`, ada, { title: ' ', text: 'x' }), {
    status: 400,
    text: /id="problem-add-title" role="alert"/,
  });
  t.match(await post(`${PATH}/add`, ada, { title: 'Late', text: 'x' }), {
    status: 400,
    text: /id="problem-add-services" role="alert">Choose at least one/,
  });
  t.match(await post(`${PATH}/add`, ada, typed), { status: 303, location: PATH });
  t.match(await post(`${PATH}/update`, grace, { id: 'owner-1', text: 'x', status: 'resolved' }), {
    status: 400,
  });
  t.match(await post(`${PATH}/update`, ada, { id: 'owner-1', text: '', preview: '1' }), { status: 200 });
  t.match(await post(`${PATH}/update`, ada, { id: 'owner-1', text: 'Over.', status: 'resolved' }), {
    status: 303,
  });
  t.match(await post(`${PATH}/explain`, ada, { id: 'owner-1', text: 'a\u202eb' }), {
    status: 400,
    text: /id="problem-explain-owner-1-text"/,
  });
  await post(`${PATH}/explain`, ada, { id: 'owner-1', text: 'A *disk*.' });
  t.match(await call(PATH, ada), { text: /Post-mortem[\s\S]*<em>disk<\/em>/ });
  t.match(await registry.ownerIncidentsOf(ada.id), [
    { status: 'resolved', postMortem: { plain: 'A disk.' } },
  ]);
  t.match(await post(`${PATH}/remove`, ada, { id: 'owner-1' }), { status: 303 });
  t.same(await registry.ownerIncidentsOf(ada.id), []);
});

t.test('maintenance is announced, extended, ended, skipped and withdrawn by forms', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  const PATH = '/dashboard/maintenances';
  const typed = { title: 'Disks', duration: '1h', zone: 'Europe/Berlin', 'page:acme': 'on' };
  t.match(await post(`${PATH}/add`, ada, { ...typed, zone: 'Mars', starts: '2020-01-01T10:00' }), {
    status: 400,
    text: /id="problem-add-starts"[\s\S]*id="problem-add-zone"[\s\S]*name="page:acme" checked/,
  });
  t.match(await post(`${PATH}/add`, ada, { ...typed, text: '*x*', preview: '1' }), { text: /<em>x<\/em>/ });
  t.match(await post(`${PATH}/add`, ada, typed), { status: 303, location: PATH });
  t.match(await call(PATH, ada), { text: /in progress[\s\S]*Europe\/Berlin[\s\S]*End now[\s\S]*Extend by/ });
  await post(`${PATH}/extend`, ada, { id: 'm1' });
  t.match(await registry.ownerMaintenancesOf(ada.id), [
    { changes: [{ startsAt: NOW, endsAt: NOW + 5_400_000 }] },
  ]);
  await post(`${PATH}/end`, ada, { id: 'm1' });
  t.match(await post(`${PATH}/end`, ada, { id: 'm1' }), { status: 400, text: /is not running now/ });
  const weekly = { ...typed, starts: '2026-12-01T22:00', recurrence: 'FREQ=WEEKLY' };
  t.match(await post(`${PATH}/add`, ada, weekly), { status: 303 });
  t.match(await post(`${PATH}/skip`, ada, { id: 'm2' }), { status: 303 });
  t.match(await registry.findOwnerMaintenance(ada.id, 2), { changes: [{ endsAt: null }] });
  t.match(await post(`${PATH}/remove`, ada, { id: 'm2' }), { status: 303 });
  t.equal(await registry.findOwnerMaintenance(ada.id, 2), null);
});
