/** Words in which services speak of themselves, in health bodies and heartbeats (decisions, Heartbeats). */
import type { Verdict } from './status.ts';

/** The vocabulary, by verdict. */
export const STATUS_VOCABULARY: Readonly<Record<Verdict, readonly string[]>> = {
  up: ['ok', 'up', 'pass', 'healthy', 'operational'],
  slow: ['slow', 'warn', 'warning', 'degraded', 'partial'],
  down: ['down', 'error', 'fail', 'failing', 'critical', 'unhealthy', 'outage'],
};

const VERDICT_OF = new Map(
  (Object.keys(STATUS_VOCABULARY) as Verdict[]).flatMap((verdict) =>
    STATUS_VOCABULARY[verdict].map((word) => [word, verdict] as const),
  ),
);

/** The verdict that a word of any case stands for; null: not of the vocabulary. */
export function readStatusWord(word: string): Verdict | null {
  // Some characters beyond ASCII have an ASCII letter as their lower case, such as the sign for Kelvin.
  if (!/^[A-Za-z]+$/.test(word)) return null;
  return VERDICT_OF.get(word.toLowerCase()) ?? null;
}
