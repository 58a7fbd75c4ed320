/** Texts of the page that compares how long vendors take to report outages, in English. */

/** Counts of the sentence above the table. */
interface Counts {
  readonly outages: number;
  readonly vendors: number;
  readonly acknowledged: number;
}

/** The texts. */
export const englishHonesty = {
  title: 'How long vendors take to report outages',
  heading: 'How long vendors take to report outages',
  lead: 'From our first failed check to the first entry on the status page of the vendor.',
  summary: ({ outages, vendors, acknowledged }: Counts, median: string | null) =>
    `Our checks saw ${outages} ${outages === 1 ? 'outage' : 'outages'} at ${vendors} ${vendors === 1 ? 'vendor' : 'vendors'}. ${acknowledged} of ${outages} ${outages === 1 ? 'was' : 'were'} reported${median === null ? '.' : `, half of all within ${median}.`}`,
  empty: 'Our checks have not seen an outage that counts yet.',
  rank: 'Rank',
  vendor: 'Vendor',
  outages: 'Outages',
  acknowledged: 'Reported',
  neverCount: 'Never reported',
  median: 'Half within',
  worst: 'Longest',
  never: 'never',
  mostlyNever: 'mostly never',
  entries: (all: number, shown: number) =>
    shown < all ? `The newest ${shown} of ${all} outages` : `${all} ${all === 1 ? 'outage' : 'outages'}`,
  notReported: 'never reported',
  reported: (length: string, first: boolean) =>
    first ? `reported ${length} before our first failed check` : `reported after ${length}`,
  unread: (length: string, isNow: boolean) =>
    `${isNow ? 'Its status page cannot be read at the moment.' : 'Its status page could not be read at times.'} Outages from ${length} are left out.`,
  statusPage: 'Status page of the vendor',
  next: 'More vendors',
  previous: 'Previous vendors',
  rulesHeading: 'What counts',
  rules: (minimum: number) => [
    'Services of the public list whose status page is read. Time in which a page could not be read is left out, with its outages.',
    'An outage counts if at least two checks in a row by schedule have failed. Maintenance does not count.',
    "Outages of a vendor's services that begin within an hour of each other are one outage while the first lasts.",
    'An outage is reported if the vendor published an entry between an hour before it and an hour after its end.',
    'An outage without an entry counts as never reported an hour after its end. Until then it does not count.',
    '“Half within” includes outages that were never reported. Where fewer than half were reported, it is “mostly never”.',
    `Vendors have a rank from ${minimum} outages on: fewer say little.`,
  ],
};
