/** Requests wait for a registry whose thread hangs no longer than it takes to notice. */
import t from 'tap';
import { silentLog } from '../../../src/log.ts';
import { eventOf } from '../../../src/log-events.ts';
import type { StorageProblem } from '../../../src/store/ports/storage-health.ts';
import { refuseWhileSilent } from '../../../src/store/registry/registry-client.ts';
import { createHealth, SILENT } from './silent-registry.ts';

t.test(
  'calls are refused at once while the thread hangs, and those under way when it is noticed',
  async (t) => {
    const { health } = createHealth();
    const answers: PromiseWithResolvers<string>[] = [];
    const store = {
      read(name: string) {
        const answer = Promise.withResolvers<string>();
        answers.push(answer);
        return answer.promise.then((word) => `${word} ${name}`);
      },
      watch: () => 'unchanged',
      fail: async () => {
        throw new RangeError('no such name');
      },
    };
    const refusing = refuseWhileSilent(store, ['read', 'fail', 'commitRows'], health.silence);
    const [first, second] = [refusing.read('Ada'), refusing.read('Bo')];
    answers[0]?.resolve('hello');
    t.equal(await first, 'hello Ada');
    await t.rejects(refusing.fail(), { message: 'no such name' });
    health.noteSilence(true);
    await t.rejects(second, SILENT);
    await t.rejects(refusing.read('Cy'), SILENT);
    t.equal(answers.length, 2, 'the thread gets no further work from requests');
    t.equal(refusing.watch(), 'unchanged');
    answers[1]?.resolve('late');
    health.noteSilence(false);
    const third = refusing.read('Di');
    answers[2]?.resolve('hello');
    t.equal(await third, 'hello Di');
  },
);

t.test('a thread that hangs is a problem of the registry beside a disk that is full', async (t) => {
  const lines: string[] = [];
  const log = { ...silentLog, error: (_fields: object, message: string) => void lines.push(message) };
  const { state, clock, health } = createHealth(log);
  const told: (string | null)[] = [];
  health.watch((problem: StorageProblem | null) => told.push(problem?.code ?? null));
  health.noteSilence(true);
  t.match(health.problem(), SILENT);
  state.isFull = true;
  health.note(Object.assign(new Error('the disk is full'), { code: 'storage_full' }));
  t.match(health.problem(), SILENT);
  health.noteSilence(false);
  t.match(health.problem(), { code: 'storage_full' });
  state.isFull = false;
  await clock.advance(1_000);
  t.equal(health.problem(), null);
  t.same(told, ['storage_unreachable', 'storage_unreachable', 'storage_full', null]);
  t.same(lines.map(eventOf), ['registry_silent', 'registry_refuses_writes']);
  health.stop();
  health.noteSilence(true);
  t.equal(health.problem(), null, 'a registry that is closed says nothing more');
});
