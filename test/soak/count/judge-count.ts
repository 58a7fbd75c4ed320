/** What a count must come to: nothing lost, nothing doubled. */
import { isDeepStrictEqual } from 'node:util';
import type { Count } from './count-run.ts';

/** What is wrong with a count, a line each; none: nothing was lost or doubled. */
export function judgeCount(count: Count): string[] {
  const { samplesTaken, samplesStored, registered, inRedis, heardAtMonitor, heardBeside } = count;
  const positions = registered.map(({ position }) => position);
  const gapless = positions.every((position, index) => position === index + 1);
  const wrong: (string | false)[] = [
    samplesTaken === 0 && 'no sample was taken',
    samplesTaken !== samplesStored && `${samplesTaken} samples were taken, and ${samplesStored} are stored`,
    positions.length === 0 && 'nothing has happened',
    !gapless && 'positions in the registry have gaps',
    !isDeepStrictEqual(inRedis, registered) &&
      `${registered.length} transitions are registered, and ${inRedis.length} are in Redis`,
    compare('a client of the monitor', heardAtMonitor, positions),
    compare('a client of the process beside it', heardBeside, positions),
    count.wrongInRedis.length > 0 &&
      `services ${count.wrongInRedis.join(', ')} have another status in Redis than in the registry`,
    !isDeepStrictEqual(count.exits, [0, 0]) && `the processes ended with ${count.exits.join(' and ')}`,
    ...count.complaints.map((line) => `the log complains: ${line}`),
  ];
  return wrong.filter((line) => line !== false);
}

/** Clients left a moment before the end: they must have heard a beginning of the list, each once and in order. */
function compare(who: string, heard: readonly number[], positions: readonly number[]): string | false {
  if (heard.length === 0 && positions.length > 0) return `${who} has heard nothing`;
  const same = heard.every((position, index) => position === positions[index]);
  return !same && `${who} has heard ${heard.length} transitions, not each once and in order`;
}
