/**
 * Makes a connection: resolves the name, checks each address by the guard when it is dialled, and returns a socket that is ready for
 * the request. Only literal addresses are dialled. Addresses are tried by the rules of RFC 8305 ("Happy Eyeballs"): the families
 * alternate, IPv4 first. The next address is tried after 250 ms without a connection, or immediately after a failure.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../clock.ts';
import type { AddressRefusal, FailureCause } from '../domain/failure.ts';
import {
  certificateProblem,
  type DialOrder,
  openSocket,
  type PhaseTimings,
  tlsStateOf,
} from './connection.ts';
import type { Deadline } from './deadline.ts';
import {
  busyFault,
  connectFault,
  type Fault,
  nameFault,
  targetFault,
  timeoutFault,
  tlsFault,
} from './fault.ts';
import type { Lookup, Resolver } from './resolver.ts';

/** The parts of a thread that dialling uses. */
export interface DialParts {
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Called for each refused address. Absent: not reported. */
  readonly onForbidden?: ((found: ForbiddenAddress) => void) | undefined;
}

/** An address that a name resolved to and that may not be dialled. It is reported to the operator. */
export interface ForbiddenAddress {
  readonly host: string;
  readonly address: string;
  readonly refusal: AddressRefusal;
}

/** A connection after its TLS handshake, if the URL is https, or the fault that prevented it. */
export type Dialled = { readonly socket: Socket; readonly fault: null } | { readonly fault: Fault };

/** Maximum number of addresses of a family that are tried. */
const MAX_ADDRESSES = 8;
/** Maximum number of concurrent connections of one order; further addresses wait for one of them to fail. */
const MAX_OPEN = 8;
/** Time without a connection after which the next address is tried (RFC 8305, 5). */
const ATTEMPT_DELAY_MS = 250;
/** The time for which IPv6 addresses wait for the IPv4 addresses (RFC 8305, 3, with the families swapped). */
const RESOLUTION_DELAY_MS = 50;

/** Makes the connection and adds its phases to `timings`. Never rejects because of the target. */
export function dial(
  parts: DialParts,
  order: DialOrder,
  deadline: Deadline,
  timings: PhaseTimings,
): Promise<Dialled> {
  const dialling = new Dialling(parts, order, deadline, timings);
  dialling.begin();
  return dialling.result;
}

/** A connection that is being made. */
class Dialling {
  readonly #parts: DialParts;
  readonly #order: DialOrder;
  readonly #deadline: Deadline;
  readonly #timings: PhaseTimings;
  readonly #settled = Promise.withResolvers<Dialled>();
  readonly #startedAt: number;
  /** Addresses that have not been tried, by family. */
  readonly #waiting: Record<4 | 6, string[]> = { 4: [], 6: [] };
  /** Families whose addresses are being resolved. */
  #asking: readonly (4 | 6)[] = [];
  readonly #answers: Lookup[] = [];
  /** Connections that are being made. */
  #open: readonly Socket[] = [];
  readonly #faults: Fault[] = [];
  /** The time that an address must wait that has as many connections as it may, milliseconds; 0: there is none. */
  #waitMs = 0;
  /** The socket that connected first; the others are then closed. */
  #chosen: Socket | null = null;
  #lastFamily: 4 | 6 = 6;
  #begun = false;
  #ended = false;
  /** True if the time is spent on name resolution: no connection is being made. */
  #waited = false;
  /** Cancels the timer after which the next address is tried in parallel. */
  #cancelDelay: Cancel | null = null;
  /** Start of the current phase: name resolution, then connect, then TLS. */
  #phaseSince: number;

  constructor(parts: DialParts, order: DialOrder, deadline: Deadline, timings: PhaseTimings) {
    this.#parts = parts;
    this.#order = order;
    this.#deadline = deadline;
    this.#timings = timings;
    this.#startedAt = parts.clock.monotonic();
    this.#phaseSince = this.#startedAt;
  }

  get result(): Promise<Dialled> {
    return this.#settled.promise;
  }

