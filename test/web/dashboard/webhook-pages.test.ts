/** The form of a webhook. */
import t from 'tap';
import { dashboard } from '../dashboard-world.ts';
import { fieldOf } from './form-fields.ts';

const hasNotice = (text: string) => /class="card notice" role="alert"/.test(text);

t.test('it says beside the address of a webhook what is wrong, and keeps what was written', async (t) => {
  const { ada, post } = await dashboard(t);
  const { status, text } = await post('/dashboard/webhooks/add', ada, { url: 'ftp://"<x>' });
  t.equal(status, 400);
  t.match(fieldOf(text, 'url'), { value: 'ftp://&quot;&lt;x&gt;', problem: /^The URL must begin/ });
  t.equal(hasNotice(text), false);
  const inside = await post('/dashboard/webhooks/add', ada, { url: 'http://localhost:8080/x' });
  t.equal(inside.status, 400);
  t.match(fieldOf(inside.text, 'url'), {
    value: 'http://localhost:8080/x',
    problem: /^The URL leads to localhost, which is not public/,
  });
});

t.test('the form chooses the format of a webhook, which the list names', async (t) => {
  const { ada, post, registry } = await dashboard(t);
  const refused = await post('/dashboard/webhooks/add', ada, { url: 'ftp://x', format: 'cloudevents' });
  t.match(refused.text, /<option value="cloudevents" selected>/);
  for (const format of ['json', 'cloudevents', 'other'])
    await post('/dashboard/webhooks/add', ada, { url: `https://hooks.example/${format}`, format });
  const made = await registry.webhooksOf(ada.id);
  t.strictSame(
    made.map(({ format }) => format),
    [undefined, 'cloudevents', undefined],
  );
});
