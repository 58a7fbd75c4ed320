/** `kill -9` to the whole program under load; `npm run soak -- crashes` does so 200 times. */
import t from 'tap';
import { runCrashes } from '../soak/crashes/crash-run.ts';
import { EMBEDDED } from '../soak/crashes/crash-stores.ts';

t.setTimeout(300_000);

t.test('what was acknowledged under load is there after kill -9, once', async (t) => {
  const found = await runCrashes({ stores: EMBEDDED, kills: 4, random: Math.random, onKill() {} });
  t.same(found.wrong, []);
  t.equal(found.kills, 4);
  t.ok(found.beats > 0 && found.created > 0 && found.transitions > 0, 'there was something to lose');
});
