/**
 * One subject of `bench/truth.ts` in a process of its own, started as the program starts its own: heaps of that size, and nobody else's
 * garbage in them. Arguments: its name and the ports of the server as JSON. It warms up (blackbox_exporter
 * needs none), says that it is ready, and then makes the checks that each message asks for.
 */
import { createConnection } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { CA_FILE, createLoopbackProber, targetsOf, type Way } from './check-ways.ts';
import { openEngine } from './engine-run.ts';
import { type BlackboxExporter, startBlackboxExporter } from './peers.ts';

/** Who reports latencies: the prober, a request by hand over `node:net`, or blackbox_exporter. */
export type SubjectName = 'upbeat' | 'net' | 'blackbox';

/** What a subject is asked to do: `count` checks, of which `perSecond` start each second; null: all are due in one tick. */
export interface Offer {
  readonly perSecond: number | null;
  readonly count: number;
  /** Checks made first, at the same rate, that do not count. */
  readonly lead: number;
}

/** What it says: `ready` once, or `absent` if it is not installed; then the latencies of each offer, milliseconds. */
export type FromSubject = 'ready' | 'absent' | readonly number[];

interface Subject {
  readonly offer: (offer: Offer) => Promise<readonly number[]>;
  readonly close: () => Promise<void>;
}

const SLOTS = 1_024;
const WARM_UP = 15_000;
const WARM_UP_OPEN = 256;

/** The prober. `burst`: how many are checked in one tick. That is done by the whole engine, which paces what is due together. */
async function openUpbeat(ports: readonly number[], burst: number): Promise<Subject> {
  const prober = createLoopbackProber(SLOTS);
  const targets = targetsOf('http', ports, burst);
  const { signal } = new AbortController();
  const check: Way = async (n, slot) => {
    const target = targets[n % burst];
    if (target === undefined) throw new RangeError('no targets');
    const { timing } = await prober.runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal });
    return timing.totalMs ?? Number.NaN;
  };
  const found: number[] = [];
  const engine = await openEngine(targets, prober.runAttempt, SLOTS, {
    onResults(results) {
      for (const { timing } of results) found.push(timing.totalMs ?? Number.NaN);
    },
  });
  await warmUp(check);
  await engine.checkAll();
  return {
    async offer(offer) {
      if (offer.perSecond !== null) return offerTo(check, offer);
      found.length = 0;
      await engine.checkAll();
      return [...found];
    },
    async close() {
      await engine.close();
      await prober.close();
    },
  };
}

async function openByHand(ports: readonly number[]): Promise<Subject> {
  const check: Way = (n) => timeByHand(ports[n % ports.length] ?? 0);
  await warmUp(check);
  return {
    offer: (offer) => offerTo(check, offer),
    close: async () => {},
  };
}

/** Null: it is not installed. */
async function openBlackbox(ports: readonly number[]): Promise<Subject | null> {
  const blackbox: BlackboxExporter | null = await startBlackboxExporter(CA_FILE, SLOTS);
  if (blackbox === null) return null;
  const check: Way = (n) => blackbox.probe(`http://127.0.0.1:${ports[n % ports.length]}/`);
  return {
    offer: (offer) => offerTo(check, offer),
    close: () => blackbox.stop(),
  };
}

/** Makes the checks that are asked for; after a delay of the event loop it catches up. */
async function offerTo(way: Way, { perSecond, count, lead }: Offer): Promise<number[]> {
  const free = Array.from({ length: SLOTS }, (_, slot) => slot);
  const latencies: number[] = [];
  const all = lead + count;
  const startedMs = performance.now();
  let begun = 0;
  let ended = 0;
  while (ended < all) {
    const sinceS = (performance.now() - startedMs) / 1_000;
    const due = perSecond === null ? all : Math.min(all, Math.floor(sinceS * perSecond) + 1);
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      if (begun >= due) {
        free.push(slot);
        break;
      }
      const taken = slot;
      const counts = begun >= lead;
      way(begun++, taken).then((ms) => {
        free.push(taken);
        ended++;
        if (counts) latencies.push(Number(ms));
      });
    }
    await wait(1);
  }
  return latencies;
}

async function warmUp(way: Way): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: WARM_UP_OPEN }, async (_, slot) => {
      while (next < WARM_UP) await way(next++, slot);
    }),
  );
}

function timeByHand(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const socket = createConnection({ host: '127.0.0.1', port, autoSelectFamily: false });
    socket.on('error', reject);
    socket.on('connect', () =>
      socket.write('HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'),
    );
    socket.once('data', () => {
      resolve(performance.now() - startedMs);
      socket.destroy();
    });
  });
}

if (import.meta.main) {
  const [name, portList = '[]', burst = '0'] = process.argv.slice(2);
  const ports = JSON.parse(portList) as number[];
  const say = (message: FromSubject) => process.send?.(message);
  let close = async () => {};
  process.once('disconnect', () => void close().then(() => process.exit(0)));
  const subject =
    name === 'upbeat'
      ? await openUpbeat(ports, Number(burst))
      : name === 'net'
        ? await openByHand(ports)
        : await openBlackbox(ports);
  if (subject === null) {
    say('absent');
    process.disconnect();
  } else {
    close = subject.close;
    process.on('message', async (offer: Offer) => say(await subject.offer(offer)));
    say('ready');
  }
}
