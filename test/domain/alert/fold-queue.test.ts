/** What waits for a receiver that is away: which messages stand for others, and in which order the rest is said. */
import t from 'tap';
import { foldQueue, type QueuedMessage } from '../../../src/domain/alert/fold-queue.ts';
import type { AlertMessage, MessageItem } from '../../../src/domain/alert/message.ts';
import { BEGAN_AT, itemOf, messageOf } from '../../notify/channels/sample-messages.ts';

/** An item in short: `a` is down, `-a` has been down for five minutes, `=a` was told before and still is down. */
function readItem(word: string): MessageItem {
  const name = word.replace(/^[-=]/, '');
  const service = { ...itemOf().service, id: name.charCodeAt(0), name, slug: name };
  if (word.startsWith('-')) return itemOf({ service, status: 'up', lastedMs: 300_000, reason: null });
  return itemOf({ service, ...(word.startsWith('=') ? { told: true } : {}) });
}

/** A message in short: `<thread> <type> <items>`. */
function readMessage(text: string): AlertMessage {
  const [thread = '', type = '', ...words] = text.split(' ');
  const items = words.map(readItem);
  const total = new Set(words.map((word) => word.replace(/^[-=]/, ''))).size;
  return messageOf({ thread, type: type as AlertMessage['type'], items, total, at: BEGAN_AT });
}

function write({ thread, type, items, endsAlso = [] }: AlertMessage): string {
  const words = items.map(
    ({ service, lastedMs, told }) => `${lastedMs !== null ? '-' : told ? '=' : ''}${service.name}`,
  );
  return [thread, type, ...words, ...endsAlso.map((other) => `ends ${other}`)].join(' ');
}

/** What is left of a queue; the first `tried` messages were tried. */
function fold(queue: readonly string[], seen: readonly string[] = [], tried = 0): string[] {
  const messages = queue.map(
    (text, id): QueuedMessage => ({ id, attempts: id < tried ? 1 : 0, message: readMessage(text) }),
  );
  const { changed, removed } = foldQueue(messages, new Set(seen));
  return messages
    .filter(({ id }) => !removed.has(id))
    .map(({ id, message }) => write(changed.get(id) ?? message));
}

t.test('what is over by then is one line, and every service keeps its order', async (t) => {
  const rows: readonly (readonly [
    name: string,
    left: readonly string[],
    ...fold: Parameters<typeof fold>,
  ])[] = [
    ['an outage and its end', ['1 recovery -a'], ['1 alert a', '1 reminder a', '1 recovery -a']],
    ['one that was taken', ['1 recovery -a'], ['1 alert a', '1 acknowledged a', '1 recovery -a']],
    ['one whose end the receiver has to see', ['1 recovery -a'], ['1 alert a', '1 recovery -a'], ['1'], 1],
    ['several', ['2 recovery -b -a ends 1'], ['1 alert a', '1 recovery -a', '2 alert b', '2 recovery -b']],
    [
      'what goes on is said first',
      ['2 alert b', '3 recovery -c -a ends 1'],
      ['1 alert a', '1 recovery -a', '2 alert b', '3 alert c', '3 recovery -c'],
    ],
    [
      'a service that is down again',
      ['1 recovery -a', '2 alert a'],
      ['1 alert a', '1 recovery -a', '2 alert a'],
    ],
    ['a thread that grows', ['1 alert b a'], ['1 alert a', '1 alert b =a']],
    ['a part of it is over', ['1 alert -a b'], ['1 alert a b', '1 update -a =b']],
    [
      'ends of threads that the receiver knows stay apart',
      ['1 recovery -a', '2 recovery -b'],
      ['1 recovery -a', '2 recovery -b'],
      ['1', '2'],
    ],
    [
      'what another message tells of the service in between',
      ['1 update -a =b', '2 alert a', '1 recovery -b'],
      ['1 update -a =b', '2 alert a', '1 recovery -b'],
      ['1'],
    ],
  ];
  for (const [name, left, ...given] of rows) t.same(fold(...given), left, name);
});

t.test('the line of an outage that was never told says why it was so', async (t) => {
  const messages = ['1 alert a', '1 recovery -a'].map((text, id) => ({
    ...{ id, attempts: 0 },
    message: readMessage(text),
  }));
  const { changed } = foldQueue(messages, new Set());
  t.match(changed.get(1), { type: 'recovery', urgency: 'low', total: 1, counts: { up: 1 } });
  t.match(changed.get(1)?.items, [{ lastedMs: 300_000, reason: { code: 'check_failed' } }]);
});
