import fc from 'fast-check';
import t from 'tap';
import { createActorGroup, createMailbox } from '../../src/actor/actor-group.ts';

t.test('a full mailbox follows its policy', async (t) => {
  for (const [policy, answers, kept] of [
    ['reject', [true, true, false], [1, 2]],
    ['drop_oldest', [true, true, true], [2, 3]],
  ] as const) {
    const mailbox = createMailbox<number>(2, policy);
    t.same(
      [1, 2, 3].map((message) => mailbox.put(message)),
      answers,
      policy,
    );
    t.same([mailbox.take(), mailbox.take(), mailbox.take()], [...kept, undefined], policy);
  }
  t.throws(() => createMailbox(0, 'reject'), RangeError);
});

t.test('it keeps a mailbox in order and within its bound', async () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat())), fc.integer({ min: 1, max: 5 }), (moves, limit) => {
      const mailbox = createMailbox<number>(limit, 'drop_oldest');
      let model: number[] = [];
      for (const move of moves) {
        if (move === null) {
          if (mailbox.take() !== model.shift()) throw new Error('order');
        } else {
          mailbox.put(move);
          model = [...model, move].slice(-limit);
        }
        if (mailbox.size !== model.length) throw new Error('size');
      }
    }),
  );
});

t.test('it takes one message at a time, also those that an effect sends', async (t) => {
  const story: string[] = [];
  const group = createActorGroup<number, string, string>({
    mailboxLimit: 2,
    overflow: 'reject',
    handle: (state, message) => ({ state: state + 1, effects: message === 'go' ? ['a', 'b', 'c'] : [] }),
    perform(id, effect) {
      story.push(`${effect} at ${group.state(id)}`);
      story.push(`${effect} sent ${group.send(id, effect)}`);
    },
  });
  group.add(7, 0);
  t.equal(group.send(7, 'go'), true);
  t.same(story, ['a at 1', 'a sent true', 'b at 1', 'b sent true', 'c at 1', 'c sent false']);
  t.equal(group.state(7), 3, 'the two that found room were handled after it');
  t.equal(group.send(8, 'go'), false, 'there is no such actor');
});

t.test('an actor can be removed while it handles a message', async (t) => {
  const group = createActorGroup<number, string, string>({
    mailboxLimit: 5,
    overflow: 'reject',
    handle: (state) => ({ state: state + 1, effects: ['again', 'remove'] }),
    perform(id, effect) {
      if (effect === 'remove') group.remove(id);
      else group.send(id, effect);
    },
  });
  group.add(1, 0);
  group.send(1, 'x');
  t.equal(group.state(1), undefined);
  t.equal(group.size, 0);
});

t.test('its states may be kept by another store, which is not written for a state that stays', async (t) => {
  const kept = new Map([[7, 10]]);
  const written: [id: number, state: number][] = [];
  const actors = createActorGroup<number, number, never>({
    handle: (state, message) => ({ state: state + message, effects: [] }),
    perform() {},
    mailboxLimit: 1,
    overflow: 'reject',
    states: {
      get size() {
        return kept.size;
      },
      has: (id) => kept.has(id),
      get: (id) => kept.get(id),
      set(id, state) {
        written.push([id, state]);
        kept.set(id, state);
      },
      delete: (id) => kept.delete(id),
    },
  });
  t.ok(actors.send(7, 0));
  t.ok(actors.send(7, 5));
  t.notOk(actors.send(8, 5));
  t.same(written, [[7, 15]]);
  actors.remove(7);
  t.equal(actors.size, 0);
});
