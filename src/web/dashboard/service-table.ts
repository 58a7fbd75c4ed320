/** The table of an account's services on the dashboard: status, uptime of 30 days, newest check, and the last 24 hours as bars. */

import type { Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import { age, lasting, type Phrase } from '../../language/phrase.ts';
import { daysUntil, hoursUntil } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { createUptimeBars } from '../parts/uptime-bars.ts';
import type { AccountShare, DashboardSources } from './dashboard-forms.ts';

/** Services beyond these have neither uptime nor bars, so that the page of a large account is not slow. */
const MAX_WITH_PAST = 200;
const UPTIME_DAYS = 30;
/** The last bar is the hour that goes on. */
const BARS = 24;

/** Creates the function that reads the rows. */
export function createServiceTable(
  sources: Pick<DashboardSources, 'registry' | 'samples' | 'beginHistory' | 'status' | 'now'>,
) {
  const readUptime = createUptimeBars(sources, (at) => daysUntil(at, UPTIME_DAYS));
  const readBars = createUptimeBars(sources, (at) => hoursUntil(at, BARS));
  return async (services: readonly Service[], { formats, texts }: Language) => {
    const ids = services.slice(0, MAX_WITH_PAST).map(({ id }) => id);
    const [uptimes, bars] = [await readUptime(ids), await readBars(ids)];
    const rows = services.map((service) => {
      const { status: word, latest, since } = sources.status.get(service.id) ?? unknownStatus(service.id);
      const ratio = uptimes.get(service.id)?.uptimeRatio ?? null;
      const checked: Phrase = latest === null ? [texts.dashboard.never] : [age(latest.checkedAt)];
      return {
        service,
        word,
        since,
        ratio,
        checked,
        checkedAt: latest?.checkedAt ?? null,
        uptime: ratio === null ? null : formats.percent(ratio),
        lines: bars.get(service.id)?.lines ?? [],
      };
    });
    return rows.sort((a, b) => rankOf(a) - rankOf(b) || byName(a, b));
  };
}

export const TABLE_ORDERS = ['status', 'name', 'uptime', 'checked'] as const;

/** The rows whose name, domain or slug contains a text, in an order. `rows`: those in trouble first. */
export function arrangeRows<R extends Row>(
  rows: readonly R[],
  text: string,
  order: (typeof TABLE_ORDERS)[number],
) {
  const wanted = text.trim().toLowerCase();
  const found = rows.filter(({ service: { name, domain, slug } }) =>
    `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted),
  );
  return order === 'status' ? found : found.sort(ORDERS[order]);
}

const byName = (a: Row, b: Row) => a.service.name.localeCompare(b.service.name);
/** The orders of the table; unknown values come last. */
const ORDERS: Readonly<Record<Exclude<(typeof TABLE_ORDERS)[number], 'status'>, (a: Row, b: Row) => number>> =
  {
    name: byName,
    uptime: (a, b) => (a.ratio ?? 2) - (b.ratio ?? 2) || byName(a, b),
    checked: (a, b) => (b.checkedAt ?? 0) - (a.checkedAt ?? 0) || byName(a, b),
  };

/** The part of a row that is summed up. */
interface Row {
  readonly service: Service;
  readonly word: ServiceStatus;
  readonly since: number | null;
  /** Uptime from 0 to 1; null: it is not known. */
  readonly ratio: number | null;
  /** Of the newest check, epoch milliseconds; null: there is none. */
  readonly checkedAt: number | null;
}

/** The order of states: what is in trouble comes first, and what is paused last. */
function rankOf({ word, service }: Pick<Row, 'word' | 'service'>): number {
  return service.paused ? STATES.length : STATES.indexOf(word);
}

const STATES: readonly Row['word'][] = ['down', 'slow', 'unknown', 'up'];

/** The account in a sentence; null: it has no services. */
export function summarize(
  rows: readonly Row[],
  openAlerts: number,
  { texts, formats }: Language,
): string | null {
  if (rows.length === 0) return null;
  const { dashboard, status } = texts;
  const states = STATES.flatMap((word) => {
    const count = rows.filter((row) => row.word === word && !row.service.paused).length;
    return count === 0 ? [] : [`${formats.number(count)} ${status[word]}`];
  });
  const ratios = rows.flatMap(({ ratio }) => ratio ?? []);
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  const uptime = ratios.length === 0 ? null : formats.percent(mean);
  return dashboard.summary(formats.number(rows.length), states.join(', '), uptime, openAlerts);
}

/** The services whose state began after a time, the newest first. */
export function changedSince(rows: readonly Row[], after: number, { texts }: Language) {
  return rows
    .filter(({ since, word }) => since !== null && since > after && word !== 'unknown')
    .sort((a, b) => (b.since ?? 0) - (a.since ?? 0))
    .slice(0, MAX_CHANGED)
    .map(({ service: { slug, name }, word, since }) => ({
      ...{ slug, name, word },
      sentence: texts.dashboard.forTime(lasting(since ?? 0)),
    }));
}

const MAX_CHANGED = 6;

/** Why checks of the account are late, in a sentence; null: they are not, or not by its own share. */
export function heldText(share: AccountShare | null, { texts, formats }: Language): string | null {
  return share === null
    ? null
    : texts.dashboard.ownShareUsed(formats.number(share.held), formats.number(share.waiting));
}
