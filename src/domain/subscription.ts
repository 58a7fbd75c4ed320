/** Subscriptions of visitors: what they can be about, and which changes they are told of. */
import type { AlertChange, AlertEvent } from './alert/event.ts';
import type { AlertMessage, MessageItem } from './alert/message.ts';
import type { AlertEventName } from './alert/rule.ts';
import { HOUR_MS } from './durations.ts';
import { type Category, isCategory, isPublic, type Service } from './service.ts';

/** The topic of a subscription: a service, all public services of a category, or a status page. */
export type SubscriptionTopic = `service:${number}` | `category:${Category}` | `page:${number}`;

export type TopicParts =
  | { readonly kind: 'service' | 'page'; readonly id: number }
  | { readonly kind: 'category'; readonly category: Category };

/** Time after which a subscription that nobody has confirmed is deleted, with its address. */
export const UNCONFIRMED_MS = 48 * HOUR_MS;
/** Maximum number of letters that ask an address for a confirmation, within a UTC day. */
export const MAX_CONFIRMATIONS_PER_DAY = 5;
/** Maximum number of letters that ask addresses for a confirmation because one client wishes it, within a UTC day. */
export const MAX_CONFIRMATIONS_OF_CLIENT = 50;
/**
 * Maximum number of letters that ask addresses of one domain for a confirmation, within a UTC day. Providers of mailboxes for everyone,
 * at which nobody has many, have no such bound: strangers could keep all their customers from subscribing.
 */
export const MAX_CONFIRMATIONS_OF_DOMAIN = 200;
/** Providers of mailboxes for everyone. */
export const SHARED_MAIL_DOMAINS: ReadonlySet<string> = new Set([
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'yahoo.com'],
  ...['icloud.com', 'me.com', 'aol.com', 'proton.me', 'protonmail.com', 'gmx.de', 'gmx.net', 'web.de'],
  ...['t-online.de', 'orange.fr', 'free.fr', 'libero.it', 'mail.ru', 'yandex.ru', 'qq.com', '163.com'],
]);
/** Maximum number of letters that ask for a confirmation of channels of an account, within a UTC day. */
export const MAX_CHANNEL_CONFIRMATIONS_PER_DAY = 20;
/** Number of refusals of the mail server, one after the other, after which an address gets no more letters. */
export const MAX_REFUSALS = 3;

/** The topic in its stored form; null: this version does not know it. */
export function readTopic(text: string): TopicParts | null {
  const [, kind, name = ''] = /^(service|category|page):(.+)$/.exec(text) ?? [];
  if (kind === 'category') return isCategory(name) ? { kind, category: name } : null;
  if ((kind === 'service' || kind === 'page') && /^\d{1,15}$/.test(name)) return { kind, id: Number(name) };
  return null;
}

/** The topics that a service belongs to; for a private one, pages alone. `pages`: IDs of the live status pages that show it. */
export function topicsOf(service: Service, pages: readonly number[]): SubscriptionTopic[] {
  const { id, category, origin, verified, visibility } = service;
  const ofPages = pages.map((page) => `page:${page}` as const);
  if (visibility === 'private') return ofPages;
  const isListed = isPublic(service) && (origin === 'catalogue' || verified);
  return [`service:${id}`, ...(isListed ? ([`category:${category}`] as const) : []), ...ofPages];
}

/**
 * Returns true if subscribers are told of a change: down and up, what the vendor or the owner says, and maintenance. Incidents
 * of our own checks say what down and up say.
 */
export function isToldToSubscribers(change: AlertChange): boolean {
  switch (change.type) {
    case 'status':
      return change.to === 'down' || change.from === 'down';
    case 'incident':
      return change.incident.source !== 'own';
    case 'maintenance':
      return true;
    default:
      return false;
  }
}

/**
 * The key of changes that tell the same words of an owner, one for each service and page that they concern; null: the change
 * is not the owner's. `subject`: the start of the IDs in it.
 */
export function ownersNews({
  change,
  at,
}: Pick<AlertEvent, 'change' | 'at'>): { readonly subject: string; readonly news: string } | null {
  if (change.type === 'incident' && change.incident.source === 'owner') {
    const [subject = ''] = /^owner-\d+/.exec(change.incident.id) ?? [];
    return { subject, news: `${subject} ${change.incident.status} ${at}` };
  }
  if (change.type === 'maintenance' && change.source === 'owner') {
    const [subject = ''] = /^owner-m\d+-\d+/.exec(change.id) ?? [];
    return { subject, news: `${subject} ${change.phase}` };
  }
  return null;
}

