/** The documents of Statuspage's public API, each with its schema and what is in it. */
import { enumOf, listOf, namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { type TSchema, Type } from '../json-schema.ts';
import {
  COMPONENT_STATUSES,
  type createStatuspageWriter,
  INDICATORS,
  type ShownIncident,
  type ShownMaintenance,
} from '../view/statuspage-documents.ts';

const ComponentStatusSchema = enumOf(COMPONENT_STATUSES, 'What our checks see.');

const ComponentSchema = namedObject('StatuspageComponent', {
  id: Type.String({
    description: 'The slug of the service; of a group, and of a private service, some other text.',
  }),
  name: Type.String(),
  status: ComponentStatusSchema,
  created_at: TimeSchema,
  updated_at: TimeSchema,
  position: whole('In its group, or on the page; from 1.'),
  description: nullable(Type.String(), 'The domain of the service.'),
  showcase: Type.Boolean(),
  start_date: nullable(Type.String(), 'Always null.'),
  page_id: Type.String(),
  only_show_if_degraded: Type.Boolean(),
  group_id: nullable(Type.String(), 'Null: it is in no group.'),
  group: Type.Boolean(),
  components: Type.Optional(
    Type.Array(Type.String(), { description: 'Of a group: the ids of its components.' }),
  ),
});

const UpdateSchema = namedObject('StatuspageUpdate', {
  id: Type.String(),
  status: Type.String(),
  body: Type.String({ description: 'Escaped for HTML, with line breaks.' }),
  incident_id: Type.String(),
  created_at: TimeSchema,
  updated_at: TimeSchema,
  display_at: TimeSchema,
  affected_components: listOf('Of an incident that our checks saw; else empty.', {
    code: Type.String({ description: 'The id of the component.' }),
    name: Type.String(),
    old_status: ComponentStatusSchema,
    new_status: ComponentStatusSchema,
  }),
  deliver_notifications: Type.Boolean(),
  custom_tweet: Type.Null(),
  tweet_id: Type.Null(),
});

const POST_MEMBERS = {
  id: Type.String(),
  name: Type.String(),
  created_at: TimeSchema,
  updated_at: TimeSchema,
  monitoring_at: nullable(TimeSchema),
  resolved_at: nullable(TimeSchema),
  shortlink: Type.String({ description: 'Its page.' }),
  started_at: TimeSchema,
  page_id: Type.String(),
  incident_updates: Type.Array(UpdateSchema, { description: 'Newest first.' }),
  components: Type.Array(ComponentSchema),
};

const IncidentSchema = namedObject('StatuspageIncident', {
  ...POST_MEMBERS,
  status: enumOf(['investigating', 'identified', 'monitoring', 'resolved', 'postmortem']),
  impact: enumOf(['none', 'minor', 'major', 'critical', 'maintenance']),
  reminder_intervals: Type.Null(),
});

const MaintenanceSchema = namedObject('StatuspageMaintenance', {
  ...POST_MEMBERS,
  status: enumOf(['scheduled', 'in_progress', 'verifying', 'completed']),
  impact: enumOf(['maintenance']),
  scheduled_for: TimeSchema,
  scheduled_until: nullable(TimeSchema, 'Null: its end is not known.'),
});

const PAGE = {
  page: namedObject('StatuspagePage', {
    id: Type.String({ description: 'The slug.' }),
    name: Type.String(),
    url: Type.String(),
    time_zone: Type.String(),
    updated_at: TimeSchema,
  }),
};
const STATUS = {
  status: namedObject('StatuspageStatus', { indicator: enumOf(INDICATORS), description: Type.String() }),
};
const COMPONENTS = { components: Type.Array(ComponentSchema) };
const INCIDENTS = {
  incidents: Type.Array(IncidentSchema, { description: 'Newest start first, at most 50.' }),
};
const MAINTENANCES = {
  scheduled_maintenances: Type.Array(MaintenanceSchema, {
    description: 'At most 50. Newest start first; what is ahead alone, soonest first.',
  }),
};

/** The posts of a document, newest start first. */
export interface ListedPosts {
  readonly incidents: readonly ShownIncident[];
  readonly maintenances: readonly ShownMaintenance[];
}

/** The posts that a document needs. */
export interface ReadPosts {
  /** `open`: those that are not resolved. */
  readonly incidents: 'none' | 'open' | 'all';
  /** Maintenance that is over, too. */
  readonly isOver: boolean;
}

type Writer = ReturnType<typeof createStatuspageWriter>;

/** A document of the API. */
export interface StatuspageDocument {
  /** Its address below `api/v2/`, without `.json`. */
  readonly name: string;
  /** Part of its operation id. */
  readonly id: string;
  readonly summary: string;
  readonly answer: TSchema;
  readonly reads: ReadPosts;
  readonly write: (writer: Writer, posts: ListedPosts) => object;
}

const listsIncidents = (
  id: string,
  name: string,
  summary: string,
  incidents: 'open' | 'all',
): StatuspageDocument => ({
  ...{ id, name, summary, reads: { incidents, isOver: false } },
  answer: namedObject('StatuspageIncidents', { ...PAGE, ...INCIDENTS }),
  write: ({ page, incident }, { incidents: listed }) => ({
    page: page(listed),
    incidents: listed.map(incident),
  }),
});

/** Maintenance that has not begun, soonest first. */
const ahead = (all: readonly ShownMaintenance[]) =>
  all.filter(({ state }) => state === 'scheduled').reverse();
const active = (all: readonly ShownMaintenance[]) => all.filter(({ state }) => state === 'in_progress');

const listsMaintenances = (
  id: string,
  name: string,
  summary: string,
  choose: (all: readonly ShownMaintenance[]) => readonly ShownMaintenance[],
): StatuspageDocument => ({
  ...{ id, name, summary, reads: { incidents: 'none', isOver: name === 'scheduled-maintenances' } },
  answer: namedObject('StatuspageMaintenances', { ...PAGE, ...MAINTENANCES }),
  write({ page, maintenance }, { maintenances }) {
    const listed = choose(maintenances);
    return { page: page(listed), scheduled_maintenances: listed.map(maintenance) };
  },
});

const NOTHING: ReadPosts = { incidents: 'none', isOver: false };

export const STATUSPAGE_DOCUMENTS: readonly StatuspageDocument[] = [
  {
    ...{ id: 'Summary', name: 'summary', summary: 'Get the summary' },
    reads: { incidents: 'open', isOver: false },
    answer: namedObject('StatuspageSummary', {
      ...PAGE,
      ...COMPONENTS,
      ...INCIDENTS,
      ...MAINTENANCES,
      ...STATUS,
    }),
    write: ({ page, components, incident, maintenance, status }, { incidents, maintenances }) => ({
      page: page([...incidents, ...maintenances]),
      components,
      incidents: incidents.map(incident),
      scheduled_maintenances: [...ahead(maintenances), ...active(maintenances)].map(maintenance),
      status,
    }),
  },
  {
    ...{ id: 'Status', name: 'status', summary: 'Get the status', reads: NOTHING },
    answer: namedObject('StatuspageOverall', { ...PAGE, ...STATUS }),
    write: ({ page, status }, { incidents }) => ({ page: page(incidents), status }),
  },
  {
    ...{ id: 'Components', name: 'components', summary: 'List the components', reads: NOTHING },
    answer: namedObject('StatuspageComponents', { ...PAGE, ...COMPONENTS }),
    write: ({ page, components }, { incidents }) => ({ page: page(incidents), components }),
  },
  listsIncidents('Incidents', 'incidents', 'List the newest incidents', 'all'),
  listsIncidents('Unresolved', 'incidents/unresolved', 'List the unresolved incidents', 'open'),
  listsMaintenances('Maintenances', 'scheduled-maintenances', 'List the newest maintenances', (all) => all),
  listsMaintenances('Upcoming', 'scheduled-maintenances/upcoming', 'List the maintenances ahead', ahead),
  listsMaintenances('Active', 'scheduled-maintenances/active', 'List the maintenances in progress', active),
];
