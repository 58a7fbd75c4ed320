/** Texts of the editor of status pages, in English. */
import { type Moment, type Phrase, phraseOf } from '../../language/phrase.ts';

const services = (count: number) => (count === 1 ? '1 service' : `${count} services`);

const picture = (formats: readonly string[], kib: number, pixels: number) =>
  `Picture: ${formats.join(', ')}, up to ${kib} KiB and ${pixels} pixels`;

/** The texts of the editor. */
export const englishPageEditor = {
  lead: 'A status page shows services of your choice, public ones and your own, under your title and logo. Anyone can read it.',
  noPages: 'None yet.',
  about: (slug: string, count: number, changed: Moment): Phrase =>
    phraseOf`/p/${slug}, ${services(count)}, changed ${changed}`,
  showPage: 'Show the page',
  showOf: (title: string) => `Show the page ${title}`,
  newPage: 'New page',
  title: 'Title',
  titleExample: 'Acme services',
  address: 'Address, after',
  bounds: (pages: number, most: number) =>
    `An account can have ${pages} pages with ${most} services each. An address stays reserved for its account, even after the page is deleted.`,

  titleAndText: 'Title and text',
  look: 'Appearance and access',
  saveLook: 'Save appearance and access',
  colour: 'Brand colour (empty: none)',
  colourHint:
    'Shown as a bar across the top of the page. Links have it too, made darker or lighter until they can be read.',
  readers: 'Who sees the page',
  access: {
    public: { label: 'Everyone', hint: 'Anyone who has the address.' },
    members: {
      label: 'Members of this account',
      hint: 'For everyone else the page does not exist. Its services keep their own pages.',
    },
    password: {
      label: 'Everyone with the password',
      hint: 'Visitors enter it once in 30 days. A new password ends the access of everyone who had the old one.',
    },
  },
  password: 'Password, 12 characters or more',
  newPassword: 'New password, 12 characters or more (empty: the present one stays)',
  text: 'Introduction, shown below the title',
  note: 'Note for members',
  of: (count: number, most: number) => `${count} of at most ${most}`,
  noServices: 'None yet. Search for services below. Groups give them headings.',
  noHeading: 'Without a heading',
  groupUp: (group: string) => `Move the group ${group} up`,
  groupDown: (group: string) => `Move the group ${group} down`,
  emptyGroup: 'This group is empty. Empty groups are not shown.',
  service: (id: number) => `Service ${id}`,
  gone: 'A service that currently does not exist. It is not shown.',
  privateShown: 'Private: visitors see this name, the status and the uptime, and nothing else.',
  privateHidden: 'Private, and not shown until it has a name for this page.',
  entryMore: 'Name on this page',
  entryName: (name: string) => `Name of ${name} on this page`,
  entryPlaceholder: 'Private: name on this page',
  up: (name: string) => `Move ${name} up`,
  down: (name: string) => `Move ${name} down`,
  removeOf: (name: string) => `Remove ${name} from the page`,
  groupMore: 'Rename or remove the group',
  rename: 'Rename',
  goesToo: (count: number) =>
    count === 1
      ? 'Its service is removed from the page as well.'
      : `Its ${count} services are removed from the page as well.`,
  removeGroup: 'Remove the group',
  removeGroupOf: (group: string) => `Remove the group ${group}`,
  newGroup: 'New group',
  newGroupName: 'Name of the new group',
  groupExample: 'Payments',
  addGroup: 'Add the group',
  addServices: 'Add services',
  searchHint: 'Name or domain',
  searchLabel: 'Name or domain of a service',
  search: 'Search',
  noneChosen: 'Choose at least one service.',
  addChosen: 'Add the chosen services',
  noMatch: 'No further service matches.',
  intoGroup: 'Into the group',
  more: (count: number) => `and ${count} more: type more of the name.`,

  logo: {
    heading: 'Logo',
    alt: 'The logo',
    remove: 'Remove the logo',
    hint: 'Stands beside the title.',
    label: picture,
  },
  favicon: {
    heading: 'Favicon',
    alt: 'The favicon',
    remove: 'Remove the favicon',
    hint: 'Stands in tabs and bookmarks. A square of 32 or more pixels looks best.',
    label: picture,
  },
  replace: 'Replace',
  replaceOf: (what: string) => `Replace: ${what}`,
  upload: 'Upload',
  uploadOf: (what: string) => `Upload: ${what}`,

  domain: 'Domain of your own',
  domainName: 'Domain (empty: none)',
  domainHint:
    'Once it is verified, the page is at this domain alone, and its address on this site leads there. Point the DNS of the domain at this site. A page for members stays on this site.',
  saveDomain: 'Save the domain',
  domainProof: 'Prove in one of two ways that the domain is yours, then press Verify.',
  domainProved: (at: Moment): Phrase =>
    phraseOf`Verified ${at}. Leave the proof in place: it is checked again every day.`,
  domainMissing: (since: Moment): Phrase =>
    phraseOf`The proof has been missing since ${since}. After three days, the page returns to its address on this site.`,
  domainUnproved: phraseOf`Not verified yet.`,

  share: 'Share and embed',
  addressOf: 'Address of the page',
  copyAddress: 'Copy the address',
  asScript: 'As a script that adjusts its height',
  copyScript: 'Copy the script',
  asFrame: 'As a frame',
  copyFrame: 'Copy the frame',
  both: 'Both show the overall status and the affected services. To choose the theme, set',
  onScript: 'on the script or',
  onFrame: "in the frame's URL.",
  forPrograms: 'For programs:',

  toDelete: 'To delete the page, enter its address',
  toDeletePage: (slug: string) => `To delete the page, enter its address: ${slug}`,

  noSuchButton: 'There is no such button.',
};
