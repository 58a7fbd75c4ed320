/**
 * Outgoing requests that are not checks: feeds, webhooks, verification of domains, sign-in. They use the same resolver,
 * guard and connections as checks.
 */
import { type Clock, systemClock } from '../clock.ts';
import { describeAddressProblem } from '../domain/failure.ts';
import type { Timing } from '../domain/result.ts';
import { type AddressPolicy, createAddressGuard } from './address-guard.ts';
import { exchangeByClient } from './client-exchange.ts';
import { createTrustStore } from './connection.ts';
import { decodeContent } from './content-coding.ts';
import { startDeadline } from './deadline.ts';
import { readDestination } from './destination.ts';
import type { DialParts } from './dial.ts';
import { type Fault, targetFault } from './fault.ts';
import { createResolver } from './resolver.ts';
import type { Headers } from './response-head.ts';
import { sendRequest, type WebResponse } from './send-request.ts';

export interface OutboundSettings {
  /** `User-Agent` of every request; see `userAgentOf`. */
  readonly userAgent: string;
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** Instead of `/etc/hosts`, for tests. */
  readonly hostsFile?: string;
}

export interface OutboundRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  /** Without `Host` and `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Deadline of the whole request with its redirects, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum size of the body before and after decoding, bytes; use at most 4 MiB. */
  readonly maxBodyBytes: number;
  /** Addresses and ports that may be dialled. For URLs of owners it never allows private blocks. */
  readonly policy: AddressPolicy;
  /** Maximum number of redirects to follow, GET and HEAD only; default 0: a 3xx is a response like any other. */
  readonly redirects?: number;
  /** Path of a PEM bundle that is trusted in addition to the system's authorities; default none. */
  readonly caFile?: string | null;
  /** Ends the request early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The outcome of a request. */
export interface OutboundResponse {
  /** 0: no response came. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** Decoded; null where `fault` is set. */
  readonly body: Buffer | null;
  /** Why no complete response arrived; null: it did, whatever its status. */
  readonly fault: Fault | null;
  readonly timing: Timing;
  /** URL of the response, after redirects. */
  readonly url: string;
}

/** The client of a thread. */
export type Outbound = ReturnType<typeof createOutbound>;

export type Requests = Pick<Outbound, 'request'>;

/** Creates the client. `onForbidden` is called for each refused address. Throws if a name server is invalid. */
export function createOutbound(
  settings: OutboundSettings,
  clock: Clock = systemClock,
  onForbidden?: DialParts['onForbidden'],
) {
  const parts = { clock, resolver: createResolver({ ...settings, clock }), onForbidden };
  const trusts = createTrustStore();
  return {
    /** Resolves for every outcome; rejects only for an abort or an invalid request. */
    async request(request: OutboundRequest): Promise<OutboundResponse> {
      const { method = 'GET', body = null, redirects = 0, caFile = null, signal } = request;
      signal?.throwIfAborted();
      const destination = readDestination(request.url);
      if ('problem' in destination)
        throw new TypeError(`${request.url} is ${describeAddressProblem(destination.problem)}`);
      const guard = createAddressGuard(request.policy);
      const deadline = startDeadline(clock, request.timeoutMs);
      const abort = () => deadline.abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        const order = {
          destination,
          method,
          headers: flatten(settings.userAgent, request.headers ?? {}),
          body,
          wantsBody: () => true,
          maxBodyBytes: request.maxBodyBytes,
          // A redirected POST would lose or repeat its body, so the caller receives the 3xx.
          redirects: method === 'GET' || method === 'HEAD' ? redirects : 0,
          guard,
          trust: () => trusts.trust(caFile),
          fresh: false,
        };
        const response = await sendRequest(parts, order, deadline, exchangeByClient);
        if (deadline.over === 'aborted') throw signal?.reason;
        const { body: received, fault } = await readWhole(response, request.maxBodyBytes);
        const { statusCode: status, headers, timing, url } = response;
        return { status, headers, body: received, fault, timing, url };
      } finally {
        signal?.removeEventListener('abort', abort);
        deadline.close();
      }
    },
    close: (): void => parts.resolver.close(),
  };
}

async function readWhole(
  response: WebResponse,
  maxBytes: number,
): Promise<Pick<OutboundResponse, 'body' | 'fault'>> {
  if (response.fault !== null) return { body: null, fault: response.fault };
  const { body, overlong, headers } = response;
  const content =
    overlong || body === null ? null : await decodeContent({ bytes: body, cut: false }, headers, maxBytes);
  if (content !== null && 'damaged' in content)
    return {
      body: null,
      fault: targetFault('body', 'body', { code: 'body_undecodable', coding: content.damaged }),
    };
  if (overlong || content?.cut === true)
    return { body: null, fault: targetFault('body', 'body', { code: 'body_too_long', maxBytes }) };
  return { body: content?.bytes ?? Buffer.alloc(0), fault: null };
}

function flatten(userAgent: string, headers: Readonly<Record<string, string>>): string[] {
  const flat = ['user-agent', userAgent];
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has('accept-encoding')) flat.push('accept-encoding', 'gzip, deflate, br');
  for (const [name, value] of Object.entries(headers)) flat.push(name, value);
  return flat;
}
