/** The step that heartbeat addresses of every form share: a request's signal becomes a heartbeat or a log, and is answered. */

import { isRunName, readHeartbeat } from '../domain/heartbeat/heartbeat-body.ts';
import { type AddressSignal, cutLog, readLog, readPingText } from '../domain/heartbeat/heartbeat-rules.ts';
import { readAnyHost } from '../domain/host-name.ts';
import type { Service } from '../domain/service.ts';
import { endWhileReceiving } from '../http/body.ts';
import { HttpError } from '../http/problem.ts';
import type { BodyStart, HttpRequest, HttpResponse } from '../http/route.ts';
import type { HeartbeatStore } from '../store/ports/heartbeats.ts';
import { explainHeartbeatError, type HeartbeatSources } from './heartbeats.ts';

/** Maximum size of a body that is read, bytes; a longer log is cut. */
const MAX_LOG_BYTES = 65_536;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT']);
const NO_BODY: BodyStart = { bytes: Buffer.alloc(0), isWhole: true };

/** Throws `method_not_allowed` for a method that reports nothing. */
export function requireSignalMethod({ method }: HttpRequest): void {
  if (METHODS.has(method)) return;
  const allowed = { Allow: 'GET, HEAD, POST, PUT' };
  throw new HttpError('method_not_allowed', `${method} is not possible here.`, {}, allowed);
}

/** The answer to a signal that is on disk. */
export interface SignalAnswer {
  readonly type: string;
  readonly body: string;
}

/** A signal that a request carries; `status`: of a heartbeat alone. */
export interface SentSignal {
  readonly service: Service;
  readonly signal: AddressSignal;
  readonly status: string | null;
  readonly request: HttpRequest;
}

/** Creates the function that takes a signal and answers. It throws the error of a heartbeat that is refused. */
export function createSignalTaker({
  heartbeats,
  registry,
  siteUrl,
  now,
}: Pick<HeartbeatSources, 'heartbeats' | 'siteUrl' | 'now'> & { readonly registry: HeartbeatStore }) {
  const take = async ({ service, signal, status, request }: SentSignal): Promise<BodyStart> => {
    const { kind } = signal;
    const asides = new URLSearchParams(request.query);
    const run = [asides.get('run') ?? asides.get('rid')].find((name) => name !== null && isRunName(name));
    const pingMs = kind === 'beat' ? readPingText(asides.get('ping') ?? '') : null;
    const message = kind === 'beat' ? cutLog(asides.get('msg') ?? '') : null;
    const arrivedAt = now();
    const start = (await request.readBodyStart?.(MAX_LOG_BYTES)) ?? NO_BODY;
    const log = readLog(start.bytes, start.isWhole) ?? cutLog(asides.get('msg') ?? '');
    const body = JSON.stringify({
      domain: service.domain,
      service_id: service.id,
      ...(status === null ? {} : { status }),
      ...(run === undefined ? {} : { run }),
      ...(kind === 'fail' && signal.exitCode !== null ? { exit_code: signal.exitCode } : {}),
      ...(pingMs === null ? {} : { ping: pingMs }),
      ...(message === null ? {} : { message }),
      ...(log === null ? {} : { log }),
    });
    // A log is read like a start, for its run.
    const reading = readHeartbeat(body, kind === 'log' ? 'start' : kind, readAnyHost);
    if (!reading.ok) throw new Error(`a heartbeat by an address ${reading.place} ${reading.problem}`);
    const { report } = reading;
    const accountId = service.accountId ?? 0;
    if (kind !== 'log') await heartbeats.takeHeartbeat({ report, accountId, arrivedAt, body });
    else if (log !== null)
      await registry.addHeartbeatLog(service.id, accountId, { at: arrivedAt, run: report.run, text: log });
    return start;
  };

  return async (sent: SentSignal, { type, body }: SignalAnswer): Promise<HttpResponse> => {
    const { isWhole } = await take(sent).catch((error: unknown) => {
      throw explainHeartbeatError(error);
    });
    const headers = {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      Link: `<${siteUrl}/api/v1/status/${sent.service.slug}>; rel="status"`,
    };
    if (isWhole) return { status: 200, headers, body };
    return {
      status: 200,
      headers: { ...headers, 'Content-Length': String(body.length), Connection: 'close' },
      body,
      stream: (response) => endWhileReceiving(response, body),
    };
  };
}
