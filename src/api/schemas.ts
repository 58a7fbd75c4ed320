/** The shapes of the API's answers, as JSON Schema; the OpenAPI document and the tests of the answers use them. */
import { type TSchema, Type } from '@sinclair/typebox';
import { CATEGORIES } from '../domain/category.ts';
import { FAILURE_CLASSES, PHASES } from '../domain/failure.ts';
import { INCIDENT_STATUSES, SEVERITIES } from '../domain/incident.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { VENDOR_STATUSES } from '../domain/vendor-word.ts';
import { PROBLEMS } from '../http/problem.ts';

/** One of some words. */
export const words = (allowed: readonly string[], description?: string) =>
  Type.Unsafe({ type: 'string', enum: [...allowed], ...(description === undefined ? {} : { description }) });
/** A schema, or null. */
export const nullable = (schema: TSchema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
/** A whole number from 0. */
export const whole = (description: string) => Type.Integer({ minimum: 0, description });
/** For objects without further members. */
export const strict = { additionalProperties: false };

/** ISO 8601 UTC with milliseconds. */
export const TimeSchema = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'ISO 8601 UTC with milliseconds.',
  examples: ['2026-11-20T10:00:00.000Z'],
});
const ResponseTime = nullable(
  whole('Whole milliseconds from the start of name resolution to the headers of the deciding answer.'),
  'Null before the first check, and when no response arrived.',
);

const SERVICE_MEMBERS = {
  slug: Type.String({ description: 'Identifier in paths.' }),
  name: Type.String({ description: 'Display name.' }),
  domain: Type.String({ description: 'Monitored domain.' }),
  category: words(CATEGORIES),
  status: words(SERVICE_STATUSES, 'up, slow (over 3 seconds), down, or unknown (not yet checked).'),
  response_time: ResponseTime,
  last_checked: nullable(TimeSchema, 'Start of the last attempt; null before the first check.'),
  stale: Type.Boolean({
    description:
      'The last check is older than two intervals. A service that is down by silence is never stale while the monitor listens.',
  }),
  since: nullable(TimeSchema, 'When the present status began; null while unknown.'),
  self_reported: Type.Boolean({
    description: 'Registered by an owner who has not shown control of the domain.',
  }),
};

/** A service of the list (contract 2.1). */
export const ServiceSchema = Type.Object(SERVICE_MEMBERS, strict);

/** The newest check of a service (contract 2.2). */
export const LatestCheckSchema = Type.Object(
  {
    status: words(SERVICE_STATUSES.slice(0, 3)),
    response_time: ResponseTime,
    status_code: whole('HTTP status code; 0 when no HTTP response arrived, 200 for a heartbeat.'),
    checked_at: TimeSchema,
    source: words(['root', 'health', 'heartbeat', 'silence'], 'What the check asked.'),
    blocked: Type.Boolean({ description: 'A bot wall or 429 answered: reachable, never down.' }),
    reported: nullable(
      Type.String(),
      'The word that a health body or heartbeat said, as it said it, such as ok or degraded; at most 64 characters. Null: none did.',
    ),
    failure: nullable(
      Type.Object(
        { class: words(FAILURE_CLASSES), phase: words(PHASES), detail: Type.String() },
        { ...strict, description: 'Why the check failed and in which phase.' },
      ),
    ),
    timing: Type.Object(
      {
        dns_ms: nullable(Type.Number()),
        connect_ms: nullable(Type.Number()),
        tls_ms: nullable(Type.Number()),
        first_byte_ms: nullable(Type.Number()),
        total_ms: nullable(Type.Number()),
      },
      { ...strict, description: 'Milliseconds of each phase; null where it did not happen.' },
    ),
    certificate_expires_at: nullable(TimeSchema, 'End of the certificate; null without TLS.'),
  },
  strict,
);

/** A vendor's own word on a service. */
export const VendorWordSchema = Type.Object(
  {
    status: words(
      VENDOR_STATUSES,
      'operational, or the worst severity of what the vendor has open; unknown: never read.',
    ),
    since: nullable(TimeSchema, 'When that began; null where it is not known.'),
    incident_id: nullable(Type.String(), 'The incident that it stands for; null: none is open.'),
    read_at: nullable(TimeSchema, 'When the status page was last read.'),
    stale: Type.Boolean({
      description: 'The page was not read for two intervals: its word may be out of date.',
    }),
    url: Type.String({ description: 'The status page.' }),
    kind: Type.String({ description: 'Its format.' }),
  },
  strict,
);

/** The single status (contract 4.1). */
export const StatusSchema = Type.Object(
  {
    ...SERVICE_MEMBERS,
    latest_check: nullable(LatestCheckSchema, 'Null before the first check.'),
    vendor: nullable(VendorWordSchema, 'What the vendor says of itself; null where no status page is read.'),
  },
  strict,
);

/** A page of services (contract 4.2). */
export const ServicesSchema = Type.Object(
  {
    services: Type.Array(ServiceSchema, { description: 'In the order of slugs.' }),
    total: whole('Services that match the filter.'),
    limit: whole('The limit that was used.'),
    offset: whole('The offset that was used.'),
  },
  strict,
);

