/** Judges the registry after a trial: every outage and heartbeat is in it once and in order, and nothing else is. */
import { ownIncidentId } from '../../../src/domain/own-incident.ts';
import type { SenderPhase, SentHeartbeat } from './heartbeat-senders.ts';
import type { Outage } from './outages.ts';
import type { DeliveryRow, HeartbeatRow, IncidentRow, TransitionRow } from './read-registry.ts';
import type { ReceivedDelivery } from './webhook-receiver.ts';

/** Detection times of outages, milliseconds, in ascending order. */
export interface OutageFigures {
  /** From the failure of the target to the transition. */
  readonly downMs: readonly number[];
  /** From its recovery to the transition. */
  readonly upMs: readonly number[];
  readonly wrong: readonly string[];
}

/** Tolerance for the order of a request and the note of the trial beside it, milliseconds. */
const TOLERANCE_MS = 250;

/** Judges the order of all transitions: positions have no gaps, and each follows from the one before of its service. */
export function judgeOrder(transitions: readonly TransitionRow[]): string[] {
  const wrong: string[] = [];
  for (const [index, { position }] of transitions.entries())
    if (position !== index + 1) return [`position ${index + 1} of the transitions is ${position}`];
  for (const [slug, list] of groupBySlug(transitions)) {
    // A status is dated back to the first failed attempt of any region, so it may begin before a change of scope.
    const turns = list.filter(({ from, to }) => from !== to);
    for (const [index, { position, at }] of turns.entries())
      if (at < (turns[index - 1]?.at ?? 0))
        wrong.push(`${slug}: position ${position} began before the status before it`);
    for (const [index, transition] of list.entries()) {
      const { position, seq, from, to, scope } = transition;
      const before = list[index - 1];
      const scopes = (row: TransitionRow | undefined) => JSON.parse(row?.scope ?? 'null');
      if (seq !== index + 1) wrong.push(`${slug}: transition ${index + 1} has the number ${seq}`);
      if (from !== (before?.to ?? 'unknown'))
        wrong.push(`${slug}: position ${position} is from ${from} after one to ${before?.to}`);
      if (from === to && scopes(transition)?.from !== (scopes(before)?.to ?? null))
        wrong.push(`${slug}: position ${position} changes the scope of ${scope} after ${before?.scope}`);
    }
  }
  return wrong;
}

/**
 * Judges the services that are checked: one transition down and one up for each outage, and no other. `limitMs`: time
 * within which a check must see a change, milliseconds.
 */
export function judgeOutages(
  transitions: readonly TransitionRow[],
  outages: readonly Outage[],
  slugs: readonly string[],
  limitMs: number,
): OutageFigures {
  const wrong: string[] = [];
  const downMs: number[] = [];
  const upMs: number[] = [];
  const bySlug = groupBySlug(transitions);
  for (const slug of slugs) {
    const own = outages.filter((outage) => outage.slug === slug);
    const list = bySlug.get(slug) ?? [];
    const turns = list.filter(({ from, to }) => from !== to);
    const [first, ...changes] = turns;
    if (first?.to !== 'up') wrong.push(`${slug}: its first status is ${first?.to}`);
    const expected = own.filter(({ region }) => region === null).flatMap(turnsOf);
    for (const [index, { to, at }] of expected.entries()) {
      const change = changes[index];
      if (change?.to !== to || change.at < at - TOLERANCE_MS || change.at > at + limitMs) {
        wrong.push(`${slug}: ${to} at ${time(at)} was expected, and there is ${describe(change)}`);
        break;
      }
      (to === 'down' ? downMs : upMs).push(change.recordedAt - at);
    }
    for (const extra of changes.slice(expected.length))
      wrong.push(`${slug}: nothing was expected, and there is ${describe(extra)}`);
    for (const { region, fromAt, untilAt } of own.filter((outage) => outage.region !== null)) {
      const isSeen = list.some(
        ({ from, to, at, scope }) =>
          from === to &&
          at >= fromAt - TOLERANCE_MS &&
          at <= untilAt &&
          JSON.parse(scope ?? 'null')?.to === 'partial',
      );
      if (!isSeen) wrong.push(`${slug}: its failure from ${region} at ${time(fromAt)} was not seen`);
    }
  }
  downMs.sort((a, b) => a - b);
  upMs.sort((a, b) => a - b);
  return { downMs, upMs, wrong };
}

/** Judges the services that send heartbeats: one transition for each change of what they report. */
export function judgeReports(
  transitions: readonly TransitionRow[],
  phases: readonly SenderPhase[],
  slugOf: (domain: string) => string,
): string[] {
  const bySlug = groupBySlug(transitions);
  return [...new Set(phases.map(({ domain }) => domain))].flatMap((domain) => {
    const told = (bySlug.get(slugOf(domain)) ?? []).filter(({ from, to }) => from !== to);
    const expected = phases
      .filter((phase) => phase.domain === domain)
      .map(({ word }) => (word === 'ok' ? 'up' : 'down'));
    const words = told.map(({ to }) => to);
    return words.join() === expected.join()
      ? []
      : [`${domain}: ${expected.join()} was reported, and ${words.join()} is registered`];
  });
}

