/**
 * Rules of alerts: which changes of which services go to which channels of an account (docs/alerts.md), and the document of a rule, the
 * form that files of `apply` and the API share.
 */
import {
  ALERT_EVENTS,
  type AlertEventName,
  type AlertRule,
  DEFAULT_ALERT_EVENTS,
  type QuietHours,
} from '../../domain/alert/rule.ts';
import { DAY_MS, formatDuration, MINUTE_MS, parseDuration } from '../../domain/durations.ts';
import { readTimezone } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { CATEGORIES, type Category, type Service } from '../../domain/service.ts';
import { isListable } from '../../domain/status-page.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { RuleStore } from '../../store/ports/alerts.ts';
import type { ChannelStore } from '../../store/ports/channels.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { PageReads } from '../../store/ports/status-pages.ts';
import {
  accept,
  attempt,
  type FieldRefusal,
  type Outcome,
  readAll,
  readNameField,
  refuse,
} from '../kit/change.ts';
import { createChanges } from '../kit/create-changes.ts';
import { byNameOnPage, listedFinder, nameOnPage } from '../kit/listed-services.ts';
import { createDocumentReader } from '../kit/read-document.ts';

/** Limits of `after`, milliseconds. */
const AFTER_LIMITS = { minMs: 0, maxMs: DAY_MS } as const;
/** Limits of `repeat`, milliseconds. */
const REPEAT_LIMITS = { minMs: 5 * MINUTE_MS, maxMs: 7 * DAY_MS } as const;
/** Maximum number of services that a rule names. */
const MAX_SERVICES = 500;
/** Maximum number of status pages or channels that a rule names. */
const MAX_NAMES = 100;

const oneOf = <Word extends string>(words: readonly Word[]) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words] });
const names = (description: string, maxItems = MAX_NAMES) =>
  Type.Array(Type.String({ maxLength: 1_000 }), { maxItems, description });
const time = (description: string) => Type.String({ maxLength: 100, description, examples: ['22:00'] });

/** The schema of a rule. Absent members have their defaults. */
export const RuleDocumentSchema = strictObject({
  name: Type.String({
    maxLength: 1_000,
    description: 'Its name, which identifies it within the account; messages show it.',
  }),
  own: Type.Optional(
    Type.Boolean({ description: 'Whether it watches every service of the account; default: false.' }),
  ),
  services: Type.Optional(
    names(
      'Services that it watches: domains or slugs of the account, and slugs of public services.',
      MAX_SERVICES,
    ),
  ),
  categories: Type.Optional(
    Type.Array(oneOf<Category>(CATEGORIES), {
      maxItems: MAX_NAMES,
      description: 'It watches the services of the account that have these categories.',
    }),
  ),
  publicCategories: Type.Optional(
    Type.Array(oneOf<Category>(CATEGORIES), {
      maxItems: MAX_NAMES,
      description: 'It watches the public services that have these categories.',
    }),
  ),
  pages: Type.Optional(names('It watches the services on these status pages of the account, by slug.')),
  events: Type.Optional(
    Type.Array(oneOf<AlertEventName>(ALERT_EVENTS), {
      minItems: 1,
      maxItems: ALERT_EVENTS.length,
      description: `What it tells of; default: ${DEFAULT_ALERT_EVENTS.join(', ')}.`,
    }),
  ),
  channels: names('Names of the channels that it notifies. Without any it notifies nobody.'),
  after: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Only what lasts so long is reported, such as 5m; at most 1d. Default: 0s, at once.',
    }),
  ),
  repeat: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Time between reminders until it is over or somebody acknowledges it, from 5m to 1w. Default: none.',
    }),
  ),
  quiet: Type.Optional(
    strictObject(
      {
        from: time('When messages begin to wait, HH:MM.'),
        to: time('When they are sent, HH:MM; before `from`: on the next day.'),
        timezone: Type.Optional(
          Type.String({ maxLength: 100, description: 'IANA name, such as Europe/Berlin; default: UTC.' }),
        ),
        except: Type.Optional(
          Type.Array(oneOf<AlertEventName>(ALERT_EVENTS), {
            maxItems: ALERT_EVENTS.length,
            description: 'Events that are reported nevertheless; default: none.',
          }),
        ),
      },
      'Hours in which messages wait. Default: none.',
    ),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False: it is switched off. Default: true.' })),
});

export type RuleDocument = Static<typeof RuleDocumentSchema>;

const readStructure = createDocumentReader<RuleDocument>(RuleDocumentSchema);

/** A rule whose services and channels have the form of `Ref`: ids, or names of those that are not stored yet. */
interface WantedRule<Ref = number | string>
  extends Pick<AlertRule, 'name' | 'events' | 'afterMs' | 'repeatMs' | 'quiet' | 'enabled'> {
  readonly of: Omit<AlertRule['of'], 'services'> & { readonly services: readonly Ref[] };
  readonly channels: readonly Ref[];
}