const INCIDENT_MEMBERS = {
  id: Type.String({ description: 'Stable and unique over all sources.' }),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  severity: words(SEVERITIES),
  status: words(INCIDENT_STATUSES),
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  source_url: Type.String({
    description: 'The entry that it comes from; for our own incidents the page of the service.',
  }),
};
/** A service as other answers name it. */
export const IncidentServiceSchema = Type.Object({ name: Type.String(), slug: Type.String() }, strict);

/** Incidents of all services (contract 4.3). */
export const IncidentsSchema = Type.Object(
  {
    incidents: Type.Array(Type.Object({ ...INCIDENT_MEMBERS, service: IncidentServiceSchema }, strict), {
      description: 'Newest start first.',
    }),
    total: whole('Incidents that match the filter.'),
    limit: whole('The limit that was used.'),
    offset: whole('The offset that was used.'),
  },
  strict,
);

/** Incidents of one service (contract 4.4). */
export const ServiceIncidentsSchema = Type.Object(
  {
    service: IncidentServiceSchema,
    incidents: Type.Array(Type.Object(INCIDENT_MEMBERS, strict)),
    total: whole('Incidents of the service.'),
  },
  strict,
);

/** One incident with its timeline. */
export const IncidentSchema = Type.Object(
  {
    service: IncidentServiceSchema,
    incident: Type.Object(
      {
        ...INCIDENT_MEMBERS,
        source: words(['own', 'vendor'], "Our own checks, or the vendor's status page."),
        timeline: Type.Array(
          Type.Object({ at: TimeSchema, status: words(INCIDENT_STATUSES), text: Type.String() }, strict),
          { description: 'Every update, oldest first.' },
        ),
      },
      strict,
    ),
  },
  strict,
);

const Lag = nullable(Type.Number(), "Seconds from our first failed check to the vendor's first entry.");

/** A vendor's word, and how quick it is to say it. */
export const VendorSchema = Type.Object(
  {
    service: IncidentServiceSchema,
    vendor: nullable(VendorWordSchema, 'Null where no status page is read.'),
    acknowledgement: Type.Object(
      {
        from: TimeSchema,
        outages: whole('Outages that our checks have seen since then, maintenance left out.'),
        acknowledged: whole('Of these, those of which the vendor has an incident.'),
        median_seconds: Lag,
        worst_seconds: Lag,
        entries: Type.Array(
          Type.Object(
            {
              incident_id: Type.String(),
              vendor_incident_id: nullable(Type.String()),
              started_at: TimeSchema,
              acknowledged_at: nullable(TimeSchema),
              lag_seconds: Lag,
            },
            strict,
          ),
          { description: 'Newest first.' },
        ),
      },
      strict,
    ),
  },
  strict,
);

/** Maintenances that vendors announced. */
export const MaintenanceSchema = Type.Object(
  {
    maintenance: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The id of its incident, once it has started.' }),
          service: IncidentServiceSchema,
          title: Type.String(),
          description: Type.String({ description: 'Plain text.' }),
          state: words(['planned', 'running']),
          starts_at: TimeSchema,
          ends_at: nullable(TimeSchema, 'Null where the vendor names no end.'),
          source_url: Type.String(),
        },
        strict,
      ),
      { description: 'By their start, earliest first.' },
    ),
    total: whole('Maintenances that are planned or run.'),
    limit: whole('The limit that was used.'),
    offset: whole('The offset that was used.'),
  },
  strict,
);

/** The past of a service. */
export const HistorySchema = Type.Object(
  {
    service: IncidentServiceSchema,
    from: TimeSchema,
    to: TimeSchema,
    step: Type.String({ examples: ['15m'] }),
    incomplete: Type.Boolean({
      description:
        'Checks of this window are still on their way to the store, after it was out of reach: some are missing here.',
    }),
    missing_since: nullable(TimeSchema, 'From this time on checks are missing; null where none are.'),
    buckets: Type.Array(
      Type.Object(
        {
          start: TimeSchema,
          end: TimeSchema,
          count: whole('Checks that count.'),
          up: whole('Of these, up.'),
          slow: whole('Of these, slow.'),
          down: whole('Of these, down.'),
          suspect: whole('Checks beside them whose failure or slowness may have been our own.'),
          uptime_ratio: nullable(
            Type.Number({ minimum: 0, maximum: 1 }),
            'Share of up and slow; null without checks.',
          ),
          mean_ms: nullable(Type.Number()),
          p50_ms: nullable(Type.Number()),
          p95_ms: nullable(Type.Number()),
          p99_ms: nullable(Type.Number()),
        },
        strict,
      ),
      { maxItems: 1_000 },
    ),
  },
  strict,
);

/** Every error body (RFC 9457). */
export const ProblemSchema = Type.Object({
  type: Type.String({ format: 'uri' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: words(Object.keys(PROBLEMS), 'Stable word for programs.'),
  parameter: Type.Optional(Type.String({ description: 'Of invalid_parameter: its name.' })),
  place: Type.Optional(Type.String({ description: 'Of invalid_body: JSON Pointer to what is wrong.' })),
  allowed: Type.Optional(
    Type.Array(Type.String(), { description: 'The allowed values, where they can be listed.' }),
  ),
});
