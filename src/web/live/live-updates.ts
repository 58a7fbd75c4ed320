/**
 * The updates of open pages as rendered markup, so that scripts need no texts of their own.
 *
 * A page gets updates if it passes `live: { of: [page names], at: changes.position() }` to the renderer. It must read
 * the position before any status. `of: null` is the home page. PAGE is the name of a service's page:
 *
 * | attribute of an element           | what happens to it                                                        |
 * | --------------------------------- | ------------------------------------------------------------------------- |
 * | `data-live="pill:PAGE"`           | its content becomes shape and word of the status                          |
 * | `data-live="said:PAGE"`           | ... the verdict with since when and why                                   |
 * | `data-live="checked:PAGE"`        | ... how long ago the last check was                                       |
 * | `data-live="took:PAGE"`           | ... the response time; `code:PAGE` the status code                        |
 * | `data-live="monitor"`, `"away"`   | ... the monitor's own line, and the notice that its connection is away    |
 * | `data-live="calm"`                | ... the text of the home page while no service is down or slow            |
 * | `data-live-status="PAGE"`         | its class among `up`, `slow`, `down`, `unknown` becomes that of the status |
 * | `data-live-list` on a list        | the same for its items, by the address of the first link in each          |
 * | `data-live-part="NAME"`           | content, class and href are loaded again from the page itself within some |
 * |                                   | seconds of an update: for what is too large for an event. Names are unique |
 *
 * Scripts of pages listen to `upbeat:news` (its detail is the {@link LiveUpdate}) and `upbeat:parts` on the document.
 */

import { formatTime } from '../../domain/durations.ts';
import { responseTimeOf } from '../../domain/status/agree.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../domain/status.ts';
import { age, asMarkup, escapeMarkup, type Phrase } from '../../language/phrase.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import type { Language } from '../language/language.ts';
import type { LiveUpdate } from '../parts/page-messages.ts';
import { describeVerdict, pillMarkup } from '../parts/verdict.ts';

/** The update of a service's page after a check. */
export function serviceUpdate(
  page: string,
  { current, unreached }: { readonly current: CurrentStatus; readonly unreached: Unreached | null },
  language: Language,
  now: number,
): LiveUpdate {
  const { status, latest } = current;
  const { texts, formats } = language;
  const markup = (phrase: Phrase) => asMarkup(phrase, formats, now);
  const html: Record<string, string> = {
    [`pill:${page}`]: pillMarkup(status, texts.status[status]),
    [`said:${page}`]: markup(describeVerdict(current, language, unreached)),
  };
  if (latest === null) return { html, statuses: { [status]: [page] } };
  html[`checked:${page}`] = markup([age(latest.checkedAt)]);
  const took = responseTimeOf(current);
  html[`took:${page}`] = took === null ? '–' : escapeMarkup(formats.milliseconds(took));
  html[`code:${page}`] = latest.statusCode === 0 ? '–' : `HTTP ${latest.statusCode}`;
  return {
    html,
    statuses: { [status]: [page] },
    checks: [{ page, status: latest.status, at: formatTime(latest.checkedAt) }],
  };
}

/** The updates of several services as one. */
export function joinUpdates(all: readonly LiveUpdate[]): LiveUpdate {
  const statuses: Partial<Record<ServiceStatus, string[]>> = {};
  for (const status of SERVICE_STATUSES) {
    const pages = all.flatMap((update) => update.statuses?.[status] ?? []);
    if (pages.length > 0) statuses[status] = pages;
  }
  return {
    html: Object.assign({}, ...all.map(({ html }) => html)),
    statuses,
    checks: all.flatMap(({ checks = [] }) => checks),
  };
}
