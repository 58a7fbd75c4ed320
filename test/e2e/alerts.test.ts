/** An outage as its owner lives it: the whole program, real receivers, and a wall clock that is set forward. */
import t from 'tap';
import { NEEDS_PORT_443, startToldProgram, startToldWorld } from '../alerts/told-world.ts';
import { NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

t.setTimeout(180_000);

/** What changes within 30 s is one message. */
const GROUPED_MS = 31_000;
const REPEATED_MS = 5 * 60_000;

t.test(
  'an outage is told, reminded of, acknowledged by its link, and ended where it was told',
  {
    ...NEEDS_WALL_CLOCK,
    ...NEEDS_PORT_443,
  },
  async (t) => {
    const world = await startToldWorld(t);
    const { installation, program: running, pass } = await startToldProgram(t, world);
    const program = running();
    const is = (status: string) =>
      program.until('/api/v1/status/shop', (shown: { readonly status: string }) => shown.status === status);
    await is('up');
    await world.addChannels(installation, program);

    world.turn(true);
    await is('down');
    pass(GROUPED_MS);
    await world.untilTold(1);
    pass(REPEATED_MS);
    await world.untilTold(2);

    const [{ acknowledgeUrl = '' } = {}] = world.told().webhook;
    const read = async (method: string) => await (await fetch(acknowledgeUrl ?? '', { method })).text();
    t.match(await read('GET'), /<form[^>]*method="post"[\s\S]*<button/, 'the link leads to a button');
    t.match(await read('GET'), /<form/, 'reading changes nothing');
    const taken = await read('POST');
    t.notMatch(taken, /<button/);
    t.match(taken, /[Aa]cknowledged/);
    await world.untilTold(3);
    // Had reminders not ended, one would come before the recovery.
    pass(3 * REPEATED_MS);
    world.turn(false);
    await is('up');
    pass(GROUPED_MS);
    await world.untilTold(4);

    const told = world.told();
    const [{ thread = '' } = {}] = told.webhook;
    t.same(
      told.webhook.map((message) => [message.type, message.thread]),
      ['alert', 'reminder', 'acknowledged', 'recovery'].map((type) => [type, thread]),
    );
    t.same(
      told.pagerduty,
      ['trigger', 'trigger', 'acknowledge', 'resolve'].map((action) => ({ action, key: thread })),
    );
    t.same(
      told.slack.map(({ isReply }) => isReply),
      [false, true, true, true],
      'Slack: all in the thread of the first',
    );
    t.same(
      told.email.map(({ isReply }) => isReply),
      [false, true, true, true],
      'e-mail: References lead to the first',
    );
    t.match(
      told.email.map(({ subject }) => subject),
      [/shop.*down/i, /down/i, /acknowledged/i, /up again|is up|back/i],
    );
    t.equal(await program.stop(), 0);
  },
);
