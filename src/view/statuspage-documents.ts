/**
 * A status page, or a service, in the documents of Statuspage's public API (https://metastatuspage.com/api): components with the statuses
 * of our checks, incidents and maintenance. Pure.
 */
import { createHash } from 'node:crypto';
import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import {
  beginningOf,
  type IncidentStatus,
  type IncidentUpdate,
  type Severity,
} from '../domain/incident/incident.ts';
import type { OwnerSeverity } from '../domain/incident/owner-incident.ts';
import type { PageStanding } from '../domain/status/outage-verdict.ts';

/** Statuses of components, from good to bad. */
export const COMPONENT_STATUSES = [
  'operational',
  'under_maintenance',
  'degraded_performance',
  'partial_outage',
  'major_outage',
] as const;

type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

/** Of a whole page. */
export const INDICATORS = ['none', 'maintenance', 'minor', 'major', 'critical'] as const;

/** The indicator and the description of a page whose worst component has a status. */
const OVERALL: Readonly<Record<ComponentStatus, Overall>> = {
  operational: { indicator: 'none', description: 'All Systems Operational' },
  under_maintenance: { indicator: 'maintenance', description: 'Service Under Maintenance' },
  degraded_performance: { indicator: 'minor', description: 'Partially Degraded Service' },
  partial_outage: { indicator: 'minor', description: 'Minor Service Outage' },
  major_outage: { indicator: 'major', description: 'Partial System Outage' },
};

const ALL_DOWN: Overall = { indicator: 'critical', description: 'Major System Outage' };

interface Overall {
  readonly indicator: (typeof INDICATORS)[number];
  readonly description: string;
}

/** The status of a page of which its owner reports an incident. */
const REPORTED: Readonly<Record<OwnerSeverity, Overall>> = {
  minor: OVERALL.partial_outage,
  major: OVERALL.major_outage,
  critical: ALL_DOWN,
};

/** Statuspage has no word for what is not watched, or not checked yet. */
const STATUS_OF: Readonly<Record<PageStanding, ComponentStatus>> = {
  up: 'operational',
  slow: 'degraded_performance',
  down: 'major_outage',
  maintenance: 'under_maintenance',
  paused: 'operational',
  unknown: 'operational',
};