/** A service as letters name it, or a status page that has no service with the news. */
export type NamedService = Pick<Service, 'id' | 'slug' | 'name' | 'domain'> & {
  /** It is a status page: `name` is its title, and it has no domain. */
  readonly isPage?: true;
  /** In place of its ID in the threads of letters: it is private. `name` is that of the page, and `slug` the page's. */
  readonly mark?: string;
};

/** A change of a private service, as subscribers of a page that shows it are told; null: they are not. */
export function withoutCause(change: AlertChange): AlertChange | null {
  if (change.type !== 'status') return null;
  return { ...change, source: 'check', reason: null, phase: null, lastGoodAt: null, regions: [] };
}

/**
 * The message about a change. `beganAt`: start of the outage that the change ends, epoch milliseconds; null: it ends none, or the
 * start is unknown.
 */
export function subscriberMessage(
  { change, at }: Pick<AlertEvent, 'change' | 'at'>,
  service: NamedService,
  beganAt: number | null,
  siteUrl: string,
): AlertMessage {
  const { isPage = false, mark = service.id, ...subject } = service;
  const url = `${siteUrl}/${isPage ? 'p' : 'status'}/${service.slug}`;
  const told = tell(change, at, beganAt);
  const item: MessageItem = {
    service: { ...subject, url },
    since: at,
    lastedMs: null,
    reason: null,
    phase: null,
    lastGoodAt: null,
    scope: null,
    regions: [],
    vendor: null,
    flapping: null,
    incident: null,
    maintenance: null,
    certificate: null,
    ...told.item,
  };
  return {
    type: told.type,
    thread: told.thread(mark),
    urgency: told.urgency,
    at,
    items: [item],
    total: 1,
    cause: null,
    rule: null,
    url: item.incident?.url ?? item.maintenance?.url ?? url,
    acknowledgeUrl: null,
    note: null,
  };
}

interface Told {
  readonly type: 'alert' | 'update' | 'recovery';
  readonly urgency: AlertMessage['urgency'];
  /** `subject`: the ID of the service or page, or what stands for it. */
  readonly thread: (subject: number | string) => string;
  readonly item: Partial<MessageItem> & Pick<MessageItem, 'status'> & { readonly event: AlertEventName };
}

function tell(change: AlertChange, at: number, beganAt: number | null): Told {
  switch (change.type) {
    case 'status': {
      const { to, reason, phase, lastGoodAt, regions } = change;
      const isOver = to !== 'down';
      const began = isOver ? (beganAt ?? at) : at;
      return {
        type: isOver ? 'recovery' : 'alert',
        urgency: isOver ? 'low' : 'high',
        thread: (subject) => `down-${subject}-${began}`,
        item: {
          event: 'down',
          status: to,
          since: began,
          lastedMs: isOver && beganAt !== null ? at - beganAt : null,
          reason: isOver ? null : reason,
          phase,
          lastGoodAt,
          regions,
        },
      };
    }
    case 'incident': {
      const { incident, before } = change;
      const isOver = incident.status === 'resolved';
      const isVendors = incident.source === 'vendor';
      return {
        type: isOver ? 'recovery' : before === null ? 'alert' : 'update',
        urgency: isOver ? 'low' : 'normal',
        thread: (subject) => `incident-${subject}-${incident.startedAt}`,
        item: {
          event: isVendors ? 'vendor_incident' : before === null || isOver ? 'incident' : 'incident_update',
          status: isOver ? 'up' : 'unknown',
          lastedMs: isOver ? Math.max(0, at - incident.startedAt) : null,
          incident,
        },
      };
    }
    case 'maintenance': {
      const isOver = change.phase === 'ended';
      return {
        type: isOver ? 'recovery' : change.phase === 'running' ? 'update' : 'alert',
        urgency: isOver ? 'low' : 'normal',
        thread: (subject) => `maintenance-${subject}-${change.startsAt}`,
        item: {
          event: 'maintenance',
          status: isOver ? 'up' : 'unknown',
          lastedMs: isOver ? Math.max(0, at - change.startsAt) : null,
          maintenance: change,
        },
      };
    }
    default:
      throw new Error(`subscribers are not told of ${change.type}`);
  }
}