/** Finds what rules name, by id or, if it is not stored yet, by name; null: there is no such thing. */
interface RuleNames {
  /** By the domain of a service of the account, or the slug of a public one. */
  readonly service: (name: string) => number | string | null;
  readonly channel: (name: string) => number | string | null;
  /** Returns true if the account has the status page. */
  readonly hasPage: (slug: string) => boolean;
}

/**
 * Reads a rule. Refused with `member_invalid`, `rule_name_missing`, `name_invalid`, `rule_services_missing`, `no_page_service`,
 * `rule_page_unknown`, `rule_channel_unknown`, `rule_time_invalid`, `rule_quiet_invalid` and `timezone_invalid`; the field is a path
 * such as `services.2`.
 */
export function readRuleDocument(value: unknown, find: RuleNames): Outcome<WantedRule> {
  const structure = readStructure(value);
  if (!structure.ok) return structure;
  const document = structure.value;
  const { own = false, services = [], categories = [], publicCategories = [], pages = [] } = document;
  const reading = readAll({
    name: readNameField(document.name, 'rule_name_missing'),
    // A list may be empty, for instance after its last service was removed.
    own: SELECTIONS.some((member) => document[member] !== undefined && document[member] !== false)
      ? accept(own)
      : refuse({ code: 'rule_services_missing' }, 'services'),
    services: readNames('services', services, find.service, (slug) => ({ code: 'no_page_service', slug })),
    pages: readNames(
      'pages',
      pages.map((slug) => slug.toLowerCase()),
      (slug) => (find.hasPage(slug) ? slug : null),
      (slug) => ({ code: 'rule_page_unknown', slug }),
    ),
    channels: readNames('channels', document.channels, find.channel, (name) => ({
      code: 'rule_channel_unknown',
      name,
    })),
    afterMs: readTime('after', document.after, AFTER_LIMITS, 0),
    repeatMs: readTime('repeat', document.repeat, REPEAT_LIMITS, null),
    quiet: readQuiet(document.quiet),
  });
  if (!reading.ok) return reading;
  const read = reading.value;
  return accept({
    name: read.name,
    of: {
      own: read.own,
      services: read.services,
      categories: unique(categories),
      publicCategories: unique(publicCategories),
      pages: read.pages,
    },
    events: ALERT_EVENTS.filter((event) => (document.events ?? DEFAULT_ALERT_EVENTS).includes(event)),
    channels: read.channels,
    afterMs: read.afterMs,
    repeatMs: read.repeatMs,
    quiet: read.quiet,
    enabled: document.enabled ?? true,
  });
}

const SELECTIONS = ['own', 'services', 'categories', 'publicCategories', 'pages'] as const;

/** The names of what a rule has by its id, or null: it is gone. */
export interface NamesOfRules<Ref = number> {
  readonly service: (service: Ref) => string | null;
  readonly channel: (channel: Ref) => string | null;
}

/** A rule as a document, without defaults and without what is gone. Lists are in the order of their names. */
export function ruleDocumentOf<Ref>(rule: WantedRule<Ref>, nameOf: NamesOfRules<Ref>): RuleDocument {
  const { name, of, events, channels, afterMs, repeatMs, quiet, enabled } = rule;
  const services = of.services.flatMap((one) => nameOf.service(one) ?? []).toSorted();
  const list = <T>(member: string, items: readonly T[]) => (items.length === 0 ? {} : { [member]: items });
  const chosen = {
    ...(of.own ? { own: true } : {}),
    ...list('services', services),
    ...list('categories', inOrder(CATEGORIES, of.categories)),
    ...list('publicCategories', inOrder(CATEGORIES, of.publicCategories)),
    ...list('pages', of.pages.toSorted()),
  };
  return {
    name,
    ...(Object.keys(chosen).length === 0 ? { services: [] } : chosen),
    ...(isDefault(events) ? {} : { events: inOrder(ALERT_EVENTS, events) }),
    channels: channels.flatMap((one) => nameOf.channel(one) ?? []).toSorted(),
    ...(afterMs === 0 ? {} : { after: formatDuration(afterMs) }),
    ...(repeatMs === null ? {} : { repeat: formatDuration(repeatMs) }),
    ...(quiet === null ? {} : { quiet: quietDocumentOf(quiet) }),
    ...(enabled ? {} : { enabled }),
  };
}

