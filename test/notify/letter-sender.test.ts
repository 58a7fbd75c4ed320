/** The sender of letters: its rate, its order, its retries, and what a restart leaves. */
import t from 'tap';
import { composeLetter, MAX_LETTERS_PER_SECOND } from '../../src/notify/letter-sender.ts';
import { NOON } from '../store/registry-fixtures.ts';
import { openLetterWorld } from './letter-world.ts';

t.test('it sends at most 20 letters a second, and each once, also over a restart', async (t) => {
  const count = 65;
  const world = await openLetterWorld(t, count);
  const { clock, sent, registry } = world;
  await world.turn('down');
  let isFirst = true;
  const first = world.start(() => isFirst);
  await world.reached(MAX_LETTERS_PER_SECOND);
  await clock.advance(900);
  t.equal(sent.length, MAX_LETTERS_PER_SECOND, 'no burst');
  await clock.advance(100);
  await world.reached(2 * MAX_LETTERS_PER_SECOND);
  // The process loses the lease while letters are in flight, and ends.
  const inFlight = Promise.withResolvers<{ readonly outcome: 'delivered' }>();
  world.setAnswer(() => inFlight.promise);
  await clock.advance(1_000);
  await world.reached(2 * MAX_LETTERS_PER_SECOND + 8);
  isFirst = false;
  world.setAnswer(() => ({ outcome: 'delivered' }));
  const before = sent.length;
  const second = world.start();
  while (new Set(sent.map(({ to }) => to)).size < count) await clock.advance(1_000);
  inFlight.resolve({ outcome: 'delivered' });
  await Promise.all([first.stop(), second.stop()]);
  const times = new Map<string, number>();
  for (const { to } of sent) times.set(to, (times.get(to) ?? 0) + 1);
  t.equal(times.size, count);

  const twice = [...times.values()].filter((number) => number > 1);
  t.same(new Set(twice), new Set([2]), 'at most once more');
  t.ok(twice.length <= 8, 'only what was in flight');
  t.ok(before < sent.length);
  t.same(await registry.dueLetters(clock.now(), 1_000), []);
});

t.test('it sends 20 letters a second while there are as many, however its polls fall', async (t) => {
  const seconds = 5;
  const world = await openLetterWorld(t, seconds * MAX_LETTERS_PER_SECOND);
  const { clock, sent } = world;
  await world.turn('down');
  const sender = world.start(() => true, 5);
  for (let ms = 0; ms < seconds * 1_000; ms += 10) await clock.advance(10);
  await sender.stop();
  t.ok(sent.length > 0.9 * seconds * MAX_LETTERS_PER_SECOND, `${sent.length} letters`);
  for (const { at } of sent) {
    const within = sent.filter((other) => other.at >= at && other.at < at + 1_000).length;
    t.ok(within <= MAX_LETTERS_PER_SECOND, 'never more');
  }
});

t.test('it does not wait until the clock has caught up with one that was ahead', async (t) => {
  const world = await openLetterWorld(t, 1);
  const { clock, sent, registry } = world;
  await world.turn('down');
  const yearMs = 365 * 86_400_000;
  world.setAnswer(() => ({ outcome: 'failed', problem: { code: 'status', statusCode: 451, text: '' } }));
  const sender = world.start();
  await world.reached(1);
  clock.setBy(yearMs);
  while (sent.length < 2) await clock.advance(1_000);
  await clock.advance(2_000);
  world.setAnswer(() => ({ outcome: 'delivered' }));
  clock.setBy(-yearMs);
  for (let second = 0; second < 5 && sent.length < 3; second += 1) await clock.advance(1_000);
  t.equal(sent.length, 3);
  await sender.stop();
  t.equal(new Set(sent.map(({ id }) => id)).size, 1, 'the same letter');
  t.same(await registry.dueLetters(clock.now() + yearMs, 9), []);
});

