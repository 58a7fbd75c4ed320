/** The endpoints that services report to (contract 4.5; decisions, Heartbeats). */
import { formatTime } from '../domain/durations.ts';
import { type HeartbeatKind, type HeartbeatProblem, readHeartbeat } from '../domain/heartbeat-body.ts';
import { refuseTimestamp } from '../domain/heartbeat-rules.ts';
import { dashDomain } from '../domain/service.ts';
import { decodeText } from '../http/body.ts';
import { HttpError, type ProblemCode } from '../http/problem.ts';
import type { HttpResponse, PostRequest, Route } from '../http/route.ts';
import type { HeartbeatReceipt, ReceivedHeartbeat } from '../record/observation.ts';

/** Longest body (decisions). */
export const MAX_HEARTBEAT_BYTES = 16_384;
/** When a sender is to try again after a fault of ours, seconds. */
const RETRY_SECONDS = 5;

/** What takes heartbeats: the record. */
export interface HeartbeatIntake {
  takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt>;
  /** A heartbeat was refused by a fault of ours. */
  noteRefusal(): void;
}

/** The answer to a heartbeat. */
interface HeartbeatView {
  readonly ok: true;
  readonly service: string;
  readonly status: string;
  /** Whole milliseconds. */
  readonly response_time: number;
  readonly checked_at: string;
  /** Only where the dashed domain stands for another service. */
  readonly slug?: string;
  /** Only where the heartbeat names a run. */
  readonly run?: { readonly id: string; readonly duration_ms: number | null };
}

/** What refuses a domain, and how that is answered. */
const REFUSALS: Readonly<Record<string, ProblemCode>> = {
  foreign_domain: 'forbidden_domain',
  catalogue_domain: 'forbidden_domain',
  account_limit: 'domain_limit',
};

/** The routes. */
export function heartbeatRoutes(
  taker: HeartbeatIntake,
  { siteUrl, now }: { readonly siteUrl: string; readonly now: () => number },
): Route[] {
  const route = (path: string, kind: HeartbeatKind): Route => ({
    path,
    bucket: 'api',
    handle: neverRead,
    post: {
      maxBytes: MAX_HEARTBEAT_BYTES,
      handle: (request) => takeHeartbeat(taker, siteUrl, kind, request, now()),
      onFault: () => taker.noteRefusal(),
    },
  });
  return [
    route('/api/v1/heartbeat', 'beat'),
    route('/api/v1/heartbeat/start', 'start'),
    route('/api/v1/heartbeat/fail', 'fail'),
  ];
}

function neverRead(): never {
  throw new Error('a route that is only posted to was read');
}

async function takeHeartbeat(
  taker: HeartbeatIntake,
  siteUrl: string,
  kind: HeartbeatKind,
  { body, key }: PostRequest,
  arrivedAt: number,
): Promise<HttpResponse> {
  const text = decodeText(body);
  const reading = readHeartbeat(text, kind);
  if (!reading.ok) throw invalidBody(reading);
  const { report } = reading;
  const early = report.timestamp === null ? null : refuseTimestamp(report.timestamp, arrivedAt);
  if (early !== null) throw invalidBody({ place: '/timestamp', problem: early, allowed: null });
  const receipt = await taker
    .takeHeartbeat({ report, accountId: key.accountId, arrivedAt, body: text })
    .catch((error: unknown) => {
      throw explain(error);
    });
  return answer(receipt, report.run, siteUrl);
}

function answer(receipt: HeartbeatReceipt, run: string | null, siteUrl: string): HttpResponse {
  const { service, status, responseTimeMs, checkedAt, runMs } = receipt;
  const view: HeartbeatView = {
    ok: true,
    service: service.name,
    status,
    response_time: responseTimeMs ?? 0,
    checked_at: formatTime(checkedAt),
    // Whose form is taken is told (decisions, Badge).
    ...(service.slug === dashDomain(service.domain) ? {} : { slug: service.slug }),
    ...(run === null ? {} : { run: { id: run, duration_ms: runMs } }),
  };
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      // RFC 8631: where the state of what was reported can be read.
      Link: `<${siteUrl}/api/v1/status/${service.slug}>; rel="status"`,
    },
    body: JSON.stringify(view),
  };
}

function invalidBody({ place, problem, allowed }: HeartbeatProblem): HttpError {
  const subject = place === '' ? 'The body' : place;
  const detail = `${subject} ${problem}.${allowed === null ? '' : ` Allowed: ${allowed.join(', ')}.`}`;
  return new HttpError('invalid_body', detail, { place, ...(allowed === null ? {} : { allowed }) });
}

/** What the sender is told of a heartbeat that was not taken. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { code } = error;
  if (code === 'unavailable')
    return new HttpError('unavailable', error.message, {}, { 'Retry-After': String(RETRY_SECONDS) });
  const refusal = REFUSALS[String(code)];
  return refusal === undefined ? error : new HttpError(refusal, error.message);
}
