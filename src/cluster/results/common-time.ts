/** Converts wall times of a node to the common clock of all nodes, which is that of Redis. */
import { CLOCK_OFF_MS, MAX_CLOCK_OFFSET_MS } from '../../domain/node.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import type { NodeResults } from './result-codec.ts';

/**
 * The results with corrected times. An offset below {@link CLOCK_OFF_MS} is not corrected, since it cannot be
 * distinguished from the time that a message takes. Null: the clock is off by more than {@link MAX_CLOCK_OFFSET_MS}.
 */
export function correctTimes({ clockOffsetMs, results }: NodeResults): readonly RuledResult[] | null {
  if (Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS) return null;
  if (Math.abs(clockOffsetMs) < CLOCK_OFF_MS) return results;
  return results.map((ruled) => ({ ...ruled, result: withOffset(ruled.result, -clockOffsetMs) }));
}

/** Shifts all times of the node's clock. */
function withOffset(result: CheckResult, byMs: number): CheckResult {
  const { startedAt, endedAt, firstFailedAt, memory } = result;
  const { askHealthAt } = memory;
  return {
    ...result,
    startedAt: startedAt + byMs,
    endedAt: endedAt + byMs,
    firstFailedAt: firstFailedAt === null ? null : firstFailedAt + byMs,
    memory: askHealthAt === null ? memory : { ...memory, askHealthAt: askHealthAt + byMs },
  };
}