t.test('it tries again over a day, in the order of each subscriber, and logs no address', async (t) => {
  const world = await openLetterWorld(t, 2);
  const { clock, sent } = world;
  await world.turn('down');
  await world.turn('up');
  const problem = { code: 'mail_refused', text: '451 try again' } as const;
  world.setAnswer(({ to }) =>
    to.startsWith('s0') ? { outcome: 'failed', problem } : { outcome: 'delivered' },
  );
  const sender = world.start();
  await world.reached(3);
  const of = (name: string) => sent.filter(({ to }) => to.startsWith(name)).map(({ subject }) => subject);
  await clock.advance(4_000);
  t.same(of('s0'), ['🔴 SHOP is down: no answer'], 'the second letter waits for the first one');
  t.same(of('s1'), ['🔴 SHOP is down: no answer', '🟢 SHOP is up again after 1 s']);
  await clock.advance(2_000);
  await world.reached(4);
  world.setAnswer(() => ({ outcome: 'delivered' }));
  await clock.advance(60_000);
  await world.reached(6);
  t.same(of('s0').slice(2), ['🔴 SHOP is down: no answer', '🟢 SHOP is up again after 1 s']);
  const ids = sent
    .filter(({ to, subject }) => to.startsWith('s0') && subject.startsWith('🔴'))
    .map(({ id }) => id);
  t.equal(new Set(ids).size, 1, 'all attempts have one identifier');
  await sender.stop();
  t.notMatch(world.logged.join('\n'), /@example/);
});

t.test('a mail server that is back gets all that waits within a minute', async (t) => {
  const world = await openLetterWorld(t, 5);
  const { clock, sent } = world;
  await world.turn('down');
  const problem = { code: 'mail_unreachable', text: 'connect ECONNREFUSED' } as const;
  world.setAnswer(() => ({ outcome: 'failed', problem }));
  const sender = world.start();
  await world.reached(5);
  // By then the next attempts are half an hour away, but for that of the oldest letter.
  for (let minute = 0; minute < 12; minute++) await clock.advance(60_000);
  const before = sent.length;
  world.setAnswer(() => ({ outcome: 'delivered' }));
  for (let second = 0; second < 65 && sent.length < before + 5; second++) await clock.advance(1_000);
  t.equal(sent.length - before, 5);
  t.equal(new Set(sent.slice(before).map(({ to }) => to)).size, 5);
  await sender.stop();
});

t.test('a new letter has what waits for its subscriber tried again', async (t) => {
  const world = await openLetterWorld(t, 2);
  const { clock, sent } = world;
  const problem = { code: 'mail_refused', text: '451 try again' } as const;
  world.setAnswer(({ to }) =>
    to.startsWith('s1') ? { outcome: 'failed', problem } : { outcome: 'delivered' },
  );
  await world.turn('down');
  const sender = world.start();
  await world.reached(2);
  const ofLate = () => sent.filter(({ to }) => to.startsWith('s1'));
  while (ofLate().length < 3) await clock.advance(1_000);
  world.setAnswer(() => ({ outcome: 'delivered' }));
  for (let second = 0; second < 16; second++) await clock.advance(1_000);
  t.equal(ofLate().length, 3, 'its next attempt is minutes away');
  await world.turn('up', clock.now());
  for (let second = 0; second < 10 && ofLate().length < 5; second++) await clock.advance(1_000);
  t.match(
    ofLate()
      .slice(3)
      .map(({ subject }) => subject),
    [/^\u{1f534} /u, /^\u{1f7e2} /u],
  );
  await sender.stop();
});

t.test(
  'it names in letters because of what a service cannot be reached, to those who may know',
  async (t) => {
    const world = await openLetterWorld(t, 1);
    await world.turn('down');
    await world.registry.writeLetters(NOON + 5_000, 10);
    const [letter] = await world.registry.dueLetters(NOON + 5_000, 1);
    if (letter === undefined) throw new Error('no letter is due');
    const texts = {
      de: [/nicht erreichbar wegen Router/, /nicht erreichbar wegen einer Störung davor/],
      en: [/not reachable, because of Router/, /not reachable, because of something in front of it/],
    } as const;
    for (const language of ['de', 'en'] as const)
      for (const [index, because] of ['Router', null].entries()) {
        const { text, html } = composeLetter(
          { ...letter, language },
          'https://status.example.org',
          () => true,
          () => ({ because }),
        );
        t.match(text, texts[language][index]);
        t.match(html, texts[language][index]);
      }
  },
);
