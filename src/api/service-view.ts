/** A service, its name and its newest check as JSON, with their schemas (contract 2.1, 2.2; decisions, Services). */

import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { describeCause, FAILURE_CLASSES, type Failure, PHASES } from '../domain/failure.ts';
import {
  CATEGORIES,
  type CheckDefinition,
  ignoresCertificate,
  PROBED_KINDS,
  type Service,
} from '../domain/service.ts';
import { responseTimeOf } from '../domain/status/agree.ts';
import type { CurrentStatus, LatestCheck } from '../domain/status/current.ts';
import { scopeOf } from '../domain/status/transition.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { enumOf, listOf, named, namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { type Static, strictObject, Type } from '../json-schema.ts';
import type { ShownDirectory } from '../view/service-directory.ts';

/** The schema of a response time; `more` continues its description. */
const responseTime = (more = '') =>
  nullable(
    whole(
      `Whole milliseconds from the start of name resolution, or of the connection if no name had to be resolved, to the headers of the deciding answer.${more}`,
    ),
    'Null before the first check, and when no response arrived.',
  );

export const StatusWordSchema = named(
  'StatusWord',
  enumOf(SERVICE_STATUSES, 'up, slow (over 3 seconds), down, or unknown (not yet checked).'),
);
export const VerdictSchema = named('Verdict', enumOf(SERVICE_STATUSES.slice(0, 3)));
/** From where a service fails. */
export const ScopeSchema = named(
  'Scope',
  enumOf(
    ['global', 'partial'],
    'global: down, as the quorum of the regions says; partial: it fails in some regions, fewer than the quorum, and its status stays.',
  ),
);

export const SERVICE_MEMBERS = {
  slug: Type.String({ description: 'Identifier in paths.' }),
  name: Type.String({ description: 'Display name.' }),
  domain: Type.String({ description: 'Monitored domain.' }),
  category: named('Category', enumOf(CATEGORIES)),
  status: StatusWordSchema,
  response_time: responseTime(' Where several regions check: the median of their newest good checks.'),
  last_checked: nullable(TimeSchema, 'Start of the last attempt; null before the first check.'),
  stale: Type.Boolean({
    description:
      'The last check is older than two intervals. A service that is down by silence is never stale while the monitor listens.',
  }),
  since: nullable(TimeSchema, 'When the present status began; null while unknown.'),
  self_reported: Type.Boolean({
    description: 'Registered by an owner who has not shown control of the domain.',
  }),
  because: Type.Optional(
    namedObject('Cause', {
      name: Type.String(),
      slug: Type.String({
        description: 'A service without which this one cannot be reached, and that is down.',
      }),
    }),
  ),
};

/** A service of the list (contract 2.1). */
export const ServiceSchema = namedObject('Service', SERVICE_MEMBERS);

/** A service in responses about other things. */
export const ServiceNameSchema = namedObject('ServiceName', { name: Type.String(), slug: Type.String() });

const FailureSchema = nullable(
  namedObject('Failure', {
    class: enumOf(FAILURE_CLASSES),
    phase: enumOf(PHASES),
    detail: Type.String(),
  }),
  'Why the check failed and in which phase; null: it did not fail.',
);

/** Members of a status if more than one region checks the service (design, Places). */
export const REGION_MEMBERS = {
  regions: Type.Optional(
    listOf('The newest check of each region, by name; absent where one region checks.', {
      region: Type.String({ examples: ['eu'] }),
      status: VerdictSchema,
      response_time: nullable(whole('Whole milliseconds.'), 'Null when no response arrived.'),
      checked_at: TimeSchema,
      failure: FailureSchema,
    }),
  ),
  scope: Type.Optional(nullable(ScopeSchema, 'Null: it fails nowhere. Absent where one region checks.')),
};

