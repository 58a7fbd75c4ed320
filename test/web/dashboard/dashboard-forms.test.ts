/** What is refused and concerns no field of a form. */
import t from 'tap';
import { dashboard } from '../dashboard-world.ts';

t.test('it says above the page, and once, what is refused and concerns no field of a form', async (t) => {
  const { ada, post } = await dashboard(t);
  const rows: readonly (readonly [path: string, fields: Record<string, string>, problem: RegExp])[] = [
    ['/dashboard/keys/revoke', { id: '9' }, /key/],
    ['/dashboard/webhooks/remove', { id: '9' }, /webhook/],
    ['/dashboard/webhooks/test', { id: '9' }, /webhook/],
    ['/dashboard/webhooks/replay', { id: '9' }, /delivery/],
    ['/dashboard/services/mine/pause', {}, /service/],
    ['/dashboard/services/mine/resume', {}, /service/],
  ];
  for (const [path, fields, problem] of rows) {
    const { status, text } = await post(path, ada, fields);
    const notices = [
      ...text.matchAll(/class="card notice" role="alert"[^>]*>([\s\S]*?)<\/(?:p|div|section)>/g),
    ];
    t.equal(status, 400, path);
    t.equal(notices.length, 1, `${path}: one notice`);
    t.match(notices[0]?.[1] ?? '', problem, path);
    t.notMatch(text, /aria-invalid/, path);
  }
});
