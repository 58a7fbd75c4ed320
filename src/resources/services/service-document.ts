/** A service as a document: the form that files of `apply` and the API share. */
import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { formatDuration } from '../../domain/durations.ts';
import {
  type AcceptRule,
  type CheckDefinition,
  type CheckKind,
  type CheckSettings,
  DEFAULT_CHECK,
  MONITORING_KINDS,
  type Service,
} from '../../domain/service.ts';
import { type Static, Type } from '../../json-schema.ts';
import { CHECK_MEMBERS, type MemberLimits, parseMembers, writeMembers } from '../../kinds/check-members.ts';
import { validateSettings } from '../../kinds/settings.ts';
import { accept, type FieldRefusal, type Outcome } from '../kit/change.ts';
import { isObject } from '../kit/merge-patch.ts';
import { createDocumentReader } from '../kit/read-document.ts';
import { readAll, readDomain, readNameField } from '../kit/read-input.ts';
import { type EnteredCheck, readCheck, readGrace, readPeriod, readScheduleFields } from './read-check.ts';
import type { Registration } from './register-services.ts';

/** Members that are not known are refused. */
const strict = { additionalProperties: false };

const StatusRule = Type.Union([
  Type.Integer({ minimum: 100, maximum: 999 }),
  Type.String({ format: 'status-rule', pattern: '^[1-9](?:xx|[0-9]{2})$' }),
]);

/** How a service is checked. The settings depend on the kind. */
const CheckDocumentSchema = Type.Object(
  {
    kind: Type.Optional(
      Type.Unsafe<CheckKind>({
        type: 'string',
        enum: [...MONITORING_KINDS],
        description: 'How the service is monitored; default: root.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        format: 'http-url',
        maxLength: 2_000,
        description: 'Address of the check, in place of https://DOMAIN/.',
      }),
    ),
    method: Type.Optional(
      Type.Unsafe<'HEAD' | 'GET'>({
        type: 'string',
        enum: ['HEAD', 'GET'],
        description: 'Method of root checks; default: HEAD until the service has shown that it needs GET.',
      }),
    ),
    accept: Type.Optional(
      Type.Array(StatusRule, {
        maxItems: 50,
        description: 'HTTP statuses that count as good, such as 401 or 2xx; default: the rule of the kind.',
      }),
    ),
    settings: Type.Optional(
      Type.Unsafe<CheckSettings>({ type: 'object', description: 'Settings of the kind.' }),
    ),
    ...CHECK_MEMBERS,
  },
  strict,
);

/** The schema of a service. Absent members have their defaults. */
export const ServiceDocumentSchema = Type.Object(
  {
    domain: Type.String({
      maxLength: 1_000,
      description: 'Host name of the service; it identifies the service within its account.',
    }),
    name: Type.Optional(Type.String({ maxLength: 1_000, description: 'Display name; default: the domain.' })),
    category: Type.Optional(
      Type.Unsafe<Category>({
        type: 'string',
        enum: [...CATEGORIES],
        description: 'Default: developer.',
      }),
    ),
    paused: Type.Optional(
      Type.Boolean({ description: 'Whether the service is listed without being checked; default: false.' }),
    ),
    publicDependencies: Type.Optional(
      Type.Boolean({
        description: 'Whether visitors see the dependencies that heartbeats report; default: false.',
      }),
    ),
    check: Type.Optional(CheckDocumentSchema),
    period: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Time from one heartbeat to the next, such as 1h; default: heartbeats.silence.',
      }),
    ),
    grace: Type.Optional(
      Type.String({ maxLength: 100, description: 'How late a heartbeat may be, such as 5m; default: 0s.' }),
    ),
    schedule: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'When heartbeats are expected, a cron expression such as "30 3 * * 1-5".',
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Time zone of the schedule, such as Europe/Berlin; default: UTC.',
      }),
    ),
  },
  strict,
);

/** A service as a document. */
export type ServiceDocument = Static<typeof ServiceDocumentSchema>;

const readStructure = createDocumentReader<ServiceDocument>(ServiceDocumentSchema);

/** What a document changes. */
interface PresentCheck {
  /** The check, whose address, times and regions may stay. */
  readonly before?: CheckDefinition;
  /** Names of its credentials that stay. */
  readonly kept?: readonly string[];
  /** The change names the method. Absent: documents may contain one for any kind, as those that were exported before do. */
  readonly choosesMethod?: boolean;
}

/**
 * Reads a service. Refused with `member_invalid`, `domain_invalid`, `service_name_missing`, `name_invalid`,
 * `url_elsewhere`, `url_refused`, `method_of_root`, `kind_unavailable`, `setting_invalid`, `check_member_invalid`, `duration_invalid`, `schedule_invalid`, `timezone_invalid`,
 * `timezone_alone` or `period_and_schedule`; the field is a path such as `check.settings.port`.
 */
