/** Texts of the pages of incidents and of the heat map, in English. */
import type { Incident, IncidentStatus } from '../../domain/incident/incident.ts';
import type { CellLevel } from '../../domain/picture.ts';
import type { WordOf } from '../../language/phrase.ts';

/** The texts of these pages. */
export const englishIncidents = {
  title: 'Incidents of all services',
  heading: 'Incidents',
  lead: 'What our checks detected and what vendors and owners reported, newest first.',
  maintenanceState: {
    investigating: 'in progress',
    identified: 'in progress',
    monitoring: 'being verified',
    resolved: 'completed',
  } satisfies WordOf<IncidentStatus>,
  source: 'Source',
  anySource: 'All sources',
  severity: 'Severity',
  anySeverity: 'All severities',
  noMatch: 'No matching incidents.',
  pages: 'Pages',
  honesty: 'How long vendors take',
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
    'A row for each service, the worst of its category first. Point at a bad time to see when it was.',
  heatmapPicture: 'As a picture',
  heatmapLeft: (count: string) => `${count} more services are not shown. Choose a category.`,
  noBadTimes: 'no bad times',
  level: {
    none: 'no checks',
    fast: 'up, within 0.5 s',
    fair: 'up, within 1.5 s',
    long: 'up, longer',
    slow: 'slow',
    failing: 'some checks failed',
    down: 'half of the checks or more failed',
  } satisfies WordOf<CellLevel>,
};
