/** Texts of the pages of incidents and of the heat map, in English. */
import type { Incident } from '../../domain/incident/incident.ts';
import type { WordOf } from '../../language/phrase.ts';

/** The texts of these pages. */
export const englishIncidents = {
  title: 'Incidents of all services',
  heading: 'Incidents',
  lead: 'What our checks detected and what vendors and owners reported, newest first.',
  pages: 'Pages',
  older: 'Older',
  newer: 'Newer',
  newest: 'Newest',

  duration: 'Duration',
  lastsFor: 'Ongoing for',
  vendorFirst: 'The vendor reported it',
  later: (length: string, first: boolean) => `${length} ${first ? 'earlier' : 'later'}`,
  /** Who speaks: the lanes of the time axis, and the entries of the timeline. */
  voice: {
    own: 'Our checks',
    vendor: 'The vendor',
    owner: 'The owner',
  } satisfies WordOf<Incident['source']>,
  vendorLag: (length: string, first: boolean) =>
    `The vendor reported it ${length} ${first ? 'before' : 'after'} our first failed check.`,
  vendorSilent: 'The vendor has reported nothing so far.',
  vendorNever: 'The vendor did not report it.',
  checksFine: 'None of our checks failed during this time.',
  axis: 'What happened when',
  axisZero: {
    check: '0 is our first failed check.',
    entry: '0 is the first entry.',
  },
  cellNote: 'The higher a bar, the worse the checks of that time: fine, slow, failed.',
  affected: 'Affected service',
  sameTrouble: { own: 'What our checks saw', vendor: "The vendor's report", owner: "The owner's report" },
  share: 'Share',
  link: 'Link to this incident',

  heatmapTitle: 'Heat map of all services',
  heatmapHeading: 'Heat map',
  heatmapLead:
    'One row per service, one column per time step. Each cell shows the worst status of its step; the legend is in the picture.',
  heatmapAlt: (range: string) => `All services by time, ${range}`,
};
