/** Incidents that owners write about their services and status pages: what they say, apart from what checks see. */
import { beginningOf, type Incident, type IncidentStatus, type Severity } from './incident.ts';

/** Severities that an owner can choose. A maintenance is announced by itself. */
export const OWNER_SEVERITIES = ['minor', 'major', 'critical'] as const satisfies readonly Severity[];

export type OwnerSeverity = (typeof OWNER_SEVERITIES)[number];

/** Bounds, which the documentation and refusals state. */
export const OWNER_INCIDENT_BOUNDS = {
  /** Of an account, resolved ones included. */
  perAccount: 1_000,
  /** Services, and status pages, of one incident. */
  subjects: 100,
  updates: 100,
  titleCharacters: 200,
  textCharacters: 10_000,
  /** Of all texts of one incident: each as it was written, and without markup. */
  textBytes: 262_144,
} as const;

export interface OwnerText {
  /** As the owner wrote it. */
  readonly markdown: string;
  /** The same without markup, for feeds, the API and e-mail. */
  readonly plain: string;
  /** Both are the beginnings of longer ones, in lists. */
  readonly isCut?: true;
}

/** An entry of the timeline. */
export interface OwnerUpdate extends OwnerText {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
}

/** An owner's post about services and pages. */
export interface OwnerIncident {
  readonly id: number;
  readonly accountId: number;
  readonly title: string;
  readonly severity: OwnerSeverity;
  readonly status: IncidentStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while it is unresolved. */
  readonly resolvedAt: number | null;
  /** IDs of services of the account. */
  readonly services: readonly number[];
  /** IDs of status pages of the account. */
  readonly pages: readonly number[];
  /** Oldest first, at least one. */
  readonly updates: readonly OwnerUpdate[];
  /** Number of updates before `updates`, in lists; absent: none. */
  readonly earlier?: number;
  /** The owner's post-mortem; null: none yet. */
  readonly postMortem: (OwnerText & { readonly at: number }) | null;
  /** Increases with each change. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function ownerIncidentId(id: number): string {
  return `owner-${id}`;
}

/** The number in such an ID; null: it is none. */
export function readOwnerIncidentId(text: string): number | null {
  const digits = /^owner-(\d{1,15})$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The number of the post in the id of an incident of a service; null: it is none of an owner's incident. */
export function readPostOf(incidentId: string): number | null {
  return readOwnerIncidentId(incidentId.replace(/-[0-9a-f]+$/, ''));
}

/** The incident after an update, which also changes its status. An update after the resolution may open it again. */
export function withUpdate(incident: OwnerIncident, update: OwnerUpdate): OwnerIncident {
  const at = Math.max(update.at, incident.updates.at(-1)?.at ?? update.at);
  const isResolved = update.status === 'resolved';
  return {
    ...incident,
    status: update.status,
    resolvedAt: isResolved ? (incident.resolvedAt ?? Math.max(at, incident.startedAt)) : null,
    updates: [...incident.updates, { ...update, at }],
  };
}

/** Size of all texts of an incident, which {@link OWNER_INCIDENT_BOUNDS} limits, bytes. */
export function textBytesOf({ updates, postMortem }: Pick<OwnerIncident, 'updates' | 'postMortem'>): number {
  const texts = postMortem === null ? updates : [...updates, postMortem];
  return texts.reduce(
    (sum, { markdown, plain }) => sum + Buffer.byteLength(markdown) + Buffer.byteLength(plain),
    0,
  );
}

export function shortText<Text extends OwnerText>(text: Text): Text {
  const [markdown, plain] = [beginningOf(text.markdown), beginningOf(text.plain)];
  return markdown === text.markdown && plain === text.plain
    ? text
    : { ...text, markdown, plain, isCut: true };
}

/** The incident as the lists of one of its services show it. `sourceUrl`: its page. */
export function asServiceIncident(
  post: OwnerIncident,
  { id, serviceId, sourceUrl }: Pick<Incident, 'id' | 'serviceId' | 'sourceUrl'>,
): Incident {
  const { postMortem, updates } = post;
  const timeline = updates.map(({ at, status, plain }) => ({ at, status, text: plain }));
  return {
    id,
    serviceId,
    source: 'owner',
    title: post.title,
    description: updates.at(-1)?.plain ?? '',
    severity: post.severity,
    status: post.status,
    startedAt: post.startedAt,
    resolvedAt: post.resolvedAt,
    sourceUrl,
    goodChecks: 0,
    updates:
      postMortem === null
        ? timeline
        : [...timeline, { at: postMortem.at, status: post.status, text: postMortem.plain }],
  };
}

/** The worst severity of open incidents; null: none is open. */
export function worstReported(
  incidents: readonly Pick<Incident, 'severity' | 'status'>[],
): OwnerSeverity | null {
  const open = new Set(
    incidents.filter(({ status }) => status !== 'resolved').map(({ severity }) => severity),
  );
  return OWNER_SEVERITIES.findLast((severity) => open.has(severity)) ?? null;
}
