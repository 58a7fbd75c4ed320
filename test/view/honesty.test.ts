/** Times in which the page of a vendor could not be read. */
import t from 'tap';
import { readUnread, unreadPeriods } from '../../src/view/honesty.ts';
import { service } from '../site/site-world.ts';

const statusPage = {
  url: 'https://status.example',
  kind: 'statuspage',
  feedUrl: null,
  components: [],
} as const;
const READ = service(1, 'read', { statusPage: statusPage as never });
const NONE = service(2, 'none');

t.test('it reads the times of the page of a service, and none of a service without one', async (t) => {
  const asked: unknown[] = [];
  const registry = {
    async unreadTimesSince(from: number, feed?: string) {
      asked.push([from, feed]);
      return [];
    },
  };
  await readUnread(READ, 5, registry as never);
  await readUnread(NONE, 5, registry as never);
  t.match(asked, [[5, /status\.example/]]);
  t.equal(asked.length, 1);
});

t.test('it joins times that meet, ends them now, and adds the time since a page was last read', async (t) => {
  let feed = '';
  await readUnread(READ, 0, {
    async unreadTimesSince(_: number, given: string) {
      feed = given;
      return [];
    },
  } as never);
  const time = (from: number, to: number | null, of = feed) => ({ feed: of, from, to });
  const stored = [
    time(50, 60),
    time(10, 20),
    time(20, 30),
    time(5, 9, 'other'),
    time(90, null),
    time(120, 130),
  ];
  const fresh = () => null;
  t.same(unreadPeriods([READ], stored as never, fresh as never, 100), [
    { from: 10, to: 30 },
    { from: 50, to: 60 },
    { from: 90, to: 100 },
  ]);
  const stale = () => ({ stale: true, readAt: 55 });
  t.same(unreadPeriods([READ], stored as never, stale as never, 100), [
    { from: 10, to: 30 },
    { from: 50, to: 100 },
  ]);
});
