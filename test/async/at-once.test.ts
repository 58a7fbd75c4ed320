/** Values that are mostly at hand. */
import t from 'tap';
import { andThen, attempt } from '../../src/async/at-once.ts';

const fail = () => {
  throw new Error('it fails');
};
const messageOf = (thrown: unknown) => (thrown as Error).message;
const double = (value: number) => value * 2;

t.test('what is at hand goes on at once, and what comes later goes on then', async (t) => {
  t.equal(andThen(2, double), 4);
  t.equal(
    attempt(() => 2, double, fail),
    4,
  );
  const [later, tried] = [andThen(Promise.resolve(2), double), attempt(async () => 2, double, fail)];
  t.type(later, Promise);
  t.type(tried, Promise);
  t.same(await Promise.all([later, tried]), [4, 4]);
});

t.test('what is thrown and what is rejected goes to the same function', async (t) => {
  t.equal(attempt<number, unknown>(fail, double, messageOf), 'it fails');
  t.equal(await attempt<number, unknown>(async () => fail(), double, messageOf), 'it fails');
  t.throws(() => andThen(2, fail), { message: 'it fails' });
});

t.test('what the next step throws is not handled as if the step before had thrown it', async (t) => {
  const handled: unknown[] = [];
  const note = (thrown: unknown) => void handled.push(thrown);
  t.throws(() => attempt(() => 2, fail, note), { message: 'it fails' });
  await t.rejects(Promise.resolve(attempt(async () => 2, fail, note)), { message: 'it fails' });
  t.same(handled, []);
});