export interface ShownComponent {
  readonly id: string;
  readonly serviceId: number;
  readonly name: string;
  /** Null: it has none. */
  readonly description: string | null;
  readonly standing: PageStanding;
  /** It fails in some regions, fewer than the quorum. */
  readonly isPartial: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface ShownPost {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null: it is not over. */
  readonly resolvedAt: number | null;
  readonly serviceIds: readonly number[];
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
}

export interface ShownIncident extends ShownPost {
  /** Our checks saw it. */
  readonly isOwn: boolean;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  readonly startedAt: number;
  /** The owner's postmortem, plain text; null: not written yet. */
  readonly postMortem: { readonly at: number; readonly text: string } | null;
}

export interface ShownMaintenance extends ShownPost {
  readonly state: 'scheduled' | 'in_progress' | 'completed';
  readonly startsAt: number;
  /** Null: its end is not known. */
  readonly endsAt: number | null;
}

/** The facts that the documents are made of. */
export interface ShownPage {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** A name is empty for components without a heading. */
  readonly groups: readonly { readonly name: string; readonly components: readonly ShownComponent[] }[];
  /** Severity of the worst open incident that its owner reports; null: none is open. */
  readonly reported: OwnerSeverity | null;
  /** Announced maintenance is in progress. */
  readonly inMaintenance: boolean;
}

/** Maximum number of incidents and of maintenances in a document, as in those of Statuspage. */
export const MAX_LISTED = 50;
/** Maximum number of updates in a document. The newest incidents come first, and each has its newest three at least. */
const MAX_UPDATES = 1_000;
const MIN_UPDATES = 3;
/** Characters of all texts of a document, after which each is cut to its first 100. */
const MAX_CHARACTERS = 200_000;
const MIN_CHARACTERS = 100;

/** Creates what writes the members of the documents of a page. */
export function createStatuspageWriter(page: ShownPage) {
  const components = writeComponents(page);
  /** In the order of the page. */
  const concerned = ({ serviceIds }: ShownPost) =>
    components.filter(({ serviceId }) => serviceId !== null && serviceIds.includes(serviceId));
  const budget = createBudget();
  const post = (one: ShownPost, status: string, startedAt: number) => ({
    id: one.id,
    name: one.title,
    status,
    created_at: formatTime(one.createdAt),
    updated_at: formatTime(one.updatedAt),
    monitoring_at: formatTimeOrNull(
      one.updates.findLast((update) => update.status === 'monitoring')?.at ?? null,
    ),
    resolved_at: formatTimeOrNull(one.resolvedAt),
    shortlink: one.url,
    started_at: formatTime(startedAt),
    page_id: page.id,
    components: concerned(one).map(({ view }) => view),
  });

  return {
    components: components.map(({ view }) => view),
    status: statusOfPage(page),
    /** `listed`: the posts in the document. */
    page: (listed: readonly ShownPost[]) => ({
      id: page.id,
      name: page.name,
      url: page.url,
      time_zone: 'Etc/UTC',
      updated_at: formatTime(
        Math.max(
          page.updatedAt,
          ...page.groups.flatMap((group) => group.components.map(({ updatedAt }) => updatedAt)),
          ...listed.map(({ updatedAt }) => updatedAt),
        ),
      ),
    }),
    incident(one: ShownIncident) {
      const { severity } = one;
      // An incident that was opened again after it is not over.
      const postMortem = one.status === 'resolved' ? one.postMortem : null;
      const updates = withPostMortem(one.updates, postMortem);
      return {
        ...post(one, postMortem === null ? one.status : 'postmortem', one.startedAt),
        impact: severity,
        incident_updates: writeUpdates(one, updates, budget, one.isOwn ? concerned(one) : []),
        reminder_intervals: null,
      };
    },
    maintenance(one: ShownMaintenance) {
      const told = post(one, one.state, one.createdAt);
      const updates = one.updates.map((update) => ({ ...update, status: phaseOf(update, one) }));
      return {
        ...told,
        impact: 'maintenance' as const,
        scheduled_for: formatTime(one.startsAt),
        scheduled_until: formatTimeOrNull(one.endsAt),
        incident_updates: writeUpdates(one, updates, budget, []),
      };
    },
  };
}

/** A short id that stays the same for the same parts. */
export function shortId(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

function statusOfComponent({ standing, isPartial }: ShownComponent): ComponentStatus {
  return isPartial && (standing === 'up' || standing === 'slow') ? 'partial_outage' : STATUS_OF[standing];
}

function worstOf(statuses: readonly ComponentStatus[]): ComponentStatus {
  return COMPONENT_STATUSES.findLast((status) => statuses.includes(status)) ?? 'operational';
}

/** The worst of what checks see and what the owner says, as Statuspage rolls its components up. */
function statusOfPage({ groups, reported, inMaintenance }: ShownPage): Overall {
  const watched = groups
    .flatMap(({ components }) => components)
    .filter(({ standing }) => standing !== 'paused')
    .map(statusOfComponent);
  const areAllDown = watched.length > 0 && watched.every((status) => status === 'major_outage');
  const found = [
    areAllDown ? ALL_DOWN : OVERALL[worstOf(watched)],
    ...(reported === null ? [] : [REPORTED[reported]]),
    ...(inMaintenance ? [OVERALL.under_maintenance] : []),
  ];
  const rank = ({ indicator }: Overall) => INDICATORS.indexOf(indicator);
  return found.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
}

/** The components in the order of the page, each group before those in it. `serviceId` is null for groups. */
function writeComponents(page: ShownPage) {
  const base = { showcase: false, start_date: null, page_id: page.id, only_show_if_degraded: false };
  const names = new Map<string, number>();
  let position = 0;
  return page.groups.flatMap(({ name, components }) => {
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    const groupId = name === '' ? null : shortId('group', page.id, name, count);
    const places = groupId === null ? position : 0;
    const views = components.map((one, index) => ({
      serviceId: one.serviceId,
      fullName: groupId === null ? one.name : `${name} - ${one.name}`,
      view: {
        id: one.id,
        name: one.name,
        status: statusOfComponent(one),
        created_at: formatTime(one.createdAt),
        updated_at: formatTime(one.updatedAt),
        position: places + index + 1,
        description: one.description,
        ...base,
        group_id: groupId,
        group: false,
      },
    }));
    position += groupId === null ? views.length : 1;
    if (groupId === null) return views;
    const group = {
      id: groupId,
      name,
      status: worstOf(views.map(({ view }) => view.status)),
      created_at: formatTime(page.createdAt),
      updated_at: formatTime(Math.max(page.updatedAt, ...components.map(({ updatedAt }) => updatedAt))),
      position,
      description: null,
      ...base,
      group_id: null,
      group: true,
      components: views.map(({ view }) => view.id),
    };
    return [{ serviceId: null, fullName: name, view: group }, ...views];
  });
}

interface WrittenUpdate {
  readonly at: number;
  readonly status: string;
  readonly text: string;
}

function withPostMortem(updates: readonly IncidentUpdate[], postMortem: ShownIncident['postMortem']) {
  if (postMortem === null) return updates;
  return [...updates, { ...postMortem, status: 'postmortem' }].toSorted((a, b) => a.at - b.at);
}

/** The state of a maintenance in an update. Until it begins it is announced. */
function phaseOf({ at, status }: IncidentUpdate, { startsAt }: ShownMaintenance) {
  if (status === 'resolved') return 'completed';
  return at < startsAt ? 'scheduled' : 'in_progress';
}

/** The updates, newest first. `components`: those that our checks saw fail and recover with them; none for what others write. */
function writeUpdates(
  { id }: ShownPost,
  updates: readonly WrittenUpdate[],
  budget: ReturnType<typeof createBudget>,
  components: readonly { readonly fullName: string; readonly view: { readonly id: string } }[],
) {
  const times = new Map<number, number>();
  let before: ComponentStatus = 'operational';
  const written = updates.map(({ at, status, text }) => {
    const count = (times.get(at) ?? 0) + 1;
    times.set(at, count);
    const after: ComponentStatus = /^(?:investigating|identified)$/.test(status)
      ? 'major_outage'
      : 'operational';
    const affected = { old_status: before, new_status: after };
    before = after;
    return { id: shortId('update', id, at, count), at: formatTime(at), status, text, affected };
  });
  return budget.newest(written).map(({ id: updateId, at, status, text, affected }) => ({
    id: updateId,
    status,
    body: escapeBody(budget.cut(text)),
    incident_id: id,
    created_at: at,
    updated_at: at,
    display_at: at,
    affected_components: components.map(({ fullName: name, view }) => ({ code: view.id, name, ...affected })),
    deliver_notifications: false,
    custom_tweet: null,
    tweet_id: null,
  }));
}

/** Creates the count of what still fits into a document. */
function createBudget() {
  let [updates, characters] = [MAX_UPDATES, MAX_CHARACTERS];
  return {
    /** The newest of a timeline that fit, newest first. */
    newest<Item>(timeline: readonly Item[]): Item[] {
      const shown = timeline.slice(-Math.max(MIN_UPDATES, updates)).reverse();
      updates -= shown.length;
      return shown;
    },
    cut(text: string): string {
      const shown = beginningOf(text, Math.max(MIN_CHARACTERS, characters));
      characters -= shown.length;
      return shown;
    },
  };
}

/** Clients of Statuspage take bodies for HTML; lines stay lines. */
function escapeBody(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