/** A time of the day, minutes after midnight, as `HH:MM`. */
function formatTimeOfDay(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

function quietDocumentOf({ from, to, timeZone, except }: QuietHours): NonNullable<RuleDocument['quiet']> {
  return {
    from: formatTimeOfDay(from),
    to: formatTimeOfDay(to),
    ...(timeZone === 'UTC' ? {} : { timezone: timeZone }),
    ...(except.length === 0 ? {} : { except: inOrder(ALERT_EVENTS, except) }),
  };
}

function isDefault(events: readonly AlertEventName[]): boolean {
  return (
    events.length === DEFAULT_ALERT_EVENTS.length && DEFAULT_ALERT_EVENTS.every((one) => events.includes(one))
  );
}

function inOrder<T>(order: readonly T[], items: readonly T[]): T[] {
  return order.filter((one) => items.includes(one));
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

/** The things that the names of a list stand for, without repetitions; a name that stands for nothing is refused at its place. */
function readNames<T>(
  list: string,
  texts: readonly string[],
  find: (text: string) => T | null,
  refusalOf: (text: string) => FieldRefusal['refusal'],
): Outcome<T[]> {
  const refusals: FieldRefusal[] = [];
  const found = texts.flatMap((text, index) => {
    const one = find(text);
    if (one !== null) return [one];
    refusals.push({ field: `${list}.${index}`, refusal: refusalOf(text) });
    return [];
  });
  return refusals.length === 0 ? accept(unique(found)) : { ok: false, refusals };
}

function readTime<T>(
  field: string,
  text: string | undefined,
  limits: { readonly minMs: number; readonly maxMs: number },
  absent: T,
): Outcome<number | T> {
  if (text === undefined) return accept(absent);
  const ms = parseDuration(text);
  return ms === null || ms < limits.minMs || ms > limits.maxMs
    ? refuse({ code: 'rule_time_invalid', ...limits }, field)
    : accept(ms);
}

function readQuiet(quiet: RuleDocument['quiet']): Outcome<QuietHours | null> {
  if (quiet === undefined) return accept(null);
  const { timezone = 'UTC', except = [] } = quiet;
  const [from, to] = [readTimeOfDay(quiet.from), readTimeOfDay(quiet.to)];
  const refusals: FieldRefusal[] = [];
  if (from === null) refusals.push({ field: 'quiet.from', refusal: { code: 'rule_quiet_invalid' } });
  if (to === null) refusals.push({ field: 'quiet.to', refusal: { code: 'rule_quiet_invalid' } });
  const timeZone = readTimezone(timezone.trim());
  if (timeZone === null) refusals.push({ field: 'quiet.timezone', refusal: { code: 'timezone_invalid' } });
  if (from === null || to === null || timeZone === null) return { ok: false, refusals };
  return accept({ from, to, timeZone, except: inOrder(ALERT_EVENTS, except) });
}

/** Minutes after midnight; null: the text is not a time of day. */
function readTimeOfDay(text: string): number | null {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim()) ?? [];
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes);
}

export interface RuleContext {
  readonly registry: RuleStore & ChannelStore & ServiceStore & PageReads;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly findServiceById: (id: number) => Service | null;
  readonly now: () => number;
}

type StoredForm = Omit<AlertRule, 'id' | 'accountId' | 'createdAt' | 'revision'>;

/** The changes of rules, which are known by their numbers and ordered by name. */
export const ruleChanges = createChanges<AlertRule, number, RuleDocument, StoredForm, RuleContext>({
  mayChange: 'editor',
  codes: {
    missing: (id) => ({ code: 'no_rule', id }),
    stale: 'rule_stale',
    at: { rule_name_taken: 'name', too_many_rules: 'name' },
  },
  keyOf: ({ id }) => id,
  list: ({ registry }, accountId) => registry.rulesOf(accountId),
  writer: ruleWriter,
  read: (context, document, { accountId }) => readRule(context, accountId, document),
  add: ({ registry, now }, accountId, rule) =>
    attempt(() => registry.addRule({ accountId, ...rule, createdAt: now() })),
  change: ({ registry }, { accountId, id, revision }, rule) =>
    attempt(() => registry.changeRule(accountId, id, rule, [revision])),
  remove: ({ registry }, { accountId, id, revision }) =>
    attempt(() => registry.removeRule(accountId, id, [revision])),
});

/** Returns a function that writes the documents of an account's rules, without services and channels that are gone. */
async function ruleWriter(
  {
    registry,
    findServiceById,
  }: RuleContext & {
    readonly registry: ChannelStore;
  },
  accountId: number,
): Promise<(rule: AlertRule) => RuleDocument> {
  const channels = new Map((await registry.channelsOf(accountId)).map(({ id, name }) => [id, name]));
  return (rule) =>
    ruleDocumentOf(rule, {
      service(id) {
        const service = findServiceById(id);
        return service === null || !isListable(service, accountId) ? null : nameOnPage(service);
      },
      channel: (id) => channels.get(id) ?? null,
    });
}

async function readRule(
  { registry, findService }: RuleContext,
  accountId: number,
  document: unknown,
): Promise<Outcome<StoredForm>> {
  const [channels, services, pages] = await Promise.all([
    registry.channelsOf(accountId),
    registry.servicesOf(accountId),
    registry.pagesOf(accountId),
  ]);
  const own = byNameOnPage(services);
  const slugs = new Set(pages.map(({ slug }) => slug));
  const reading = readRuleDocument(document, {
    service: listedFinder(accountId, own, findService).idOf,
    channel: (name) => channels.find((channel) => channel.name === name.trim())?.id ?? null,
    hasPage: (slug) => slugs.has(slug),
  });
  return reading.ok ? accept(storedForm(reading.value)) : reading;
}

/** A rule that names only what is stored. */
function storedForm({ of, channels, ...rule }: WantedRule): StoredForm {
  const ids = (list: readonly (number | string)[]) => list.filter((one) => typeof one === 'number');
  return { ...rule, of: { ...of, services: ids(of.services) }, channels: ids(channels) };
}
