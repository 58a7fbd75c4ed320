/** Forms that take away what cannot be had back: each is sent again from a page that asks, with scripts and without. */
import type { Language } from '../language/language.ts';

/** The confirmation that a page asks for before a form is taken. */
export interface Confirmation {
  /** Key of the question in the texts. */
  readonly question: ConfirmedThing;
  /** The page to which Cancel leads. */
  readonly back: string;
  /** The form asks only if it has this field. Absent: always. */
  readonly ifSent?: string;
}

export type ConfirmedThing = keyof Language['texts']['dashboard']['confirm'];

/** By the path of the form. Services and pages are confirmed by their names, in the form itself. */
export const CONFIRMATIONS: Readonly<Record<string, Confirmation>> = {
  '/dashboard/keys/revoke': { question: 'key', back: '/dashboard/keys' },
  '/dashboard/services/:slug/address': {
    ...{ question: 'address', back: '/dashboard/services/:slug', ifSent: 'replaces' },
  },
  '/dashboard/services/:slug/badge': { question: 'badge', back: '/dashboard/services/:slug' },
  '/dashboard/channels/:id/remove': { question: 'channel', back: '/dashboard/channels/:id' },
  '/dashboard/rules/:id/remove': { question: 'rule', back: '/dashboard/rules/:id' },
  '/dashboard/webhooks/remove': { question: 'webhook', back: '/dashboard/webhooks' },
  '/dashboard/incidents/:id/remove': { question: 'incident', back: '/dashboard/incidents' },
  '/dashboard/maintenances/:id/remove': { question: 'maintenance', back: '/dashboard/maintenances' },
  '/dashboard/members/remove': { question: 'member', back: '/dashboard/members' },
  '/dashboard/members/leave': { question: 'membership', back: '/dashboard/members' },
  '/dashboard/members/withdraw': { question: 'invitation', back: '/dashboard/members' },
  '/dashboard/account/passkeys/remove': { question: 'passkey', back: '/dashboard/account' },
  '/dashboard/account/password/remove': { question: 'password', back: '/dashboard/account' },
};

/** The field that a form sends after the question was answered. */
export const CONFIRMED_FIELD = 'confirmed';

/** The question that a form asks before it is taken; null: it asks none, or was answered. */
export function questionOf(path: string, fields: ReadonlyMap<string, string>): Confirmation | null {
  const asked = Object.hasOwn(CONFIRMATIONS, path) ? CONFIRMATIONS[path] : undefined;
  if (asked === undefined || fields.get(CONFIRMED_FIELD) === 'yes') return null;
  return asked.ifSent === undefined || fields.has(asked.ifSent) ? asked : null;
}

/** A path with the parameters of a request in their places. */
export function filledPath(path: string, params: Readonly<Record<string, string | undefined>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
