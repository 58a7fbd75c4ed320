import t from 'tap';
import { startThread } from '../../src/thread/rpc.ts';

const ENTRY = new URL('./echo-thread.ts', import.meta.url);

t.test('it answers calls, keeps error codes and takes transfers', async (t) => {
  const thread = startThread<typeof import('./echo-thread.ts').methods>(ENTRY, { greeting: 'hi' }, () => {});
  t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  await t.rejects(thread.call('fail', []), { message: 'no luck', code: 'out_of_luck' });
  const bytes = new Uint8Array([1, 2, 3]);
  t.equal(await thread.call('sum', [bytes], [bytes.buffer]), 6);
  t.equal(bytes.byteLength, 0, 'the buffer moved instead of being copied');
  await thread.terminate();
});

t.test('it rejects open and later calls when the thread ends by a fault, and reports it', async (t) => {
  const ended = Promise.withResolvers<Error>();
  const thread = startThread<typeof import('./echo-thread.ts').methods>(ENTRY, {}, ended.resolve);
  await t.rejects(thread.call('exit', [3]), { message: /ended with code 3/ });
  t.match((await ended.promise).message, /ended with code 3/);
  await t.rejects(thread.call('greet', ['Ada']), { message: /ended with code 3/ });
  t.equal(thread.open, 0);
});

t.test('a thread answers a ping, whatever it serves, and one that has ended does not', async (t) => {
  const thread = startThread<typeof import('./echo-thread.ts').methods>(ENTRY, {}, () => {});
  t.equal(await thread.ping(), undefined);
  await t.rejects(thread.call('exit', [3]));
  await t.rejects(thread.ping(), { message: /ended with code 3/ });
});