export function readServiceDocument(
  value: unknown,
  destinations: AllowedDestinations,
  limits: MemberLimits,
  present: PresentCheck = {},
): Outcome<Registration> {
  const structure = readStructure(value);
  if (structure.ok) return readMeaning(structure.value, destinations, limits, present);
  const rest = withoutWrong(value, structure.refusals);
  const meaning = rest === null ? null : readMeaning(rest, destinations, limits, present);
  const further = meaning === null || meaning.ok ? [] : meaning.refusals;
  return { ok: false, refusals: [...structure.refusals, ...further] };
}

/** Reads a service whose structure is that of the schema. */
function readMeaning(
  { domain, name, category = 'developer', check = {}, ...rest }: ServiceDocument,
  destinations: AllowedDestinations,
  limits: MemberLimits,
  { before, kept, choosesMethod = false }: PresentCheck,
): Outcome<Registration> {
  const { kind = 'root', url = null, method = null, accept: rules = [], settings } = check;
  const entered: EnteredCheck = {
    ...{ kind, url, method, choosesMethod },
    accept: accept(rules.length === 0 ? null : rules.map(toAcceptRule)),
    settings: validateSettings(kind, settings, kept),
    ...{ choice: parseMembers(check), wrong: [] },
    period: readPeriod(rest.period, undefined),
    grace: readGrace(rest.grace, undefined),
    schedule: readScheduleFields(rest.schedule, rest.timezone, undefined),
    clashesAt: 'schedule',
  };
  const reading = readAll({
    domain: readDomain(domain),
    name: name === undefined ? accept(null) : readNameField(name, 'service_name_missing'),
    check: inDocument(readCheck(entered, DEFAULT_CHECK, { destinations, limits, domain, before })),
  });
  if (!reading.ok) return reading;
  const read = reading.value;
  const { paused = false, publicDependencies = false } = rest;
  return accept({
    domain: read.domain,
    name: read.name ?? read.domain,
    ...{ category, paused, publicDependencies },
    ...read.check,
  });
}

/** A service as a document, without defaults and without secrets. */
export function serviceDocumentOf(
  service: Pick<Service, 'domain' | 'name' | 'category' | 'paused' | 'check'> & {
    readonly publicDependencies?: boolean;
  },
): ServiceDocument {
  const { domain, name, category, paused, publicDependencies = false } = service;
  const { kind, url, method, accept: rules, settings, periodMs, graceMs, schedule } = service.check;
  const check = {
    ...(kind === 'root' ? {} : { kind }),
    ...(url === null ? {} : { url }),
    ...(method === null ? {} : { method }),
    ...(rules === null ? {} : { accept: [...rules] }),
    ...(settings === undefined ? {} : { settings }),
    ...writeMembers(service.check),
  };
  return {
    domain,
    ...(name === domain ? {} : { name }),
    ...(category === 'developer' ? {} : { category }),
    ...(paused ? { paused } : {}),
    ...(publicDependencies ? { publicDependencies } : {}),
    ...(Object.keys(check).length === 0 ? {} : { check }),
    ...(periodMs === undefined ? {} : { period: formatDuration(periodMs) }),
    ...(graceMs === undefined ? {} : { grace: formatDuration(graceMs) }),
    ...(schedule === undefined ? {} : { schedule: schedule.cron, timezone: schedule.timezone }),
  };
}

/** A document without its wrong members, so that the others are judged too; null: there is nothing to judge. */
function withoutWrong(value: unknown, refusals: readonly FieldRefusal[]): ServiceDocument | null {
  if (!isObject(value)) return null;
  const wrong = new Set(
    refusals.map(({ field }) => field?.split('.', field.startsWith('check.') ? 2 : 1).join('.')),
  );
  // The settings are those of the kind, and the address is at the domain.
  if (wrong.has('check.kind')) wrong.add('check.settings');
  if (wrong.has('domain')) wrong.add('check.url');
  const soundOf = (members: object, parent = '') =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !wrong.has(`${parent}${name}`)));
  const document = { domain: ANY_DOMAIN, ...soundOf(value) };
  const check = isObject(value.check) ? { check: soundOf(value.check, 'check.') } : {};
  const reading = readStructure({ ...document, ...check });
  return reading.ok ? reading.value : null;
}

/** A valid domain in place of one that is refused. */
const ANY_DOMAIN = 'example.com';

/** Refusals of a check with the paths of their members in a document. */
function inDocument<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map(({ field, refusal }) => ({
    field: field !== null && OF_HEARTBEATS.has(field) ? field : `check.${field}`,
    refusal,
  }));
  return { ok: false, refusals };
}

/** Members of a check that stand beside `check` in a document. */
const OF_HEARTBEATS: ReadonlySet<string> = new Set(['period', 'grace', 'schedule', 'timezone']);

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function toAcceptRule(rule: string | number): AcceptRule {
  return CLASSES.find((one) => one === rule) ?? Number(rule);
}
