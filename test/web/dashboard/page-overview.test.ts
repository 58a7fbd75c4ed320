/** The form that creates a status page. */
import t from 'tap';
import { dashboard } from '../dashboard-world.ts';
import { chosen, fieldOf } from './form-fields.ts';

const hasNotice = (text: string) => /class="card notice" role="alert"/.test(text);

t.test('it says beside a field of the overview what is wrong, and keeps what was written', async (t) => {
  const { ada, post } = await dashboard(t);
  const domain = await post('/dashboard/services/new/save', ada, { domain: 'no domain', kind: 'heartbeat' });
  t.equal(domain.status, 400);
  t.match(fieldOf(domain.text, 'domain'), { value: 'no domain', problem: /^The domain / });
  t.equal(chosen(domain.text, 'kind'), 'heartbeat');
  t.equal(hasNotice(domain.text), false);
  const key = await post('/dashboard/keys/add', ada, { name: 'x\u0007', expires: '365d' });
  t.equal(key.status, 400);
  t.match(fieldOf(key.text, 'name').problem, /^The name /);
  t.equal(chosen(key.text, 'expires'), '365d');
  const empty = await post('/dashboard/keys/add?lang=de', ada, { name: '', expires: '30d' });
  t.ok(fieldOf(empty.text, 'name').problem);
  const none = await post('/dashboard/keys/revoke', ada, { id: '9' });
  t.equal(hasNotice(none.text), true, 'what concerns no field is said above');
});
