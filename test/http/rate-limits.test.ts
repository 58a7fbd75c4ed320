/** The memory of the limits: bounded, and right under every order of requests. */
import fc from 'fast-check';
import t from 'tap';
import { createRateLimiter, LimitMemory } from '../../src/http/rate-limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it remembers a bounded number of addresses, and forgets the oldest first', async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock, 1_000);
  const api = createRateLimiter('api', 5, memory);
  const pictures = createRateLimiter('pictures', 5, memory);
  for (let index = 0; index < 1_500; index++) {
    await api.charge(`10.0.${index >> 8}.${index & 255}`);
    await pictures.charge(`10.1.${index >> 8}.${index & 255}`);
    if (index === 0) t.equal(memory.size, 2);
  }
  t.equal(memory.size, 1_000);
  t.equal(api.peek('10.0.0.0').remaining, 5, 'forgotten');
  t.equal(api.peek('10.0.5.219').remaining, 4, 'remembered');
});

t.test('it forgets windows that have ended', async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock);
  const limiter = createRateLimiter('api', 5, memory);
  for (let index = 0; index < 500; index++) await limiter.charge(`client ${index}`);
  await clock.advance(60_000);
  await limiter.charge('another');
  t.equal(memory.size, 1);
});

t.test("it ends a window by its own clock, whatever the library's clock says", async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock);
  const limiter = createRateLimiter('api', 5, memory);
  // As the library writes it, with an end that lies behind the library's own clock.
  memory.set('api:a', { id: 'a', reset: 1, remaining: 5, total: 5 });
  t.strictSame((await limiter.charge('a')).remaining, 3, 'the window goes on');
  await clock.advance(59_999);
  t.equal((await limiter.charge('a')).remaining, 2);
  await clock.advance(1);
  t.equal((await limiter.charge('a')).remaining, 4, 'a new window');
});

t.test('it keeps at most 100,000 addresses', async (t) => {
  const memory = new LimitMemory(createFakeClock());
  const limiter = createRateLimiter('api', 5, memory);
  for (let index = 0; index <= 100_000; index++) void limiter.charge(`client ${index}`);
  await limiter.charge('one more');
  t.equal(memory.size, 100_000);
});

t.test('it allows exactly the limit in each window, whatever comes when', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.record({ client: fc.constantFrom('a', 'b'), waitMs: fc.nat(40_000), burst: fc.nat(6) }), {
        maxLength: 12,
      }),
      async (limit, steps) => {
        const clock = createFakeClock();
        const limiter = createRateLimiter('api', limit, new LimitMemory(clock));
        const model = new Map<string, { endsAt: number; used: number }>();
        for (const { client, waitMs, burst } of steps) {
          await clock.advance(waitMs);
          const answers = await Promise.all(Array.from({ length: burst }, () => limiter.charge(client)));
          for (const { allowed, remaining } of answers) {
            const known = model.get(client);
            const window =
              known === undefined || known.endsAt <= clock.monotonic()
                ? { endsAt: clock.monotonic() + 60_000, used: 0 }
                : known;
            window.used++;
            model.set(client, window);
            if (allowed !== window.used <= limit) return false;
            if (remaining !== Math.max(0, limit - window.used)) return false;
          }
        }
        return true;
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});
