/** The newest events: which blocks hold them, and from which position on they are complete. */
import t from 'tap';
import { createRecentEvents, type WantedEvents } from '../../src/api/recent-events.ts';
import { transition } from '../site/site-world.ts';

const format = ({ position, slug }: { readonly position: number; readonly slug: string }) =>
  `${slug} ${position}\n`;

const of = (serviceId: number): WantedEvents => ({ serviceId, mayRead: () => true });
const shop = (position: number) => transition(position, 'shop');
const blog = (position: number) => transition(position, 'blog', { serviceId: 2 });

/** Everything after a position, as a stream reads it. */
function readAll(events: ReturnType<typeof createRecentEvents>, after: number, wanted?: WantedEvents) {
  let position = after;
  let text = '';
  for (;;) {
    const block = events.blockAfter(position);
    if (block === null) return { position, text };
    text += block.after(position, wanted)?.toString() ?? '';
    position = block.end;
  }
}

t.test('it returns what comes after any position, of all services or of one', async (t) => {
  const events = createRecentEvents(format);
  t.strictSame([events.newest, events.end, events.blockAfter(0)], [0, 0, null]);
  events.add(shop(3));
  events.add(blog(4));
  t.strictSame(
    [events.newest, events.end, events.blockAfter(0)],
    [4, 0, null],
    'nothing before it is sealed',
  );
  events.seal();
  events.add(shop(7));
  events.seal();
  t.strictSame(readAll(events, 0), { position: 7, text: 'shop 3\nblog 4\nshop 7\n' });
  t.strictSame(readAll(events, 3), { position: 7, text: 'blog 4\nshop 7\n' }, 'within a block');
  t.strictSame(readAll(events, 4), { position: 7, text: 'shop 7\n' });
  t.strictSame(readAll(events, 7), { position: 7, text: '' });
  t.strictSame(readAll(events, 0, of(1)), { position: 7, text: 'shop 3\nshop 7\n' });
  t.strictSame(readAll(events, 3, of(1)), { position: 7, text: 'shop 7\n' }, 'of one, within a block');
  t.strictSame(readAll(events, 0, of(3)), { position: 7, text: '' });
});

t.test('all streams get the same bytes', async (t) => {
  const events = createRecentEvents(format);
  events.add(shop(1));
  events.add(blog(2));
  events.seal();
  const block = events.blockAfter(0);
  t.equal(block?.after(0), block?.bytes);
  t.equal(block?.after(0, of(1)), block?.after(0, of(1)));
});

t.test('it cuts many events into blocks of about what a connection takes', async (t) => {
  const events = createRecentEvents(({ position }) => `${position} `.padEnd(300, '.'));
  for (let position = 1; position <= 1_000; position++) events.add(shop(position));
  events.seal();
  const ends: number[] = [];
  for (let block = events.blockAfter(0); block !== null; block = events.blockAfter(block.end)) {
    t.ok(block.bytes.length < 33_100, `${block.bytes.length} bytes`);
    ends.push(block.end);
  }
  t.equal(ends.at(-1), 1_000);
  t.equal(readAll(events, 0).text.length, 300_000);
});

t.test('it drops the oldest blocks, and says from where on it is complete', async (t) => {
  const events = createRecentEvents(({ position }) => `${position}`.padStart(10), 35);
  t.equal(events.covers(9), false, 'the registry has not been read');
  events.noteRead(9);
  t.strictSame([events.covers(8), events.covers(9)], [false, true]);
  for (let position = 10; position <= 12; position++) {
    events.add(shop(position));
    events.seal();
  }
  t.equal(events.covers(9), true, 'three fit');
  events.add(shop(13));
  events.seal();
  t.strictSame([events.covers(9), events.covers(10)], [false, true]);
  t.strictSame(readAll(events, 10).position, 13);
  events.noteRead(9);
  t.equal(events.covers(9), false, 'a late answer of the registry brings nothing back');
  events.clear();
  t.strictSame([events.covers(13), events.newest, events.blockAfter(0)], [false, 0, null]);
});

t.test(
  'events that are not for everyone are bounded too, and others stay complete without them',
  async (t) => {
    const events = createRecentEvents(format, 100);
    events.noteRead(0);
    events.add(blog(1));
    events.seal();
    for (let position = 2; position <= 40; position++) {
      events.add(shop(position), false);
      events.seal();
    }
    const all: WantedEvents = { serviceId: null, mayRead: () => true };
    t.ok((events.blockAfter(0)?.end ?? 0) > 20);
    t.strictSame([events.covers(20, all), events.covers(39, all)], [false, true]);
    t.strictSame([events.covers(0), events.covers(1)], [false, true]);
    events.clear();
    events.noteRead(0);
    t.ok(events.covers(0, all));
  },
);
