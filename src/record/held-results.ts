/** Failures without an HTTP response, and slow answers, that wait until it is known whether the fault is ours. */
import type { CheckResult } from '../domain/result.ts';
import type { Entry } from './entry.ts';
import type { FailureSpan, Ruling } from './prober-watch.ts';

/** A result on hold. */
export interface HeldResult {
  readonly entry: Entry;
  readonly result: CheckResult;
  readonly span: FailureSpan;
}

/** The results on hold, oldest first. */
export interface HeldResults {
  readonly size: number;
  hold(held: HeldResult): void;
  /** Asks for the ruling on each, and hands on those that need not wait any longer. */
  release(rule: (held: HeldResult) => Ruling, settle: (held: HeldResult, ruling: Ruling) => void): void;
  /** Takes all of them out. */
  drain(): readonly HeldResult[];
}

/** An empty list. */
export function createHeldResults(): HeldResults {
  let list: HeldResult[] = [];
  return {
    get size() {
      return list.length;
    },
    hold(held) {
      list.push(held);
    },
    release(rule, settle) {
      const waiting: HeldResult[] = [];
      for (const held of list.splice(0)) {
        const ruling = rule(held);
        if (ruling === 'wait') waiting.push(held);
        else settle(held, ruling);
      }
      list = waiting.concat(list);
    },
    drain: () => list.splice(0),
  };
}
