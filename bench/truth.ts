/**
 * The error of the reported latency against a server that answers after 50 ms: `node bench/truth.ts`. It is compared with a
 * request by hand over `node:net` (the floor in Node, which includes the lateness of server and machine) and with
 * blackbox_exporter, each from a process of its own, in alternating rounds. Upbeat and the floor are warmed up before, so that their code is compiled.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { planMemory } from '../src/cli/child-memory.ts';
import { percentileOf } from '../src/domain/sample.ts';
import { startHelper } from './child.ts';
import { NO_BLACKBOX_EXPORTER } from './peers.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';
import type { FromSubject, Offer, SubjectName } from './truth-subject.ts';

const DELAY_MS = 50;
const ROUNDS = 5;
/**
 * Seconds of the same load that begin each turn and do not count. A prober runs without pause, but a subject sleeps while the others
 * have their turns: its memory is cold then, and on some machines given back to the host.
 */
const LEAD_S = 1;
const BURST = 500;
const SUBJECTS = ['upbeat', 'net', 'blackbox'] as const satisfies readonly SubjectName[];

/** Offered loads with their targets: mean and 99th percentile of the error in milliseconds. */
const LOADS = [
  { name: 'at 100/s', perSecond: 100, count: 300, mean: 0.4, p99: 1.5 },
  { name: 'at 1,000/s', perSecond: 1_000, count: 1_500, mean: 0.3, p99: 1.5 },
  { name: 'at 3,000/s', perSecond: 3_000, count: 4_500, mean: 0.5, p99: 4 },
  {
    name: `of ${BURST} due in one tick`,
    perSecond: null,
    count: BURST,
    mean: 8,
    p99: 20,
  },
] as const;

/** Reports the latencies of some checks, milliseconds. */
interface Subject {
  readonly offer: (offer: Offer) => Promise<readonly number[]>;
  readonly stop: () => Promise<void>;
}

/** Means and 99th percentiles of the rounds. */
interface Errors {
  readonly means: number[];
  readonly p99s: number[];
}
type ErrorsOf = Record<SubjectName, Errors>;
type Load = (typeof LOADS)[number]['name'];

/** Measures the loads. Takes two and a half minutes. */
export async function run(): Promise<readonly BenchRow[]> {
  const server = await startHelper<number[]>('slow-server.ts', [DELAY_MS]);
  const subjects: Partial<Record<SubjectName, Subject | null>> = {};
  try {
    for (const name of SUBJECTS) subjects[name] = await startSubject(name, server.line);
    const errors = await measure(subjects);
    return printRows(LOADS.flatMap((load) => judge(load, errors[load.name])));
  } finally {
    for (const subject of Object.values(subjects)) await subject?.stop();
    server.stop();
  }
}

/** Starts a subject with the options of the program's own process. Null: it is not installed. */
async function startSubject(name: SubjectName, ports: readonly number[]): Promise<Subject | null> {
  const { execArgv, env } = planMemory(process.env, false, null);
  const file = join(import.meta.dirname, 'truth-subject.ts');
  const child = fork(file, [name, JSON.stringify(ports), String(BURST)], {
    execArgv,
    env: { ...process.env, ...env },
  });
  if ((await next(child)) === 'absent') return null;
  return {
    async offer(offer) {
      child.send(offer);
      return (await next(child)) as readonly number[];
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** The next message of a subject. Rejects if it ends first. */
async function next(child: ChildProcess): Promise<FromSubject> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error('a subject ended before its answer');
  });
  ended.catch(() => {});
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [FromSubject];
    return message;
  } finally {
    over.abort();
  }
}

/** Runs all loads with all subjects in turn, `ROUNDS` times, so that a disturbance of the machine affects all of them. */
async function measure(
  subjects: Readonly<Partial<Record<SubjectName, Subject | null>>>,
): Promise<Record<Load, ErrorsOf>> {
  const none = (): ErrorsOf => ({
    upbeat: { means: [], p99s: [] },
    net: { means: [], p99s: [] },
    blackbox: { means: [], p99s: [] },
  });
  const errors = Object.fromEntries(LOADS.map(({ name }) => [name, none()])) as Record<Load, ErrorsOf>;
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, perSecond, count } of LOADS) {
      for (const subject of SUBJECTS) {
        const latencies = await subjects[subject]?.offer({
          perSecond,
          count,
          lead: (perSecond ?? 0) * LEAD_S,
        });
        if (latencies === undefined) continue;
        const sorted = latencies.map((ms) => Math.abs(ms - DELAY_MS)).sort((a, b) => a - b);
        const { means, p99s } = errors[name][subject];
        means.push(sorted.reduce((sum, error) => sum + error, 0) / sorted.length);
        p99s.push(percentileOf(sorted, 0.99) ?? Number.NaN);
      }
    }
  }
  return errors;
}

/** The rows of a load: its errors compared with the floor of the same run, then floor and peer. */
function judge({ name, mean, p99 }: (typeof LOADS)[number], errors: ErrorsOf): BenchRow[] {
  const { upbeat, net, blackbox } = errors;
  const row = (what: string, values: readonly number[], floors: readonly number[], max: number): BenchRow => {
    const value = median(values);
    return atMost(`truth: ${what} error ${name}, beside node:net`, value, 'ms', max, value / median(floors));
  };
  const peer =
    blackbox.means.length === 0
      ? [absent(`truth: error ${name}, blackbox_exporter`, NO_BLACKBOX_EXPORTER)]
      : [
          floor(`truth: mean error ${name}, blackbox_exporter (peer)`, median(blackbox.means), 'ms'),
          floor(`truth: p99 error ${name}, blackbox_exporter (peer)`, median(blackbox.p99s), 'ms'),
        ];
  return [
    row('mean', upbeat.means, net.means, mean),
    row('p99', upbeat.p99s, net.p99s, p99),
    floor(`truth: mean error ${name}, node:net by hand (floor)`, median(net.means), 'ms'),
    floor(`truth: p99 error ${name}, node:net by hand (floor)`, median(net.p99s), 'ms'),
    ...peer,
  ];
}

if (import.meta.main) await run();