/** Judges own incidents: each opens with its transition, every time down lies in one, and all are resolved. */
export function judgeIncidents(
  transitions: readonly TransitionRow[],
  incidents: readonly IncidentRow[],
): string[] {
  const wrong: string[] = [];
  const downs = new Map(
    transitions
      .filter(({ from, to }) => to === 'down' && from !== 'down')
      .map((transition) => [ownIncidentId(transition.slug, transition.at, transition.seq), transition]),
  );
  for (const { id, slug, status, startedAt } of incidents) {
    const down = downs.get(id);
    if (down?.at !== startedAt) wrong.push(`${slug}: incident ${id} has no transition`);
    if (status !== 'resolved') wrong.push(`${slug}: incident ${id} is ${status}`);
  }
  const ids = new Set(incidents.map(({ id }) => id));
  for (const [id, { slug, serviceId, at }] of downs) {
    const isWithin = incidents.some(
      (one) => one.serviceId === serviceId && one.startedAt < at && (one.resolvedAt ?? 0) > at,
    );
    if (!ids.has(id) && !isWithin) wrong.push(`${slug}: it was down at ${time(at)} without an incident`);
  }
  return wrong;
}

/** Judges webhooks: one message for each event, in order, delivered at least once and always the same. */
export function judgeDeliveries(
  transitions: readonly TransitionRow[],
  incidents: readonly IncidentRow[],
  deliveries: readonly DeliveryRow[],
  received: readonly ReceivedDelivery[],
  isOwned: (slug: string) => boolean,
): string[] {
  const wrong: string[] = [];
  const events = deliveries.map((delivery) => ({ ...delivery, data: JSON.parse(delivery.body).data }));
  const registered = transitions.filter(({ slug }) => isOwned(slug));
  const sent = events.filter(({ type }) => type.startsWith('service.'));
  const toText = (slug: string, to: string, at: number) => `${slug} ${to} ${time(at)}`;
  const expected = registered.map(({ slug, to, at }) => toText(slug, to, at));
  const actual = sent.map(({ data }) => toText(data.service.slug, data.to, Date.parse(data.at)));
  if (expected.join('\n') !== actual.join('\n'))
    wrong.push(
      `${expected.length} transitions of owners are registered, and ${actual.length} were sent, or in another order`,
    );
  for (const type of ['incident.opened', 'incident.resolved']) {
    const ids = events.filter((event) => event.type === type).map(({ data }) => String(data.incident.id));
    const own = incidents.filter(({ slug }) => isOwned(slug)).map(({ id }) => id);
    if (ids.toSorted().join() !== own.toSorted().join())
      wrong.push(
        `${own.length} incidents of owners are registered, and ${ids.length} times ${type} was sent`,
      );
  }
  const first = new Map<string, number>();
  for (const [index, { message, body }] of received.entries()) {
    const row = deliveries.find((delivery) => delivery.message === message);
    if (row?.body !== body) wrong.push(`webhook ${message} is not the registered one`);
    if (!first.has(message)) first.set(message, index);
  }
  const newest = new Map<string, number>();
  for (const { id, message, deliveredAt, data } of events) {
    const place = first.get(message);
    if (place === undefined || deliveredAt === null) {
      wrong.push(`webhook ${id} was not delivered`);
      continue;
    }
    const { slug } = data.service;
    if (place < (newest.get(slug) ?? -1)) wrong.push(`webhook ${id} of ${slug} came before an earlier one`);
    newest.set(slug, Math.max(place, newest.get(slug) ?? -1));
  }
  return wrong;
}

/** Judges heartbeats: those that were acknowledged are registered once, in order; what was refused, at most once. */
export function judgeHeartbeats(
  sent: readonly SentHeartbeat[],
  rows: ReadonlyMap<string, ReadonlyMap<number, HeartbeatRow>>,
  slugOf: (domain: string) => string,
): string[] {
  const wrong: string[] = [];
  for (const domain of new Set(sent.map((one) => one.domain))) {
    const own = sent.filter((one) => one.domain === domain);
    const list = [...(rows.get(slugOf(domain)) ?? new Map()).values()].sort((a, b) => a.number - b.number);
    for (const [index, { number }] of list.entries())
      if (number !== index) return [`${domain}: heartbeat ${index} has the number ${number}`];
    const times = list.map(({ timestamp }) => timestamp);
    const known = new Set(own.map(({ timestamp }) => timestamp));
    if (new Set(times).size !== times.length) wrong.push(`${domain}: a heartbeat is registered twice`);
    if (times.some((at) => !known.has(at)))
      wrong.push(`${domain}: a heartbeat is registered that was not sent`);
    const acknowledged = own.filter(({ status }) => status === 200).map(({ timestamp }) => timestamp);
    const registered = new Set(times);
    const lost = acknowledged.filter((at) => !registered.has(at));
    if (lost.length > 0)
      wrong.push(`${domain}: ${lost.length} acknowledged heartbeats are lost: ${lost.map(time)}`);
    const order = times.filter((at) => acknowledged.includes(at));
    if (order.some((at, index) => at < (order[index - 1] ?? 0)))
      wrong.push(`${domain}: heartbeats are registered in another order than they were acknowledged`);
  }
  return wrong;
}

function groupBySlug<Row extends { readonly slug: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ slug }) => slug);
}

function turnsOf({ fromAt, untilAt }: Outage) {
  return [
    { to: 'down', at: fromAt },
    { to: 'up', at: untilAt },
  ];
}

function describe(transition: TransitionRow | undefined): string {
  if (transition === undefined) return 'none';
  const { from, to, at, recordedAt, reason } = transition;
  return `${from} to ${to} at ${time(at)}, recorded at ${time(recordedAt)} (${reason})`;
}

function time(at: number): string {
  return new Date(at).toISOString();
}
