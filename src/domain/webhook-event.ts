/** Events of owners' webhooks, and their JSON. */
import { formatTime, formatTimeOrNull } from './durations.ts';
import {
  beginningOf,
  describeReasonOrNull,
  type Incident,
  type IncidentStatus,
} from './incident/incident.ts';
import type { Service } from './service.ts';
import type { Transition } from './status/current.ts';
import { viewChange } from './status/transition.ts';

/** The service of an event, with the names that it has at the time. */
export type EventService = Pick<Service, 'slug' | 'name' | 'domain'>;

export type IncidentEventType = 'incident.opened' | 'incident.updated' | 'incident.resolved';

export type WebhookEvent =
  | {
      /** The second one: the scope changes and the status stays, where several regions check the service. */
      readonly type: 'service.status_changed' | 'service.scope_changed';
      readonly service: EventService;
      readonly transition: Pick<Transition, 'from' | 'to' | 'at' | 'reason' | 'scope'>;
    }
  | { readonly type: IncidentEventType; readonly service: EventService; readonly incident: Incident }
  | { readonly type: 'test'; readonly message: string };

/**
 * The event for a stored incident. `before` is its previous status, null for a new incident. Returns null if the status stays
 * the same, because other changes cause no event.
 */
export function incidentEventType(
  before: IncidentStatus | null,
  after: IncidentStatus,
): IncidentEventType | null {
  if (before === null) return 'incident.opened';
  if (before === after) return null;
  return after === 'resolved' ? 'incident.resolved' : 'incident.updated';
}

/** The id of a message: `msg_` and the hexadecimal digits of 16 random bytes. */
export function messageId(random: Uint8Array): string {
  return `msg_${Buffer.from(random).toString('hex')}`;
}

/** The body of a delivery: JSON with stable members in a stable order. `at` is the time of the delivery, epoch milliseconds. */
export function webhookBody(event: WebhookEvent, at: number): string {
  const body = { type: event.type, timestamp: formatTime(at), data: dataOf(event) };
  // Unpaired surrogates have no UTF-8, in which bodies are stored and sent.
  return JSON.stringify(body, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/** Forms in which a webhook gets its deliveries: the body alone, or a CloudEvent around it. */
export const WEBHOOK_FORMATS = ['json', 'cloudevents'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/**
 * A delivery as a CloudEvent 1.0 in structured mode, with the body of {@link webhookBody} as its data. It is the same for each attempt.
 * `source`: the address of the site. The subject is the slug of the service.
 */
export function cloudEventBody(
  { message, type, body }: { readonly message: string; readonly type: string; readonly body: string },
  source: string,
): string {
  const data = JSON.parse(body);
  return JSON.stringify({
    specversion: '1.0',
    id: message,
    source,
    type,
    subject: data.data?.service?.slug,
    time: data.timestamp,
    datacontenttype: 'application/json',
    data,
  });
}

function dataOf(event: WebhookEvent): object {
  if (event.type === 'test') return { message: event.message };
  const { slug, name, domain } = event.service;
  const service = { slug, name, domain };
  if ('transition' in event) {
    const { at, reason } = event.transition;
    const change = viewChange(event.transition);
    return { service, ...change, at: formatTime(at), reason: describeReasonOrNull(reason) };
  }
  // Each service of an incident has a delivery for each webhook, and all are stored.
  const description = beginningOf(event.incident.description);
  return { service, incident: viewIncident({ ...event.incident, description }) };
}

/** An incident as webhooks and the API show it, without its service. */
export function viewIncident(incident: Incident) {
  return {
    id: incident.id,
    title: incident.title,
    description: incident.description,
    severity: incident.severity,
    status: incident.status,
    started_at: formatTime(incident.startedAt),
    resolved_at: formatTimeOrNull(incident.resolvedAt),
    source_url: incident.sourceUrl,
    // Added later: it is absent where receivers know the payload without it.
    ...(incident.source === 'owner' ? { source: 'owner' as const } : {}),
  };
}