/** The newest check of a service (contract 2.2). */
export const LatestCheckSchema = namedObject('LatestCheck', {
  status: VerdictSchema,
  response_time: responseTime(),
  status_code: whole('HTTP status code; 0 when no HTTP response arrived, 200 for a heartbeat.'),
  checked_at: TimeSchema,
  source: enumOf([...PROBED_KINDS, 'heartbeat', 'silence'], 'What the check asked.'),
  blocked: Type.Boolean({ description: 'A bot wall or 429 answered: reachable, never down.' }),
  reported: nullable(
    Type.String(),
    'The word that a health body or heartbeat said, as it said it, such as ok or degraded; at most 64 characters. Null: none did.',
  ),
  failure: FailureSchema,
  timing: strictObject(
    {
      dns_ms: nullable(Type.Number()),
      connect_ms: nullable(Type.Number()),
      tls_ms: nullable(Type.Number()),
      first_byte_ms: nullable(Type.Number()),
      total_ms: nullable(Type.Number()),
    },
    'Milliseconds of each phase; null where it did not happen.',
  ),
  certificate_expires_at: nullable(
    TimeSchema,
    'End of the certificate of the chain that ends first; null without TLS.',
  ),
  certificate_ignored: Type.Optional(
    Type.Boolean({
      description: 'True: the check takes any certificate (`certificate: ignore`). Absent: it is verified.',
    }),
  ),
});

/** A service for the list. `because`: the service that is the cause of its outage; null: none is known. */
export function viewService(
  service: Service,
  current: CurrentStatus,
  stale: boolean,
  because: Service | null = null,
): Static<typeof ServiceSchema> {
  const { latest } = current;
  return {
    slug: service.slug,
    name: service.name,
    domain: service.domain,
    category: service.category,
    status: current.status,
    response_time: responseTimeOf(current),
    last_checked: latest === null ? null : formatTime(latest.checkedAt),
    stale,
    since: formatTimeOrNull(current.since),
    self_reported: !service.verified,
    ...(because === null ? {} : { because: viewServiceName(because) }),
  };
}

/** The latest check for the single status; null before the first check. */
export function viewLatestCheck(
  latest: LatestCheck | null,
  check: Partial<Pick<CheckDefinition, 'kind' | 'settings'>>,
): Static<typeof LatestCheckSchema> | null {
  if (latest === null) return null;
  const { timing, certificateExpiresAt } = latest;
  return {
    status: latest.status,
    response_time: latest.responseTimeMs,
    status_code: latest.statusCode,
    checked_at: formatTime(latest.checkedAt),
    source: latest.source,
    blocked: latest.blocked,
    reported: latest.reported,
    failure: latest.failure === null ? null : viewFailure(latest.failure),
    timing: {
      dns_ms: round(timing.dnsMs),
      connect_ms: round(timing.connectMs),
      tls_ms: round(timing.tlsMs),
      first_byte_ms: round(timing.firstByteMs),
      total_ms: round(timing.totalMs),
    },
    certificate_expires_at: formatTimeOrNull(certificateExpiresAt),
    ...(latest.source === 'http' && ignoresCertificate(check) ? { certificate_ignored: true } : {}),
  };
}

/** The results of the regions, and the scope; no members if at most one region checks the service. */
export function viewRegions(current: CurrentStatus) {
  if (current.regions === undefined) return {};
  return {
    regions: current.regions.map(({ region, check }) => ({
      region,
      status: check.status,
      response_time: check.responseTimeMs,
      checked_at: formatTime(check.checkedAt),
      failure: check.failure === null ? null : viewFailure(check.failure),
    })),
    scope: scopeOf(current),
  };
}

export function viewServiceName({ name, slug }: Service): { readonly name: string; readonly slug: string } {
  return { name, slug };
}

/** Converts items by `view` and adds the names of their services. Items of removed services are left out. */
export function viewWithServices<Item extends { readonly serviceId: number }, View extends object>(
  directory: Pick<ShownDirectory, 'byId'>,
  items: readonly Item[],
  view: (item: Item) => View,
) {
  return items.flatMap((item) => {
    const service = directory.byId(item.serviceId);
    return service === null ? [] : [{ ...view(item), service: viewServiceName(service) }];
  });
}

function viewFailure(failure: Failure): Static<typeof LatestCheckSchema>['failure'] {
  return { class: failure.class, phase: failure.phase, detail: describeCause(failure) };
}

/** Rounds to tenths of a millisecond. */
function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
