/** Compares what the API says of incidents, maintenances and lags with what the simulated vendors have published. */

import type { Script } from '../../demo/script.ts';
import type { Mismatch } from './compare.ts';
import { compareEntries, compareTimeline } from './compare-entries.ts';
import { compareLags, compareMaintenances, compareWord } from './compare-words.ts';
import type { SeenIncident, SeenIncidents } from './seen-incidents.ts';
import { type FeedTiming, servedServices } from './vendor-expectation.ts';

/** What is wrong. */
export function compareIncidents(script: Script, timing: FeedTiming, seen: SeenIncidents): Mismatch[] {
  const bySlug = new Map(seen.services.map((each) => [each.slug, each]));
  const say = (slug: string) => (found: string, wanted: string) => ({
    slug,
    elapsedMs: seen.askedAt,
    found,
    wanted,
  });
  const mismatches = servedServices(script).flatMap((served) => {
    const { slug } = served.service;
    const found = bySlug.get(slug);
    if (found === undefined) return [say(slug)('nothing', 'a service with a vendor')];
    const one = { script, timing, seen, served, found, say: say(slug) };
    return [
      ...compareEntries(one),
      ...found.inFull.flatMap((incident) => compareTimeline(one, incident)),
      ...compareWord(one),
      ...compareLags(one),
      ...compareMaintenances(one),
    ];
  });
  const oldest = seen.all.at(-1)?.started_at ?? '';
  const ids = new Set(seen.all.map(({ id }) => id));
  const missing = seen.services.flatMap(({ slug, incidents }) =>
    incidents
      .filter(({ id, started_at }) => started_at > oldest && !ids.has(id))
      .map(({ id }) => say(slug)(`no ${id} among all incidents`, 'it')),
  );
  const lists = [seen.all, ...seen.services.map(({ incidents }) => incidents)];
  return [
    ...mismatches,
    ...missing,
    ...lists.flatMap((list) =>
      isInOrder(list) ? [] : [say('(a list)')('another order', 'newest start first')],
    ),
  ];
}

function isInOrder(list: readonly SeenIncident[]): boolean {
  return list.every(({ started_at, id }, index) => {
    const before = list[index - 1];
    if (before === undefined || before.started_at > started_at) return true;
    return before.started_at === started_at && before.id < id;
  });
}
