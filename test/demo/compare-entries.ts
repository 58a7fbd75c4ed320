/** Compares the incidents of a service, and their timelines, with what its vendor has published. */

import type { Script } from '../../demo/script.ts';
import type { VendorIncident } from '../../demo/vendors/script.ts';
import type { Mismatch } from './compare.ts';
import {
  type OneService,
  oldestCompared,
  type SeenIncident,
  type SeenIncidentInFull,
  type SeenIncidents,
} from './seen-incidents.ts';
import {
  type FeedTiming,
  incidentsOf,
  knownBy,
  PRECISION_MS,
  type ServedService,
} from './vendor-expectation.ts';

const MARKUP = /<[a-z/!]|&(?:[a-z]+|#x?[0-9a-f]+);|\*\*|onerror/i;

/** Every incident of the script is there once, and no other one is. */
export function compareEntries({ script, timing, seen, served, found, say }: OneService): Mismatch[] {
  const { askedAt, arrivedAt, startAt } = seen;
  const since = oldestCompared(script, askedAt);
  const isOwn = ({ id }: SeenIncident) => id.startsWith('own-');
  const listed = found.incidents.filter(
    (incident) => !isOwn(incident) && incident.severity !== 'maintenance',
  );
  const published = incidentsOf(served, arrivedAt);
  const mismatches: Mismatch[] = [];
  for (const incident of published) {
    if (incident.startedAt < since) continue;
    const told = incident.updates[0]?.at ?? incident.startedAt;
    const due = knownBy(script, served, told, timing) < askedAt;
    const matches = listed.filter((each) => speaksOf(script, timing, served, incident, each, startAt));
    if (matches.length > 1) mismatches.push(say(`${matches.length} times ${nameOf(incident)}`, 'once'));
    else if (matches[0] !== undefined) {
      const wrong = compareOne(script, timing, seen, served, incident, matches[0]);
      mismatches.push(...wrong.map(([is, wanted]) => say(`${nameOf(incident)}: ${is}`, wanted)));
    } else if (due)
      mismatches.push(say(`no incident ${nameOf(incident)}`, `it since ${Math.round(told)} ms`));
  }
  for (const incident of listed) {
    if (Date.parse(incident.started_at) - startAt < since) continue;
    const known = published.some((each) => speaksOf(script, timing, served, each, incident, startAt));
    if (!known)
      mismatches.push(say(`an incident "${incident.title}" (${incident.started_at})`, 'no such one'));
  }
  return mismatches;
}

/** Pairs of what is and what must be. */
function compareOne(
  script: Script,
  timing: FeedTiming,
  seen: SeenIncidents,
  served: ServedService,
  incident: VendorIncident,
  is: SeenIncident,
): (readonly [is: string, wanted: string])[] {
  const { fidelity } = served;
  const wrong: (readonly [string, string])[] = [];
  const severities = fidelity.severities[incident.severity];
  if (!severities.includes(is.severity)) wrong.push([is.severity, severities.join(' or ')]);
  const statuses = incident.updates
    .filter((_, index) => mayBeNewest(script, timing, seen, served, incident, index))
    .map(({ status }) => status);
  const open = is.status !== 'resolved';
  const fits =
    fidelity.statuses === 'each'
      ? statuses.some((status) => status === is.status)
      : statuses.some((status) => (status !== 'resolved') === open);
  if (!fits) wrong.push([is.status, statuses.join(' or ')]);
  if (open !== (is.resolved_at === null)) wrong.push([`resolved at ${is.resolved_at}`, is.status]);
  if (is.resolved_at !== null && incident.resolvedAt !== null) {
    const resolvedAt = Date.parse(is.resolved_at) - seen.startAt;
    const by =
      fidelity.end === 'told'
        ? incident.resolvedAt + PRECISION_MS
        : knownBy(script, served, incident.resolvedAt, timing);
    if (resolvedAt < incident.resolvedAt - PRECISION_MS || resolvedAt > by) {
      wrong.push([`resolved at ${Math.round(resolvedAt)} ms`, `${Math.round(incident.resolvedAt)} ms`]);
    }
  }
  if (fidelity.texts !== 'none') {
    const texts = incident.updates
      .filter((_, index) => mayBeNewest(script, timing, seen, served, incident, index))
      .map(({ text }) => text);
    // Where the end is seen by the absence of the entry alone, its last text was never to be read.
    const before = incident.updates.at(-2)?.text;
    const allowed = fidelity.end === 'read' && before !== undefined ? [...texts, before] : texts;
    if (!allowed.some((text) => tells(fidelity.texts, is.description, text))) {
      wrong.push([`described by "${is.description}"`, allowed.map((text) => `"${text}"`).join(' or ')]);
    }
  }
  if (MARKUP.test(`${is.title} ${is.description}`)) wrong.push(['markup', 'plain text']);
  if (!/^https?:\/\//.test(is.source_url)) wrong.push([`the link ${is.source_url}`, 'http or https']);
  return wrong;
}

/** Every update that must be known is there at its time, in order, and nothing else is. */
export function compareTimeline(
  { script, timing, seen, served, say }: OneService,
  is: SeenIncidentInFull,
): Mismatch[] {
  const { startAt, askedAt, arrivedAt } = seen;
  const { fidelity } = served;
  const times = is.timeline.map(({ at }) => Date.parse(at));
  const mismatches: Mismatch[] = [];
  if (times.some((at, index) => at < (times[index - 1] ?? 0)))
    mismatches.push(say('a timeline out of order', is.id));
  if (is.timeline.some(({ text }) => MARKUP.test(text)))
    mismatches.push(say('markup in a timeline', 'plain text'));
  if (is.timeline.at(-1)?.status !== is.status) {
    mismatches.push(say(`a timeline of ${is.id} that ends ${is.timeline.at(-1)?.status}`, is.status));
  }
  if (is.source !== 'vendor' || is.severity === 'maintenance') return mismatches;
  const incident = incidentsOf(served, arrivedAt).find((each) =>
    speaksOf(script, timing, served, each, is, startAt),
  );
  if (incident === undefined) return mismatches;
  if (fidelity.texts !== 'all') return mismatches;
  const lastTold =
    fidelity.end === 'read'
      ? incident.updates.filter(({ status }) => status !== 'resolved')
      : incident.updates;
  for (const [index, update] of lastTold.entries()) {
    if (knownBy(script, served, update.at, timing) >= askedAt) continue;
    // An entry that had left the page before it could be read has fewer updates.
    const next = incident.updates[index + 1]?.at;
    if (fidelity.end === 'read' && next !== undefined && next < knownBy(script, served, update.at, timing))
      continue;
    const there = is.timeline.some(
      ({ at, status, text }) =>
        Math.abs(Date.parse(at) - startAt - update.at) <= PRECISION_MS &&
        tells('all', text, update.text) &&
        (fidelity.statuses === 'each'
          ? status === update.status
          : (status === 'resolved') === (update.status === 'resolved')),
    );
    if (!there)
      mismatches.push(say(`no update "${update.text}" of ${nameOf(incident)}`, `it at ${update.at} ms`));
  }
  return mismatches;
}

/** Whether an incident of the API is this one of the script. */
function speaksOf(
  script: Script,
  timing: FeedTiming,
  served: ServedService,
  incident: VendorIncident,
  is: SeenIncident,
  startAt: number,
): boolean {
  const at = Date.parse(is.started_at) - startAt;
  const { start, title } = served.fidelity;
  if (title !== null && collapse(is.title) !== collapse(title(incident.title))) return false;
  const told = incident.updates[0]?.at ?? incident.startedAt;
  if (start === 'read') return at >= told - PRECISION_MS && at <= knownBy(script, served, told, timing);
  return Math.abs(at - incident.startedAt) <= PRECISION_MS;
}

/** Whether an update may be the newest that the program knew between the question and the answer. */
function mayBeNewest(
  script: Script,
  timing: FeedTiming,
  { askedAt, arrivedAt }: SeenIncidents,
  served: ServedService,
  { updates }: VendorIncident,
  index: number,
): boolean {
  const update = updates[index];
  const next = updates[index + 1];
  if (update === undefined || update.at > arrivedAt) return false;
  return next === undefined || knownBy(script, served, next.at, timing) >= askedAt;
}

/** Whether a text of the API tells the scripted one; formats without times of their updates may tell more than it. */
function tells(texts: ServedService['fidelity']['texts'], is: string, wanted: string): boolean {
  const [found, text] = [collapse(is), collapse(wanted)];
  return texts === 'newest' ? found.includes(text) : found === text;
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function nameOf({ title, updates }: VendorIncident): string {
  return `"${title}" of ${Math.round((updates[0]?.at ?? 0) / 1_000)} s`;
}
