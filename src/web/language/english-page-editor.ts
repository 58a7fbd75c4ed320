/** What the editor of status pages says, in English. */
import { type Moment, type Phrase, say } from './phrase.ts';

const services = (count: number) => (count === 1 ? '1 service' : `${count} services`);

/** The words of the editor. */
export const englishPageEditor = {
  lead: 'A page of your own shows services that you choose, public ones and yours, under your title and logo. Everybody can read it.',
  noPages: 'None yet.',
  about: (slug: string, count: number, changed: Moment): Phrase =>
    say`/p/${slug}, ${services(count)}, changed ${changed}`,
  show: 'Show',
  showPage: 'Show the page',
  showOf: (title: string) => `Show the page ${title}`,
  newPage: 'New page',
  title: 'Title',
  titleExample: 'Acme services',
  address: 'Address, behind',
  create: 'Create',
  bounds: (pages: number, most: number) =>
    `An account has at most ${pages} pages of ${most} services. An address stays with its account, also after its page is deleted.`,

  words: 'Words',
  text: 'Text below it, for all who read the page',
  save: 'Save',
  services: 'Services',
  of: (count: number, most: number) => `${count} of at most ${most}`,
  noServices: 'None yet: look for one below. Groups give them headings.',
  noHeading: 'Without a heading',
  groupUp: (group: string) => `Move the group ${group} up`,
  groupDown: (group: string) => `Move the group ${group} down`,
  emptyGroup: 'Nothing stands here yet; an empty group is not shown.',
  service: (id: number) => `Service ${id}`,
  gone: 'A service that is not there now; it is not shown.',
  up: (name: string) => `Move ${name} up`,
  down: (name: string) => `Move ${name} down`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name} from the page`,
  groupMore: 'Name of the group, or remove it',
  name: 'Name',
  rename: 'Rename',
  goesToo: (count: number) =>
    count === 1 ? 'Its service goes off the page with it.' : `Its ${count} services go off the page with it.`,
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
  noMatch: 'No service that is not on the page matches.',
  intoGroup: 'Into the group',
  add: 'Add',
  addOf: (name: string) => `Add ${name}`,
  more: (count: number) => `and ${count} more: write more of the name.`,

  logo: 'Logo',
  logoAlt: 'The logo',
  removeLogo: 'Remove the logo',
  picture: (kib: number, pixels: number) =>
    `Picture: PNG, JPEG, WebP or GIF, up to ${kib} KiB and ${pixels} pixels`,
  replace: 'Replace',
  upload: 'Upload',

  share: 'Share and embed',
  addressOf: 'Address of the page',
  copyAddress: 'Copy the address',
  asScript: 'As a script, which fits its height',
  copyScript: 'Copy the script',
  asFrame: 'As a frame',
  copyFrame: 'Copy the frame',
  both: 'Both show the verdict and what is not well. Their look is fixed by',
  onScript: 'on the script,',
  onFrame: "on the frame's address.",
  forPrograms: 'For programs:',

  end: 'Delete',
  toDelete: 'To delete the page, write its address',
  toDeletePage: (slug: string) => `To delete the page, write its address: ${slug}`,
  delete: 'Delete',

  stale:
    'This page was changed elsewhere meanwhile; here is how it is now. Do it again if it is still needed.',
  missing: 'The page is not there any more.',
  noSuchService: 'There is no such service among the public ones and yours.',
  noSuchButton: 'There is no such button.',
  groupNeedsName: 'A new group needs a name.',
  tooLarge: (kib: number) => `A logo has at most ${kib} KiB.`,
  chooseFirst: 'Choose a picture first.',
};
