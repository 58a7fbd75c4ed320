/** Texts of the pages for signing in, of links that make a way in, and of what a person signs in with, in English. */
import { type Moment, type Phrase, phraseOf, type WordOf } from '../../language/phrase.ts';

/** The texts of these pages. */
export const englishSignIn = {
  wrong: 'The name, the password or the code is not right.',
  wait: (duration: string) => `Too many attempts have failed. Try again in ${duration}.`,
  seconds: (count: number) => (count === 1 ? '1 second' : `${count} seconds`),
  minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
  name: 'Name',
  password: 'Password',
  code: 'Code of the app, or a recovery code',
  way: { passkey: 'passkey', password: 'password' } satisfies WordOf<'passkey' | 'password'>,
  withPassword: 'With a password',
  withPasskey: 'With a passkey',
  passkeyLead:
    'A passkey is kept by your device or your password manager and opened by fingerprint, face or PIN.',
  usePasskey: 'Sign in with a passkey',
  withProvider: 'With an account elsewhere',
  /** Shown by a script when the dialog of the browser was cancelled or failed. */
  passkeyFailed: 'That did not work, or was cancelled. Try again, or choose another way.',
  noAccount:
    'There is no account yet. Upbeat prints a link for the first one when it starts. The operator of this site prints a new one with this command:',
  noWayIn:
    'No account has an owner who can sign in. The operator of this site prints a link for an owner with this command:',
  sessionEnded:
    'You are signed out: your session has ended, or an owner has removed you from the account. Sign in again.',
  noMember: 'You are a member of no account',
  whatToDo: 'What to do',
  askOwner: 'Ask an owner of an account at this site to invite you.',
  openLink: 'Open the link of the invitation, and sign in as you just did.',
  wasMember: 'If you were a member before, an owner has removed you, and can invite you again.',
  askOperator: 'If you do not know whom to ask: this site is run by',
  aboutSite: 'If you do not know whom to ask: about this site',
  asSomebodyElse: 'Sign in as somebody else',

  setupTitle: 'Your first sign-in',
  setupLead: 'Choose how you will sign in. You can add other ways afterwards.',
  resetTitle: 'A new way to sign in',
  resetLead: (name: string) =>
    `For ${name}. What you signed in with before ends: your passkeys, your password and all sessions.`,
  linkEnded: 'This link is not valid any more.',
  linkEndedWhy:
    'It was used, or is older than a day, or belongs to a first account that exists by now. The operator of this site can print a new one:',
  yourName: 'Your name',
  passkeyName: 'Name of the passkey',
  passkeyExample: 'My passkey',
  makePasskey: 'Create a passkey',
  passwordLead: (min: number) =>
    `At least ${min} characters. Signing in also takes a code of an authenticator app, such as those of Google, Microsoft, 2FAS or Bitwarden.`,
  nameToSignIn: 'Name to sign in with',
  newPassword: 'New password',
  scan: 'Scan this picture with the app',
  orType: 'or type this key into it',
  firstCode: 'Code that the app shows',
  setPassword: 'Set the password',

  codesTitle: 'Your recovery codes',
  codesOnce: 'They are shown only this once.',
  codesLead:
    'Each code works once, in place of a code of your authenticator app. Print them, or keep them where you keep your password, but not on the device with the app.',
  toDashboard: 'Continue to the dashboard',

  newHere: 'I do not sign in here yet',
  signInAgain: (minutes: number) =>
    `A change needs a sign-in within the last ${minutes} minutes. Yours is older.`,
  again: 'Sign in again',

  accountTitle: 'Your sign-in',
  signedInAs: (name: string) => `You are signed in as ${name}.`,
  passkeys: 'Passkeys',
  noPasskeys: 'None yet.',
  passkeysImpossible: 'Browsers allow passkeys only on https:// sites with a host name, and on localhost.',
  withoutScript: 'Creating a passkey needs JavaScript.',
  made: 'Created',
  lastUsed: 'Last used',
  never: 'never',
  rename: 'Rename',
  renameOf: (name: string) => `Rename ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  addPasskey: 'Add a passkey',
  passwordAndApp: 'Password with authenticator app',
  noPassword: 'None yet.',
  passwordSince: (name: string, at: Moment): Phrase => phraseOf`Set ${at}, for the name ${name}.`,
  replacePassword: 'Replace password and app',
  replaceLead:
    'A new password needs a new key in the app. It ends your other sessions and your recovery codes.',
  removePassword: 'Remove the password',
  recoveryCodes: 'Recovery codes',
  codesLeft: (count: number) => (count === 1 ? '1 is unused.' : `${count} are unused.`),
  newCodes: 'Make new codes',
  newCodesNote: 'New codes replace these.',
  providers: 'Accounts elsewhere',
  sessions: 'Sessions',
  yourSessions: 'Your sessions',
  account: 'Account',
  signedInAt: 'Signed in',
  endsAt: 'Ends',
  thisOne: 'this browser',
  end: 'End',
  endOf: (time: string) => `End the session of ${time}`,
};
