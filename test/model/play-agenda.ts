/** What happens in a world from outside, in order. */
import type { createAlertOffice } from './play-alerts.ts';
import type { createSpeakers } from './play-announcements.ts';
import { type Beat, beatsOf, editsOf, type Fault, removalOf, type World } from './world.ts';
import type { Edit } from './world-edits.ts';

/** What can happen from outside. */
export interface Acts {
  readonly suffer: (fault: Fault) => Promise<void>;
  readonly receive: (service: number, beat: Beat) => Promise<void>;
  readonly edit: (one: Edit) => Promise<void>;
  readonly startPlaceOf: (place: string) => void;
  readonly endPlace: (place: string) => void;
  readonly names: readonly string[];
  readonly speakers: ReturnType<typeof createSpeakers>;
  readonly office: ReturnType<typeof createAlertOffice>;
}

/** What happens from outside, in order. */
export function agendaOf(world: World, acts: Acts) {
  const { suffer, receive, edit, startPlaceOf, endPlace, names, speakers, office } = acts;
  const agenda: { readonly at: number; readonly act: () => unknown }[] = [];
  for (const fault of world.faults) agenda.push({ at: fault.at, act: () => suffer(fault) });
  for (const [index, script] of world.services.entries())
    if (script.kind === 'beats')
      // A heartbeat for a domain that is not there registers it again.
      for (const beat of beatsOf(script, world.seconds))
        if (beat.at < removalOf(world, index))
          agenda.push({ at: beat.at, act: () => receive(index + 1, beat) });
  for (const { place, span } of world.lost) {
    const name = names[place] ?? '';
    agenda.push({ at: span[0], act: () => endPlace(name) });
    agenda.push({
      at: span[1],
      act() {
        endPlace(name);
        startPlaceOf(name);
      },
    });
  }
  for (const page of [0, 1]) agenda.push({ at: 0, act: () => speakers.read(page) });
  for (const { page, at } of world.said.reads) agenda.push({ at, act: () => speakers.read(page) });
  for (const [index, work] of world.said.works.entries()) {
    const until = removalOf(world, work.service);
    if (work.service >= world.services.length || work.at >= until) continue;
    agenda.push({ at: work.at, act: () => speakers.announce(index, work) });
    for (const change of work.changes.filter(({ at }) => at < until))
      agenda.push({ at: change.at, act: () => speakers.changeWork(index, change) });
  }
  for (const one of editsOf(world)) agenda.push({ at: one.at, act: () => edit(one) });
  for (const { at, rule } of world.alerts.switches) agenda.push({ at, act: () => office.flip(rule) });
  for (const { at, nth } of world.alerts.takes) agenda.push({ at, act: () => office.acknowledge(nth) });
  return agenda.sort((a, b) => a.at - b.at);
}
