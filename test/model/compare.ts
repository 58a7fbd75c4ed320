/** Plays worlds on the program, and finds the first difference from the reference implementation of the rules. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { openSampleStore } from '../support/sample-store.ts';
import { type Played, playWorld } from './play-world.ts';
import { refer } from './reference/refer.ts';
import { type World, type WorldSize, worlds } from './world.ts';
import { type SampleShelf, START } from './world-stores.ts';

const YEAR_MS = 365 * 86_400_000;

/** What was compared. */
export interface Compared {
  readonly happenings: number;
  readonly transitions: number;
  readonly incidents: number;
  readonly days: number;
  /** Of alerts. */
  readonly messages: number;
}

/** The first difference; null: there is none. */
export function findDifference({ diary, given, outcome, endMs }: Played): string | null {
  const expected = refer(given, diary, endMs);
  for (const part of ['transitions', 'incidents', 'lags', 'events', 'days', 'tellings'] as const) {
    const found = outcome[part].map((one) => JSON.stringify(one));
    const wanted = expected[part].map((one) => JSON.stringify(one));
    const length = Math.max(found.length, wanted.length);
    const first = Array.from({ length }, (_, index) => index).find((index) => found[index] !== wanted[index]);
    if (first === undefined) continue;
    return `${part}[${first}]: the program has ${found[first] ?? 'none'}, the rules have ${wanted[first] ?? 'none'}`;
  }
  return expected.faults[0] ?? null;
}

/** Opens a sample store for many worlds. `now` of the store is later than any world's end, so that none of it is too new. */
export function openShelf(): SampleShelf & { close(): Promise<void> } {
  const store = openSampleStore({ now: () => START + YEAR_MS });
  return { store, nextId: 0, close: () => store.close() };
}

/** Plays a world. Throws for a difference; the message has the world as it can be pasted into a test. */
export async function compareWorld(world: World, shelf: SampleShelf): Promise<Compared> {
  const played = await playWorld(world, shelf);
  const difference = findDifference(played);
  if (difference !== null)
    throw new Error(`${difference}, in the world ${inspect(world, { depth: 9, breakLength: 120 })}`);
  const { transitions, incidents, days, tellings } = played.outcome;
  return {
    happenings: played.diary.length,
    transitions: transitions.length,
    incidents: incidents.length,
    days: days.length,
    messages: tellings.length,
  };
}

/**
 * Plays the world of a seed; where it differs, it is shrunk to as few services and events as still differ. Throws for a difference.
 */
export async function compareSeed(seed: number, size: WorldSize, shelf: SampleShelf): Promise<Compared> {
  const compared: Compared[] = [];
  const property = fc.asyncProperty(worlds(size), async (world) => {
    compared.push(await compareWorld(world, shelf));
  });
  // What a world of many days has is found faster by its parts.
  await fc.assert(property, { seed, numRuns: 1, endOnFailure: size.troubles !== undefined });
  const [first] = compared;
  if (first === undefined) throw new Error(`seed ${seed} made no world`);
  return first;
}
