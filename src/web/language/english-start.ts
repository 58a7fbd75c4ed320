/** Texts of the first steps after the first sign-in, in English. */
import type { PastedProblem } from '../../domain/pasted/pasted-lines.ts';
import type { WordOf } from '../../language/phrase.ts';

/** The texts. */
export const englishStart = {
  question: 'What do you want to watch?',
  lead: 'Paste addresses as they are, one per line, up to 50 at a time. A few words without an address name a heartbeat, which a job sends when it is done.',
  addresses: 'Addresses',
  example: 'backup of the NAS',
  watch: 'Watch',
  watchMore: 'Watch these too',
  skip: 'Skip',
  goOn: 'Continue',
  watched: (count: number) => (count === 1 ? 'One service is watched' : `${count} services are watched`),
  nothingWatched: 'Nothing is watched yet',
  nothingTyped: 'Type at least one address.',
  notAdded: 'These lines were not added. Change them and try again, or leave them.',
  isKnown: 'You watch this already.',
  notTried: 'The first check follows.',
  waitsForHeartbeat: 'Waits for its first heartbeat.',
  needsProof: 'Its domain has to be verified first: the dashboard says how.',
  unverified: 'Its certificate is not verified, because it is not valid.',
  addressOnce: 'Heartbeat addresses, which are shown only this once',
  addressLead: 'Each job requests its address when it has succeeded.',
  problem: {
    host: 'This is not a host name or an address.',
    port: 'Add a port from 1 to 65535.',
    range: 'This is a range of addresses. Name each machine.',
    scheme: 'Addresses of this kind cannot be checked.',
    password: 'Type the password again: it is never shown.',
    unclear: 'This is neither an address nor a name.',
    duplicate: 'This is in the list twice.',
    too_many: 'At most 50 lines are taken at a time.',
    too_long: 'This line is too long.',
  } satisfies WordOf<PastedProblem>,
  where: 'Where should we notify you?',
  whereLead: 'You are notified when something goes down and when it is back.',
  otherKind: 'Another way',
  test: 'Add and send a test',
  testAgain: 'Save and test again',
  done: 'Done',
  isTold: (name: string) => `${name} is notified of every outage of your services.`,
};