  begin(): void {
    const { host, literal } = this.#order.destination;
    if (!this.#deadline.interruptBy(() => this.#timeOut())) return;
    if (literal) this.#waiting[4] = [host];
    else {
      // Both queries are sent at once.
      const lookups = ([4, 6] as const).map((family) => [family, this.#lookUp(family)] as const);
      for (const [family, lookup] of lookups) {
        if (!(lookup instanceof Promise)) this.#note(family, lookup);
        else {
          this.#asking = [...this.#asking, family];
          void lookup.then((answer) => {
            if (!this.#ended) this.#deadline.step();
            this.#asking = this.#asking.filter((asked) => asked !== family);
            this.#note(family, answer);
            this.#onAnswer();
          });
        }
      }
    }
    this.#waited = this.#asking.length > 0;
    // If an address was known already, no time was spent on name resolution.
    if (this.#waiting[4].length > 0) this.#waited = false;
    this.#onAnswer();
  }

  #lookUp(family: 4 | 6): Lookup | Promise<Lookup> {
    const { startedAt, timeoutMs } = this.#deadline;
    const { destination, fresh } = this.#order;
    return this.#parts.resolver.lookup(destination.host, family, fresh, startedAt + timeoutMs);
  }

  #note(family: 4 | 6, answer: Lookup): void {
    this.#answers.push(answer);
    if (answer.kind === 'addresses') this.#waiting[family] = answer.addresses.slice(0, MAX_ADDRESSES);
  }

  /** Called when the addresses of a family have arrived, or when there are none. */
  #onAnswer(): void {
    if (this.#ended || this.#chosen !== null) return;
    if (this.#begun) {
      // Connections that are being made keep their head start.
      if (this.#open.length === 0 || this.#cancelDelay === null) this.#dialNext();
    } else if (!this.#asking.includes(4) || this.#waiting[4].length > 0) this.#dialNext();
    else if (this.#waiting[6].length > 0) this.#delay(RESOLUTION_DELAY_MS);
  }

  #delay(ms: number): void {
    this.#cancelDelay?.();
    this.#cancelDelay = this.#parts.clock.after(ms, () => {
      this.#cancelDelay = null;
      if (!this.#begun) this.#deadline.step();
      this.#dialNext();
    });
  }

  /** Dials the next allowed address. Fails if there is none and name resolution has ended. */
  #dialNext(): void {
    if (this.#ended || this.#chosen !== null || this.#open.length >= MAX_OPEN) return;
    for (let address = this.#takeNext(); address !== undefined; address = this.#takeNext()) {
      const refusal = this.#order.guard.judge(address, this.#order.destination.port);
      if (refusal === null) {
        const waitMs = this.#order.guard.load?.open(address) ?? 0;
        if (waitMs === 0) {
          this.#connect(address);
          return;
        }
        this.#waitMs = Math.max(waitMs, this.#waitMs);
        continue;
      }
      this.#faults.push(targetFault('forbidden_address', 'connect', this.#causeOf(address, refusal)));
    }
    if (this.#open.length > 0) return;
    if (this.#asking.length === 0) this.#end({ fault: this.#worstFault() });
    // From here on, the time is spent on name resolution.
    else this.#waited = true;
  }

  /** Causes of failures are public, so this one does not reveal the private address behind a name. */
  #causeOf(address: string, refusal: AddressRefusal): FailureCause {
    const { host, literal } = this.#order.destination;
    if (literal) return refusal;
    this.#parts.onForbidden?.({ host, address, refusal });
    return refusal.code === 'port_forbidden' ? refusal : { code: 'name_not_public' };
  }

  #takeNext(): string | undefined {
    const other = this.#lastFamily === 4 ? 6 : 4;
    const family = this.#waiting[other].length > 0 ? other : this.#lastFamily;
    this.#lastFamily = family;
    return this.#waiting[family].shift();
  }

  #connect(address: string): void {
    const isFirst = !this.#begun;
    const isAtOnce = isFirst && !this.#waited;
    if (this.#open.length === 0) this.#timeNames();
    // Node.js connects only when the code that runs now has returned, and that code may start other checks first.
    if (isAtOnce) process.nextTick(noteBegin, this);
    const socket = openSocket(address, this.#order, this.#timings);
    if (isFirst && !isAtOnce) this.#deadline.sent();
    this.#begun = true;
    this.#open = [...this.#open, socket];
    const { load } = this.#order.guard;
    if (load !== undefined) socket.once('close', () => load.close(address));
    socket.on('connect', () => this.#onConnect(socket));
    // This listener is never removed, because an error without a listener would end the process.
    socket.on('error', (error) => this.#onError(socket, error));
    if (this.#order.destination.secure) {
      socket.on('secureConnect', () => this.#onSecureConnect(socket as TLSSocket));
    }
    if (this.#hasMore()) this.#delay(ATTEMPT_DELAY_MS);
  }

  /** Returns true if there is, or may still be, an address that has not been tried. */
  #hasMore(): boolean {
    return this.#waiting[4].length > 0 || this.#waiting[6].length > 0 || this.#asking.length > 0;
  }

  #onConnect(socket: Socket): void {
    if (this.#ended || this.#chosen !== null) return;
    this.#deadline.step(this.#order.destination.secure);
    this.#chosen = socket;
    this.#timeConnections();
    this.#cancelDelay?.();
    // Closed immediately, so that a connection that is made later does not start TLS.
    for (const other of this.#open) if (other !== socket) other.destroy();
    if (!this.#order.destination.secure) this.#end({ socket, fault: null });
  }

  #onSecureConnect(socket: TLSSocket): void {
    if (this.#ended || this.#chosen !== socket) return;
    this.#deadline.step();
    const fault = certificateProblem(socket, this.#order, this.#timings);
    this.#end(fault === null ? { socket, fault } : { fault });
  }

  #onError(socket: Socket, error: Error): void {
    if (this.#ended) return;
    this.#open = this.#open.filter((open) => open !== socket);
    if (this.#chosen === socket) {
      const state = tlsStateOf(socket as TLSSocket, this.#order);
      this.#end({ fault: tlsFault(error, state) });
    }
    if (this.#chosen !== null) return;
    this.#faults.push(connectFault(error));
    if (this.#open.length === 0) this.#timeConnections();
    this.#dialNext();
    // From here on, time without a connection is spent on name resolution.
    this.#waited = this.#open.length === 0;
  }

  #timeOut(): void {
    const { timeoutMs } = this.#deadline;
    // Nothing is asked yet if the deadline was over before, such as at a redirect.
    const isConnecting = this.#open.length > 0 || this.#asking.length === 0;
    const phase = this.#chosen !== null ? 'tls' : isConnecting ? 'connect' : 'dns';
    // The address that was not tried might have answered.
    const isBusy = phase !== 'tls' && this.#waitMs > 0;
    const silent = phase === 'dns' && this.#parts.resolver.silentSince(this.#startedAt);
    this.#end({ fault: isBusy ? busyFault(this.#waitMs) : timeoutFault(phase, timeoutMs, silent) });
  }

  #end(result: Dialled): void {
    this.#ended = true;
    this.#cancelDelay?.();
    this.#deadline.interrupt = null;
    if (this.#chosen !== null) {
      if (this.#order.destination.secure) this.#timings.tlsMs = (this.#timings.tlsMs ?? 0) + this.#lap();
    } else if (this.#open.length > 0) this.#timeConnections();
    else this.#timeNames();
    for (const socket of this.#open) if (result.fault !== null || socket !== this.#chosen) socket.destroy();
    this.#settled.resolve(result);
  }

  /** Notes that the first connection begins now and that no name was resolved before it. */
  noteBegin(): void {
    const now = this.#parts.clock.monotonic();
    this.#phaseSince = now;
    const { connectMs, dnsMs } = this.#timings;
    // After a redirect, the request has begun with the first hop.
    if (connectMs !== null || dnsMs !== null) this.#deadline.sent();
    else {
      this.#timings.beganAt = now;
      this.#deadline.begun();
    }
  }

  /** Ends the phase of name resolution: a connection is being made, or dialling has failed without one. */
  #timeNames(): void {
    const ms = this.#lap();
    if (this.#waited) this.#timings.dnsMs = (this.#timings.dnsMs ?? 0) + ms;
    this.#waited = false;
  }

  #timeConnections(): void {
    this.#timings.connectMs = (this.#timings.connectMs ?? 0) + this.#lap();
  }

  /** Ends the current phase and returns its duration in milliseconds. */
  #lap(): number {
    const now = this.#parts.clock.monotonic();
    const ms = now - this.#phaseSince;
    this.#phaseSince = now;
    return ms;
  }

  /** The fault that says most about the target: faults of connections, then of name resolution, then our own. */
  #worstFault(): Fault {
    if (this.#waitMs > 0) return busyFault(this.#waitMs);
    const names = this.#answers.flatMap((answer) =>
      answer.kind === 'failed' ? [nameFault(answer.code, answer.ownFault)] : [],
    );
    const isTargets = ({ suspect }: Fault) => suspect === null;
    const connections = this.#faults.filter(isTargets);
    const none = this.#answers.find((answer) => answer.kind === 'none');
    return (
      connections.findLast(({ failure }) => failure.class !== 'forbidden_address') ??
      connections.at(-1) ??
      names.find(isTargets) ??
      this.#faults.at(-1) ??
      names[0] ??
      nameFault(none?.code ?? 'ENODATA', false)
    );
  }
}

function noteBegin(dialling: Dialling): void {
  dialling.noteBegin();
}
