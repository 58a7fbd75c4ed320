/** What subscriptions are about, and which changes they are told of. */
import t from 'tap';
import type { AlertChange } from '../../src/domain/alert/event.ts';
import {
  isToldToSubscribers,
  ownersNews,
  readTopic,
  subscriberMessage,
  topicsOf,
  withoutCause,
} from '../../src/domain/subscription.ts';
import { owned } from '../store/registry-fixtures.ts';

const status = (from: string, to: string) =>
  ({
    type: 'status',
    from,
    to,
    source: 'silence',
    reason: { code: 'x' },
    phase: null,
    lastGoodAt: 1,
    regions: ['eu'],
  }) as unknown as AlertChange;
const incident = (source: string, more: object = {}, before: string | null = null) =>
  ({
    type: 'incident',
    before,
    incident: { id: 'owner-3-7', source, status: 'monitoring', startedAt: 1, ...more },
  }) as unknown as AlertChange;
const maintenance = (more: object = {}) =>
  ({
    type: 'maintenance',
    id: 'owner-m3-8-1',
    source: 'owner',
    phase: 'running',
    startsAt: 1,
    ...more,
  }) as unknown as AlertChange;

t.test('it reads topics in their stored form, and none that it does not know', async (t) => {
  t.same(readTopic('service:12'), { kind: 'service', id: 12 });
  t.same(readTopic('page:1'), { kind: 'page', id: 1 });
  t.same(readTopic('category:developer'), { kind: 'category', category: 'developer' });
  for (const text of [
    '',
    'service:',
    'service:x',
    'page:-1',
    'category:constructor',
    'region:eu',
    'service:1234567890123456',
  ])
    t.equal(readTopic(text), null, text);
});

t.test(
  'a service belongs to its category where lists show it, and a private one to pages alone',
  async (t) => {
    const service = { ...owned('shop.example', 1), id: 5, revision: 1, verified: true };
    t.same(topicsOf(service, [2]), ['service:5', 'category:developer', 'page:2']);
    t.same(topicsOf({ ...service, verified: false }, []), ['service:5']);
    t.same(topicsOf({ ...service, visibility: 'unlisted' }, []), ['service:5']);
    t.same(topicsOf({ ...service, visibility: 'private' }, [2, 3]), ['page:2', 'page:3']);
  },
);

t.test(
  'subscribers are told of down and up, of the words of vendors and owners, and of maintenance',
  async (t) => {
    const table: readonly (readonly [AlertChange, boolean])[] = [
      [status('up', 'down'), true],
      [status('down', 'slow'), true],
      [status('up', 'slow'), false],
      [incident('own'), false],
      [incident('vendor'), true],
      [incident('owner'), true],
      [maintenance(), true],
      [{ type: 'certificate' } as unknown as AlertChange, false],
    ];
    for (const [change, isTold] of table)
      t.equal(isToldToSubscribers(change), isTold, JSON.stringify(change));
    t.throws(
      () => subscriberMessage({ change: { type: 'scope' } as never, at: 1 }, {} as never, null, ''),
      /not told/,
    );
  },
);

t.test('the same words of an owner have one key, whatever they are about', async (t) => {
  t.same(ownersNews({ change: incident('owner'), at: 9 }), {
    subject: 'owner-3',
    news: 'owner-3 monitoring 9',
  });
  t.same(ownersNews({ change: maintenance(), at: 9 }), { subject: 'owner-m3-8', news: 'owner-m3-8 running' });
  for (const change of [incident('vendor'), maintenance({ source: 'vendor' }), status('up', 'down')])
    t.equal(ownersNews({ change, at: 9 }), null);
});

t.test('a private service on a page is told without its cause', async (t) => {
  t.match(withoutCause(status('up', 'down')), {
    to: 'down',
    source: 'check',
    reason: null,
    lastGoodAt: null,
    regions: [],
  });
  t.equal(withoutCause(incident('owner')), null);
});

t.test('the end of an outage is in the thread of its beginning', async (t) => {
  const shop = { id: 5, slug: 'shop', name: 'Shop', domain: 'shop.example' };
  const tell = (change: AlertChange, at: number, beganAt: number | null = null, more: object = {}) =>
    subscriberMessage({ change, at }, { ...shop, ...more }, beganAt, 'https://up.example');
  t.match(tell(status('up', 'down'), 100), {
    ...{
      type: 'alert',
      urgency: 'high',
      thread: 'down-5-100',
      url: 'https://up.example/status/shop',
      total: 1,
    },
    items: [{ event: 'down', status: 'down', since: 100, lastedMs: null, reason: { code: 'x' } }],
  });
  t.match(tell(status('down', 'up'), 160, 100), {
    ...{ type: 'recovery', urgency: 'low', thread: 'down-5-100' },
    items: [{ status: 'up', since: 100, lastedMs: 60, reason: null }],
  });
  t.match(tell(maintenance({ phase: 'ended' }), 61), { type: 'recovery', items: [{ lastedMs: 60 }] });
  t.match(tell(incident('vendor', {}, 'investigating'), 61), {
    type: 'update',
    items: [{ event: 'vendor_incident' }],
  });
  const page = tell(incident('owner'), 1, null, { isPage: true, mark: 'p1' });
  t.match(page, {
    thread: 'incident-p1-1',
    items: [{ event: 'incident', service: { url: 'https://up.example/p/shop' } }],
  });
  t.notOk('mark' in (page.items[0]?.service ?? {}), 'nothing else of the page is told');
});
