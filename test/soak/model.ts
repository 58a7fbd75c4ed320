/**
 * `npm run soak -- model [--seeds 10000] [--from 1] [--majority 1000] [--days 20] [--big 200]`: random worlds through the program and through the
 * reference implementation of the rules: small ones, ones without control targets, and ones of a day. Prints what was compared, and each
 * world that differs, shrunk. Ends with status 1 if one does.
 */
import { parseArgs } from 'node:util';
import { type Compared, compareSeed, openShelf } from '../model/compare.ts';
import { BIG_WORLD, LONG_WORLD, MAJORITY_WORLD, SHORT_WORLD, type WorldSize } from '../model/world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    majority: { type: 'string', default: '1000' },
    big: { type: 'string', default: '0' },
    days: { type: 'string', default: '20' },
  },
});
/** A store is replaced after so many worlds, so that it stays small. */
const SEEDS_PER_SHELF = 200;
/** To shrink a world takes about a minute: a run over worlds of one size ends after so many that differ. */
const MAX_DIFFERENCES = 5;
const from = Number(values.from);

async function run(name: string, size: WorldSize, seeds: number): Promise<void> {
  let differences = 0;
  const total = { happenings: 0, transitions: 0, incidents: 0, days: 0, messages: 0 };
  for (let first = from; first < from + seeds; first += SEEDS_PER_SHELF) {
    const shelf = openShelf();
    for (let seed = first; seed < Math.min(first + SEEDS_PER_SHELF, from + seeds); seed++) {
      try {
        const one = await compareSeed(seed, size, shelf);
        add(total, one);
        if (size === BIG_WORLD) console.log(`${name}: seed ${seed} agrees, ${one.happenings} happenings`);
      } catch (error) {
        console.log(`${name}: seed ${seed} differs`, error);
        process.exitCode = 1;
        differences += 1;
        if (differences === MAX_DIFFERENCES) {
          console.log(`${name}: ended after seed ${seed}`);
          await shelf.close();
          return;
        }
      }
    }
    await shelf.close();
  }
  console.log(
    `${name}: ${seeds - differences} of ${seeds} worlds from seed ${from}, ${total.happenings} happenings, ${total.transitions} transitions, ` +
      `${total.incidents} incidents, ${total.days} daily figures and ${total.messages} messages of alerts are those of the rules`,
  );
}

function add(total: Record<keyof Compared, number>, one: Compared): void {
  for (const key of ['happenings', 'transitions', 'incidents', 'days', 'messages'] as const)
    total[key] += one[key];
}

await run('short', SHORT_WORLD, Number(values.seeds));
await run('without control targets', MAJORITY_WORLD, Number(values.majority));
await run('90 days', BIG_WORLD, Number(values.big));
await run('a day', LONG_WORLD, Number(values.days));
