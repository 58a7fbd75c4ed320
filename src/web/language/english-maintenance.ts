/** Texts of the page of all maintenance, in English. */
import { type Moment, phraseOf } from '../../language/phrase.ts';

/** The texts of this page. */
export const englishMaintenance = {
  title: 'Maintenance of all services',
  heading: 'Maintenance',
  lead: 'Work that vendors and owners have announced. Failures during that time are expected.',
  lists: 'Which maintenance',
  all: 'All',
  running: 'In progress',
  planned: 'Upcoming',
  past: 'Past',
  none: {
    running: 'No maintenance is in progress.',
    planned: 'No maintenance is planned.',
    past: 'There has been no maintenance yet.',
  },
  more: {
    running: 'All that is in progress',
    planned: 'All that is upcoming',
    past: 'All past maintenance',
  },
  runs: (since: Moment) => phraseOf`for ${since}`,
  lasts: (length: string) => `takes ${length}`,
  further: 'Next page',
  back: 'Previous page',
};
