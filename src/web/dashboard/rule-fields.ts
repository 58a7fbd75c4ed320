/** The form of a rule: its fields as a document, and a document as fields. Each choice is a field of its own name. */

import type { Channel } from '../../domain/alert/channel.ts';
import { ALERT_EVENTS, DEFAULT_ALERT_EVENTS } from '../../domain/alert/rule.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { parseDuration } from '../../domain/durations.ts';
import type { Service } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { nameOnPage } from '../../resources/kit/listed-services.ts';
import type { RuleDocument } from '../../resources/rules/rule-document.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import type { LanguageTexts } from '../language/language.ts';
import type { FormFields } from './dashboard-forms.ts';

/** Lengths that the form offers. */
const AFTER = ['1m', '2m', '5m', '10m', '30m', '1h'];
const REPEAT = ['15m', '30m', '1h', '4h', '1d'];
/** Maximum number of own services that are listed without a search. */
const MAX_LISTED = 60;
const MAX_FOUND = 12;

/** The document that the fields of a form describe. Its reader refuses what is wrong with it. */
export function readRuleFields(fields: FormFields): RuleDocument {
  const chosen = (prefix: string) =>
    [...fields.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const among = <T extends string>(prefix: string, words: readonly T[]) => {
    const names = new Set(chosen(prefix));
    return words.filter((word) => names.has(word));
  };
  const [from = '', to = ''] = [fields.get('quiet_from'), fields.get('quiet_to')];
  const after = fields.get('after') ?? '';
  const repeat = fields.get('repeat') ?? '';
  const timezone = fields.get('quiet_zone') || 'UTC';
  const except = among('except.', ALERT_EVENTS);
  const selection = {
    own: fields.has('own'),
    services: chosen('service.'),
    categories: among('category.', CATEGORIES),
    publicCategories: among('public.', CATEGORIES),
    pages: chosen('page.'),
  };
  return {
    name: fields.get('name') ?? '',
    ...Object.fromEntries(
      Object.entries(selection).filter(
        ([, value]) => value === true || (Array.isArray(value) && value.length > 0),
      ),
    ),
    events: among('event.', ALERT_EVENTS),
    channels: chosen('channel.'),
    ...(after === '' ? {} : { after }),
    ...(repeat === '' ? {} : { repeat }),
    ...(from === '' && to === '' ? {} : { quiet: { from, to, timezone, except } }),
    enabled: fields.has('enabled'),
  };
}

/** Refusals of a document under the names of the fields of the form. */
export function ruleProblems<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map(({ field, refusal }) => {
    const [first = '', second = ''] = (field ?? '').split('.');
    const name = first === 'quiet' ? (QUIET_FIELDS[second] ?? 'quiet_from') : first;
    return { field: field === null ? null : (FIELDS[name] ?? name), refusal };
  });
  return { ok: false, refusals };
}

const QUIET_FIELDS: Readonly<Record<string, string>> = {
  from: 'quiet_from',
  to: 'quiet_to',
  timezone: 'quiet_zone',
};
/** Members whose problems stand beside another field. */
const FIELDS: Readonly<Record<string, string>> = {
  own: 'services',
  categories: 'services',
  publicCategories: 'services',
};

export interface RuleFormParts {
  readonly document: RuleDocument;
  readonly accountId: number;
  readonly own: readonly Service[];
  readonly pages: readonly OwnedPage[];
  readonly channels: readonly Channel[];
  readonly directory: ShownDirectory;
  /** The text to search services for; empty: none. */
  readonly search: string;
}

export function ruleFields(
  { document, accountId, own, pages, channels, directory, search }: RuleFormParts,
  { texts: { alerts, category } }: LanguageTexts,
) {
  const { services = [], events = DEFAULT_ALERT_EVENTS, quiet } = document;
  const byName = new Map(own.map((service) => [nameOnPage(service), service]));
  const chosen = services.map((name) => ({
    key: `service.${name}`,
    text: (byName.get(name) ?? directory.bySlug(name))?.name ?? name,
    checked: true,
  }));
  const others = (list: readonly Service[]) =>
    list
      .filter((service) => !services.includes(nameOnPage(service)))
      .map((service) => ({ key: `service.${nameOnPage(service)}`, text: labelOf(service), checked: false }));
  const tick = <Word extends string>(
    prefix: string,
    words: readonly Word[],
    picked: readonly string[],
    textOf: (word: Word) => string,
  ) => words.map((word) => ({ key: `${prefix}${word}`, text: textOf(word), checked: picked.includes(word) }));
  return {
    name: document.name,
    own: document.own === true,
    services: [...chosen, ...(own.length > MAX_LISTED ? [] : others(own))],
    search,
    found: search === '' ? null : others(searchServices(directory, accountId, search)),
    categories: tick('category.', CATEGORIES, document.categories ?? [], (word) => category[word]),
    publicCategories: tick('public.', CATEGORIES, document.publicCategories ?? [], (word) => category[word]),
    pages: pages.map(({ slug, title }) => ({
      key: `page.${slug}`,
      text: title,
      checked: document.pages?.includes(slug) === true,
    })),
    events: tick('event.', ALERT_EVENTS, events, (word) => alerts.event[word]),
    channels: channels.map(({ name, kind }) => ({
      key: `channel.${name}`,
      text: `${name} (${alerts.kind[kind]})`,
      checked: document.channels.includes(name),
    })),
    after: withCurrent(AFTER, document.after),
    repeat: withCurrent(REPEAT, document.repeat),
    quiet: {
      from: quiet?.from ?? '',
      to: quiet?.to ?? '',
      zone: quiet?.timezone ?? '',
      zoneHint: 'Europe/Berlin',
    },
    except: tick('except.', ALERT_EVENTS, quiet?.except ?? [], (word) => alerts.event[word]),
    enabled: document.enabled !== false,
  };
}

/** The lengths that are offered, with the one that is chosen. */
function withCurrent(offered: readonly string[], current: string | undefined) {
  const all =
    current === undefined || current === '0s' || offered.includes(current) ? offered : [...offered, current];
  return [...all]
    .sort((one, other) => (parseDuration(one) ?? 0) - (parseDuration(other) ?? 0))
    .map((value) => ({ value, selected: value === current }));
}

function labelOf({ name, domain, origin }: Service): string {
  return name === domain || origin === 'catalogue' ? name : `${name} (${domain})`;
}

/** Services of the account and public ones whose name, domain or slug contains the text; own ones first. */
function searchServices({ whole }: ShownDirectory, accountId: number, text: string): readonly Service[] {
  const wanted = text.toLowerCase();
  const found = whole
    .all()
    .filter(({ origin, accountId: owner }) => origin === 'catalogue' || owner === accountId)
    .filter(({ name, domain, slug }) => `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted));
  const rank = ({ origin, name }: Service) =>
    (origin === 'owner' ? 0 : 2) + (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...found]
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'))
    .slice(0, MAX_FOUND);
}
