/**
 * Echo requests of ICMP, by the ping of the system: only privileged programs may send them, and ping has that privilege. And the addresses
 * of a name that the guard allows, for checks that make no connection of their own.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { FailureCause } from '../domain/failure.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';
import type { AddressGuard, Destination } from './address-guard.ts';
import type { Deadline } from './deadline.ts';
import type { DialParts } from './dial.ts';
import { connectFault, type Fault, nameFault, targetFault, timeoutFault } from './fault.ts';
import type { Lookup } from './resolver.ts';

/** A reply with its round-trip time in milliseconds, or the fault that prevented it. */
export type Echo = { readonly roundTripMs: number } | { readonly fault: Fault };

/** Maximum size of what is read of the output of a ping, bytes. */
const MAX_OUTPUT_BYTES = 16_384;
/** Timeout of the trial at {@link examinePing}, milliseconds. */
const TRIAL_TIMEOUT_MS = 3_000;
/** Exit status of `env` if there is no such program. */
const NOT_FOUND = 127;

/** The command: one request a second until one reply, or for so many seconds. Its words are those of the C locale. */
const commandOf = (seconds: number, address: string) =>
  ['LC_ALL=C', 'ping', '-n', '-c', '1', '-w', String(seconds), address] as const;

/**
 * Sends echo requests to an address, which the caller has checked, until one is answered. `signal` ends it before the deadline, as
 * if that had come. Never rejects.
 */
export function ping(address: string, deadline: Deadline, signal: AbortSignal): Promise<Echo> {
  return new Promise((resolve) => {
    const { timeoutMs } = deadline;
    if (deadline.over !== null || signal.aborted) {
      resolve({ fault: timeoutFault('first_byte', timeoutMs, false) });
      return;
    }
    // It ends by itself, even if this process is killed.
    const seconds = Math.ceil((timeoutMs + MAX_RETURNED_MS) / 1_000);
    const child = spawn('env', commandOf(seconds, address), { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let problem = '';
    const end = (echo: Echo) => {
      deadline.interrupt = null;
      child.kill('SIGKILL');
      resolve(echo);
    };
    const interrupt = () => end({ fault: timeoutFault('first_byte', timeoutMs, false) });
    deadline.interrupt = interrupt;
    signal.addEventListener('abort', interrupt, { once: true });
    child.on('error', (error: NodeJS.ErrnoException) => end({ fault: ownFault(connectFault(error)) }));
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      output = (output + text).slice(0, MAX_OUTPUT_BYTES);
      const echo = readReply(output);
      if (echo !== null) end(echo);
    });
    child.stderr.setEncoding('latin1').on('data', (text: string) => {
      problem = (problem + text).slice(0, MAX_OUTPUT_BYTES);
    });
    child.on('close', (status) => {
      const isOver = status === 0 || status === 1;
      end(
        isOver && problem === ''
          ? { fault: timeoutFault('first_byte', timeoutMs, false) }
          : { fault: faultOf(status, problem) },
      );
    });
  });
}

/**
 * Why this machine cannot send echo requests; null: it can. Tries it once, with its own loopback address, which blocks for a
 * few milliseconds; the result is kept.
 */
export function examinePing(): FailureCause | null {
  if (examined === null) {
    const options = { timeout: TRIAL_TIMEOUT_MS, encoding: 'latin1' } as const;
    const { status, stdout, stderr, error } = spawnSync('env', commandOf(1, '127.0.0.1'), options);
    const isReply = readReply(stdout ?? '') !== null;
    examined = { cause: isReply ? null : causeOf(status, stderr || (error?.message ?? 'no reply')) };
  }
  return examined.cause;
}

let examined: { readonly cause: FailureCause | null } | null = null;

/** Reads the output so far; null: neither a reply nor a refusal has come. */
function readReply(output: string): Echo | null {
  const time = /^\d+ bytes from .* time[=<]([\d.]+) ?ms/m.exec(output)?.[1];
  if (time !== undefined) return { roundTripMs: Number(time) };
  const [, refusal] = /^From \S+ icmp_seq=\d+ ((?:Dest|Packet|Time|Param).*)$/m.exec(output) ?? [];
  if (refusal === undefined) return null;
  return { fault: targetFault('unreachable', 'first_byte', { code: 'host_unreachable', error: refusal }) };
}

/** The fault of a ping that ended without an answer of the network. */
function faultOf(status: number | null, problem: string): Fault {
  if (/unreachable/i.test(problem)) return connectFault({ name: '', message: '', code: 'ENETUNREACH' });
  return ownFault(targetFault('unreachable', 'connect', causeOf(status, problem)));
}

