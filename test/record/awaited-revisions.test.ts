/** Who waits for a change of a service hears of it, and waits for none that never comes. */
import t from 'tap';
import { createAwaitedRevisions } from '../../src/record/heartbeat-intake.ts';
import type { ServiceChange } from '../../src/store/ports/services.ts';
import { service } from '../site/site-world.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const change = (serviceId: number, revision: number | null): ServiceChange => {
  const slug = `s${serviceId}`;
  return {
    seq: 1,
    serviceId,
    slug,
    service: revision === null ? null : service(serviceId, slug, { revision }),
  };
};

t.test('it waits for the revision, for the removal, and at most five seconds', async (t) => {
  for (const [told, after] of [
    [change(1, 2), 0],
    [change(1, 3), 0],
    [change(1, null), 0],
    [change(1, 1), 5_000],
    [change(2, 2), 5_000],
    [null, 5_000],
  ] as const) {
    const clock = createFakeClock();
    const awaited = createAwaitedRevisions(clock);
    let heardAfter: number | null = null;
    void awaited.wait(1, 2).then(() => {
      heardAfter = clock.monotonic();
    });
    await clock.advance(0);
    t.equal(heardAfter, null);
    if (told !== null) awaited.notify(told);
    await clock.advance(4_999);
    t.equal(heardAfter === null, after > 0);
    await clock.advance(1);
    t.not(heardAfter, null);
  }
});
