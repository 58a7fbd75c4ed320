/**
 * Entry of a process that makes `grpc` checks of a port, eight at a time: `grpc-caller.ts PORT CALLS`. Prints how they ended,
 * and how many sessions were held at most and are held at the end.
 */
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { countHeldSessions } from '../../src/kinds/grpc.ts';
import { createProber } from '../../src/probe/prober.ts';
import { LOOPBACK_SETTINGS } from '../probe/try-probe.ts';

const [port, calls] = process.argv.slice(2).map(Number);
const SLOTS = 8;
const prober = createProber({ ...LOOPBACK_SETTINGS, concurrency: SLOTS });
const { signal } = new AbortController();
const ends: Record<string, number> = {};
let left = calls ?? 0;
let mostHeld = 0;

await Promise.all(
  Array.from({ length: SLOTS }, async (_, slot) => {
    while (left-- > 0) {
      const check = { ...DEFAULT_CHECK, kind: 'grpc', settings: { plain: true, port: port ?? 0 } } as const;
      const target = {
        ...({ serviceId: 1, revision: 1, domain: '127.0.0.1', origin: 'catalogue', check } as const),
        ...{ accountId: null, memory: NO_MEMORY, lastCheckedAt: null },
      };
      const { failure } = await prober.runAttempt(target, { timeoutMs: 20_000, number: 0, slot, signal });
      const end = failure?.cause.code ?? 'good';
      ends[end] = (ends[end] ?? 0) + 1;
      mostHeld = Math.max(mostHeld, countHeldSessions());
    }
  }),
);
// The last sessions end in the next turns of the event loop.
while (countHeldSessions() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify({ ends, held: mostHeld > 0 }));
await prober.close();
