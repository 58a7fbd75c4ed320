/** Heartbeat services as the checks of Healthchecks' API (https://healthchecks.io/docs/api/). */

import { createHash } from 'node:crypto';
import type { Channel, ChannelKind } from '../../domain/alert/channel.ts';
import type { AlertRule } from '../../domain/alert/rule.ts';
import { silenceOf } from '../../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../../domain/service.ts';
import type { KeyBearer } from '../../http/route.ts';
import { mayWrite } from '../../resources/kit/write-route.ts';
import type { RuleStore } from '../../store/ports/alerts.ts';
import type { ChannelStore } from '../../store/ports/channels.ts';
import type { HeartbeatStore, HeartbeatSummary } from '../../store/ports/heartbeats.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { BadgeAddresses } from '../../view/badge-url.ts';
import type { ApiLimits } from '../../view/monitor.ts';
import { type CheckContext, isPingedByUuid, slugOfCheck, uuidOf, uuidOfCheck } from './checks.ts';
import { readNote } from './read-check.ts';

export interface CheckSources {
  readonly siteUrl: string;
  readonly now: () => number;
  readonly limits: () => ApiLimits;
  readonly status: StatusReads;
  readonly badgeAddresses: BadgeAddresses;
  readonly context: CheckContext & {
    readonly registry: CheckContext['registry'] & HeartbeatStore & RuleStore & ChannelStore;
  };
}

/** The reader of checks: a key, and the version of the API. */
export interface CheckReader {
  readonly key: KeyBearer;
  readonly version: number;
}

/** The checks of an account in the form of the API. A key without the scope `write` gets what a read-only key of Healthchecks does. */
export async function viewChecks(sources: CheckSources, reader: CheckReader, services: readonly Service[]) {
  const { registry } = sources.context;
  const { accountId } = reader.key;
  const [summaries, rules] = await Promise.all([
    registry.summariesOf(services.map(({ id }) => id)),
    registry.rulesOf(accountId),
  ]);
  return services.map((service, index) =>
    viewCheck(sources, reader, service, {
      summary: summaries[index] ?? null,
      rules,
    }),
  );
}

/** The members of a check that its owner chooses, which a service has without a look at its heartbeats. */
export function chosenMembers({ limits }: Pick<CheckSources, 'limits'>, service: Service) {
  const { periodMs, graceMs = 0, schedule } = service.check;
  return {
    name: service.name,
    slug: slugOfCheck(service),
    ...readNote(service.note),
    grace: Math.round(graceMs / 1_000),
    ...(schedule === undefined
      ? { timeout: Math.round((periodMs ?? limits().silenceMs) / 1_000) }
      : { schedule: schedule.cron, tz: schedule.timezone }),
  };
}

function viewCheck(
  sources: CheckSources,
  { key, version }: CheckReader,
  service: Service,
  { summary, rules }: { readonly summary: HeartbeatSummary | null; readonly rules: readonly AlertRule[] },
) {
  const { context, siteUrl, badgeAddresses } = sources;
  const uuid = uuidOfCheck(context, service);
  const updateUrl = `${siteUrl}/api/v${version}/checks/${uuid}`;
  const times = timesOf(sources, service, summary);
  // A pause ends a run, as with Healthchecks.
  const started = summary?.isStarted === true && !service.paused;
  const isShown = version === 1 && started && times.status !== 'down';
  return {
    ...chosenMembers(sources, service),
    n_pings: summary?.count ?? 0,
    status: isShown ? 'started' : times.status,
    started,
    last_ping: isoTime(summary?.endedAt ?? null),
    next_ping: isoTime(times.nextAt),
    // A ping resumes a paused check.
    manual_resume: false,
    methods: '',
    ...{ subject: '', subject_fail: '', start_kw: '', success_kw: '', failure_kw: '' },
    ...{ filter_subject: false, filter_body: false, filter_http_body: false, filter_default_fail: false },
    badge_url: `${badgeAddresses.urlOf(service) ?? `${siteUrl}/api/badge/${service.slug}`}.svg`,
    ...(summary === null || summary.runMs === null
      ? {}
      : { last_duration: Math.floor(summary.runMs / 1_000) }),
    ...(mayWrite(key)
      ? {
          uuid,
          ping_url: isPingedByUuid(context, service) ? `${siteUrl}/ping/${uuid}` : null,
          update_url: updateUrl,
          pause_url: `${updateUrl}/pause`,
          resume_url: `${updateUrl}/resume`,
          channels: channelsOf(rules, service)
            .map((id) => uuidOfChannel(context, key.accountId, id))
            .sort()
            .join(','),
        }
      : { unique_key: uniqueKeyOf(uuid) }),
  };
}

/** The status of a check, and when its next ping is expected, epoch milliseconds; null: none is. */
function timesOf(
  { status, limits, now }: CheckSources,
  { id, paused, check }: Service,
  summary: HeartbeatSummary | null,
): { readonly status: string; readonly nextAt: number | null } {
  if (paused) return { status: 'paused', nextAt: null };
  const current = status.get(id);
  if (current === null || current.status === 'unknown') return { status: 'new', nextAt: null };
  if (current.status === 'down') return { status: 'down', nextAt: null };
  const lastAt = summary?.endedAt ?? current.latest?.checkedAt ?? null;
  if (lastAt === null) return { status: 'up', nextAt: null };
  const nextAt = lastAt + silenceOf({ ...check, graceMs: 0 }, limits().silenceMs, lastAt);
  return { status: now() < nextAt ? 'up' : 'grace', nextAt };
}

/** A time as Healthchecks writes it, in whole seconds. */
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** The name by which a read-only key knows a check: 40 hexadecimal digits. */
export function uniqueKeyOf(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex');
}

/** The ids of the channels that are notified when a service is down, by rules that name it, its category or all of the account. */
export function channelsOf(
  rules: readonly AlertRule[],
  { id, category }: Pick<Service, 'id' | 'category'>,
): number[] {
  const covering = rules.filter(
    ({ enabled, events, of }) =>
      enabled &&
      events.includes('down') &&
      (of.own || of.services.includes(id) || of.categories.includes(category)),
  );
  return [...new Set(covering.flatMap(({ channels }) => channels))];
}

/** Names of kinds where Healthchecks has others. */
const KINDS: Readonly<Partial<Record<ChannelKind, string>>> = {
  teams: 'msteamsw',
  'google-chat': 'googlechat',
  pushover: 'po',
  pagerduty: 'pd',
};

function uuidOfChannel({ proofs }: Pick<CheckContext, 'proofs'>, accountId: number, id: number): string {
  return uuidOf(proofs.derive(`channel ${accountId} ${id}`));
}

export function viewChannel(context: CheckContext, { accountId, id, name, kind }: Channel) {
  return { id: uuidOfChannel(context, accountId, id), name, kind: KINDS[kind] ?? kind };
}
