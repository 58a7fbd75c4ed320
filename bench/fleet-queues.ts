/**
 * Fleets on paper: what the results of a fleet meet on their way, simulated from the costs that the baseline has measured. Results arrive
 * over their interval; at one moment a hundredth of all services fail in every region and are checked again. `npm run bench -- --draw`
 * writes the outcome into `docs/scale.md`.
 */
import type { BenchRow } from './row.ts';

/** Rows of the baseline, by what they cost. */
const COSTS = {
  judged: { row: 'cluster: results the judge takes in, Redis and PostgreSQL', perSecond: true },
  redis: { row: 'statuses: CPU of Redis for one, with a serving node', perSecond: false },
  followed: { row: 'statuses: CPU of a serving node to follow one', perSecond: false },
  request: { row: 'GET /status/:slug, limits in Redis, beside node:http, the same JSON', perSecond: false },
} as const;

/** Rows of what a judge holds of a service, by the number of regions. */
const MEMORY: Readonly<Record<number, string>> = {
  3: 'memory: a service of a judge, three regions',
  30: 'memory: a service of a judge, 30 regions',
};

interface Fleet {
  readonly name: string;
  readonly services: number;
  readonly regions: number;
  readonly readers: number;
  /** The judge gets one of so many routine results. */
  readonly every: number;
}

const READERS = 100_000;
const fleet = (services: number, regions: number, every = 1): Fleet => ({
  name: `${services.toLocaleString('en')} in ${regions} regions${every === 1 ? '' : `, each ${every}th routine result`}`,
  ...{ services, regions, every, readers: READERS },
});
const FLEETS: readonly Fleet[] = [
  fleet(1_000_000, 3),
  fleet(5_000_000, 3),
  fleet(500_000, 30),
  fleet(1_000_000, 30),
  fleet(10_000_000, 30),
  fleet(10_000_000, 30, 10),
];

const INTERVAL_S = 300;
const RUN_S = 600;
const STEP_S = 0.1;
/** When services fail, how many of them, and when each of them is checked again. */
const FAILURE_S = 60;
const FAILING = 0.01;
const RECHECKS_S = [2, 6];

/** A queue that takes so many a second, and how long what has arrived last would wait. */
function createQueue(perSecond: number) {
  let waiting = 0;
  let worstS = 0;
  return {
    /** Returns how many leave it in a step. */
    step(arriving: number): number {
      const leaving = Math.min(waiting + arriving, perSecond * STEP_S);
      waiting += arriving - leaving;
      worstS = Math.max(worstS, waiting / perSecond);
      return leaving;
    },
    waiting: () => waiting,
    worstS: () => worstS,
  };
}

/** Runs a fleet for ten minutes. `capacity`: a second, of the judge, of Redis and of a serving node that follows. */
function simulate(
  fleet: Fleet,
  capacity: { readonly judged: number; readonly redis: number; readonly followed: number },
) {
  const { services, regions, every } = fleet;
  const routine = (services * regions) / INTERVAL_S / every;
  const queues = {
    judge: createQueue(capacity.judged),
    redis: createQueue(capacity.redis),
    serving: createQueue(capacity.followed),
  };
  for (let step = 0; step * STEP_S < RUN_S; step++) {
    const atS = step * STEP_S;
    // What has failed is found over an interval, and its checks again come at their times after each.
    const isFound = (fromS: number) => atS >= FAILURE_S + fromS && atS < FAILURE_S + fromS + INTERVAL_S;
    const again = RECHECKS_S.filter(isFound).length * FAILING * ((services * regions) / INTERVAL_S);
    const judged = queues.judge.step((routine + again) * STEP_S);
    queues.serving.step(queues.redis.step(judged));
  }
  return { routine, queues };
}

/** The table of fleets, with the shares of judge, Redis and serving node that are taken. */
export function formatFleets(rows: readonly BenchRow[]): string {
  const capacityOf = ({ row, perSecond }: (typeof COSTS)[keyof typeof COSTS]) => {
    const value = rows.find(({ name }) => name === row)?.value ?? Number.NaN;
    return perSecond ? value : 1e6 / value;
  };
  const capacity = {
    judged: capacityOf(COSTS.judged),
    redis: capacityOf(COSTS.redis),
    followed: capacityOf(COSTS.followed),
  };
  const requests = capacityOf(COSTS.request);
  const lines = FLEETS.map((one) => {
    const { routine, queues } = simulate(one, capacity);
    const shares = [routine / capacity.judged, routine / capacity.redis, routine / capacity.followed];
    const holds = Object.values(queues).every((queue) => queue.worstS() < 1);
    const bytes = rows.find(({ name }) => name === MEMORY[one.regions])?.value ?? Number.NaN;
    const cells = [
      one.name,
      Math.round(routine).toLocaleString('en'),
      ...shares.map((share) => share.toFixed(2)),
      holds
        ? 'none'
        : `${formatCount(queues.judge.waiting() + queues.redis.waiting() + queues.serving.waiting())} results`,
      `${((bytes * one.services) / 1e9).toFixed(1)} GB`,
      Math.ceil(one.readers / requests).toString(),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| services | results a second | judge | Redis | a serving node | waiting after ten minutes | memory of the judge | cores for 100,000 readers a second |',
    `|${' --- |'.repeat(8)}`,
    ...lines,
  ].join('\n');
}

function formatCount(count: number): string {
  return count < 1e6 ? Math.round(count).toLocaleString('en') : `${(count / 1e6).toFixed(0)} million`;
}