/** The cause of a ping that does not work here. */
function causeOf(status: number | null, problem: string): FailureCause {
  if (status === NOT_FOUND) return { code: 'ping_missing' };
  return { code: 'ping_refused', error: (problem.split('\n')[0] ?? '').replace(/^ping: /, '') };
}

function ownFault({ failure }: Fault): Fault {
  return { failure, suspect: 'own_fault' };
}

/** The name to resolve. */
interface AddressOrder {
  readonly destination: Destination;
  readonly guard: AddressGuard;
  /** Bypasses the DNS cache. */
  readonly fresh: boolean;
}

/** An allowed address, or the fault that prevented it. `dnsMs` null: no query was sent. */
export type ResolvedAddress =
  | {
      readonly address: string;
      /** The further allowed addresses of the name, in their order. Call it once. */
      readonly others: () => Promise<readonly string[]>;
      readonly dnsMs: number | null;
    }
  | { readonly fault: Fault; readonly dnsMs: number | null };

/** Resolves to the first allowed address, IPv4 before IPv6. Never rejects because of the target. */
export function resolveAddress(
  parts: DialParts,
  order: AddressOrder,
  deadline: Deadline,
): Promise<ResolvedAddress> {
  const { clock, resolver } = parts;
  const startedAt = clock.monotonic();
  return new Promise((resolve) => {
    const interrupt = () => {
      const fault = timeoutFault('dns', deadline.timeoutMs, resolver.silentSince(startedAt));
      resolve({ fault, dnsMs: clock.monotonic() - startedAt });
    };
    if (!deadline.interruptBy(interrupt)) return;
    void findAddress(parts, order, deadline).then(({ queried, ...found }) => {
      if (deadline.over !== null) return;
      deadline.interrupt = null;
      if (queried) deadline.step();
      resolve({ ...found, dnsMs: queried ? clock.monotonic() - startedAt : null });
    });
  });
}

type Allowed = { readonly queried: boolean; readonly address: string };
type Failed = { readonly queried: boolean; readonly fault: Fault };

async function findAddress(
  parts: DialParts,
  order: AddressOrder,
  deadline: Deadline,
): Promise<(Allowed & { readonly others: () => Promise<readonly string[]> }) | Failed> {
  const search = searchAddresses(parts, order, deadline);
  const first = await search.next();
  if (first.done === true) return first.value;
  const others = async () => {
    const found: string[] = [];
    for await (const { address } of search) found.push(address);
    return found;
  };
  return { ...first.value, others };
}

/** Finds the allowed addresses, each as soon as it is known; returns the fault of a name that has none. */
async function* searchAddresses(
  parts: DialParts,
  order: AddressOrder,
  deadline: Deadline,
): AsyncGenerator<Allowed, Failed> {
  const { destination, guard, fresh } = order;
  const { host, literal } = destination;
  if (literal) {
    const refusal = guard.judge(host, null);
    if (refusal === null) yield { queried: false, address: host };
    if (refusal === null) return { queried: false, fault: nameFault('ENODATA', false) };
    return { queried: false, fault: targetFault('forbidden_address', 'connect', refusal) };
  }
  const until = deadline.startedAt + deadline.timeoutMs;
  // Both queries are sent at once.
  const lookups = ([4, 6] as const).map((family) => parts.resolver.lookup(host, family, fresh, until));
  const answers: Lookup[] = [];
  let isForbidden = false;
  let queried = false;
  for (const lookup of lookups) {
    if (lookup instanceof Promise) queried = true;
    const answer = await lookup;
    answers.push(answer);
    for (const address of answer.kind === 'addresses' ? answer.addresses : []) {
      const refusal = guard.judge(address, null);
      if (refusal === null) yield { queried, address };
      else {
        isForbidden = true;
        parts.onForbidden?.({ host, address, refusal });
      }
    }
  }
  // Causes of failures are public, so this one does not reveal the private address behind a name.
  const forbidden = targetFault('forbidden_address', 'connect', { code: 'name_not_public' });
  return { queried, fault: isForbidden ? forbidden : faultOfLookups(answers) };
}

/** The fault of a name without addresses: one of the name itself if there is one. */
function faultOfLookups(answers: readonly Lookup[]): Fault {
  const faults = answers.flatMap((answer) =>
    answer.kind === 'failed' ? [nameFault(answer.code, answer.ownFault)] : [],
  );
  const none = answers.find((answer) => answer.kind === 'none');
  return (
    faults.find(({ suspect }) => suspect === null) ?? faults[0] ?? nameFault(none?.code ?? 'ENODATA', false)
  );
}
