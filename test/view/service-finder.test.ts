import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { retryLater } from '../../src/http/problem.ts';
import { createReaderWatch } from '../../src/view/service-finder.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it ends the stream of a reader who is refused, and none while nothing can be read', async (t) => {
  const clock = createFakeClock();
  const watch = createReaderWatch(clock);
  const ended: string[] = [];
  let asked = 0;
  const open = (key: string, read: () => Promise<string>) => {
    const response = Object.assign(new EventEmitter(), { end: () => ended.push(key) });
    watch(response as unknown as ServerResponse, 'all', { key, read });
  };
  open('same', async () => 'all');
  open('less', async () => 'some');
  for (const _ of [1, 2])
    open('broken', async () => {
      asked += 1;
      throw new Error('the registry does not answer');
    });
  open('guesser', async () => {
    throw retryLater('rate_limited', 60, 'Too many wrong passwords.');
  });
  await clock.advance(3_000);
  await new Promise(setImmediate);
  t.same(ended, ['less', 'guesser']);
  t.equal(asked, 1, 'streams with the same reader are asked once');
});
