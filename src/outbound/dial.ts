/**
 * Makes a connection: resolves, judges every address, dials judged literals only, and hands over a socket over which
 * the request can go. IPv4 comes first; the next address is tried on an error, or beside the one before when that
 * has taken a third of the budget.
 */
import { createConnection, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../clock.ts';
import type { AddressGuard } from './address-guard.ts';
import { type Budget, within } from './budget.ts';
import type { Destination } from './destination.ts';
import { connectFault, type Fault, nameFault, targetFault, timeoutFault, tlsFault } from './fault.ts';
import type { Lookup, Resolver } from './resolver.ts';
import { noteCertificate, type Stamps } from './stamps.ts';
import type { Trust } from './trust.ts';

/** What dialling needs of its thread. */
export interface DialParts {
  readonly clock: Clock;
  readonly resolver: Resolver;
}

/** One connection to be made. */
export interface DialOrder {
  readonly destination: Destination;
  readonly guard: AddressGuard;
  readonly trust: Trust | null;
  /** Passes the cache of names by. */
  readonly fresh: boolean;
}

/** A connection on which TLS, where there is any, is done; or why there is none. */
export type Dialled = { readonly socket: Socket; readonly fault: null } | { readonly fault: Fault };

/** At most this many addresses of a name are tried. */
const MAX_ADDRESSES = 8;

/** Makes the connection. Never rejects for what the target does; adds what it took to `stamps`. */
export async function dial(
  parts: DialParts,
  order: DialOrder,
  budget: Budget,
  stamps: Stamps,
): Promise<Dialled> {
  const { destination } = order;
  if (destination.literal) return connectFirst(parts, order, [destination.host], null, budget, stamps);
  const { clock, resolver } = parts;
  const askedAt = clock.monotonic();
  // Both questions go out at once; the second is waited for only where the first leads nowhere.
  const until = budget.startedAt + budget.timeoutMs;
  const asked4 = resolver.lookup(destination.host, 4, order.fresh, until);
  const asked6 = resolver.lookup(destination.host, 6, order.fresh, until);
  const overdue = (): Dialled => {
    stamps.dnsMs = (stamps.dnsMs ?? 0) + clock.monotonic() - askedAt;
    return {
      fault: timeoutFault('dns', budget.timeoutMs, resolver.silentSince(askedAt)),
    };
  };
  const answer4 = asked4 instanceof Promise ? await within(budget, asked4) : asked4;
  if (answer4 === null) return overdue();
  budget.step();
  if (answer4.kind === 'addresses') {
    stampName(stamps, answer4.queried, clock.monotonic() - askedAt);
    return connectFirst(parts, order, answer4.addresses, asked6, budget, stamps);
  }
  const answer6 = asked6 instanceof Promise ? await within(budget, asked6) : asked6;
  if (answer6 === null) return overdue();
  budget.step();
  if (answer6.kind === 'addresses') {
    stampName(stamps, answer6.queried, clock.monotonic() - askedAt);
    return connectFirst(parts, order, answer6.addresses, null, budget, stamps);
  }
  stampName(stamps, true, clock.monotonic() - askedAt);
  return { fault: faultOfAnswers(answer4, answer6) };
}

function stampName(stamps: Stamps, queried: boolean, ms: number): void {
  if (queried) stamps.dnsMs = (stamps.dnsMs ?? 0) + ms;
}

/** A failure says more than "none of this family", and a fault of the target more than one of our own. */
function faultOfAnswers(...answers: readonly Lookup[]): Fault {
  const failed = answers.filter((answer) => answer.kind === 'failed');
  const told = failed.find((answer) => !answer.ownFault) ?? failed[0];
  if (told !== undefined) return nameFault(told.code, told.ownFault);
  const none = answers.find((answer) => answer.kind === 'none');
  return nameFault(none?.code ?? 'ENODATA', false);
}

/** Dials addresses until one is connected, then does TLS on it. `more` may bring further addresses. */
function connectFirst(
  { clock }: DialParts,
  order: DialOrder,
  addresses: readonly string[],
  more: Lookup | Promise<Lookup> | null,
  budget: Budget,
  stamps: Stamps,
): Promise<Dialled> {
  return new Promise((resolve) => {
    const startedAt = clock.monotonic();
    const waiting = addresses.slice(0, MAX_ADDRESSES);
    const dialled = new Set<Socket>();
    const faults: Fault[] = [];
    let moreComing = false;
    let impatient = false;
    let chosen: Socket | null = null;
    let connectedAt = 0;
    let begun = false;
    let ended = false;
    let cancelThird: Cancel | null = null;

    const end = (result: Dialled) => {
      ended = true;
      cancelThird?.();
      budget.interrupt = null;
      const now = clock.monotonic();
      if (chosen !== null && order.destination.secure) stamps.tlsMs = (stamps.tlsMs ?? 0) + now - connectedAt;
      if (chosen === null && begun) stamps.connectMs = (stamps.connectMs ?? 0) + now - startedAt;
      for (const socket of dialled) if (result.fault !== null || socket !== chosen) socket.destroy();
      resolve(result);
    };

    const dialNext = () => {
      for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
        const refusal = order.guard.judge(address, order.destination.port);
        if (refusal === null) return open(address);
        faults.push(targetFault('forbidden_address', 'connect', refusal));
      }
      if (dialled.size === 0 && !moreComing) end({ fault: mostTelling(faults) });
    };

    const open = (address: string) => {
      begun = true;
      const socket = openSocket(address, order, stamps);
      dialled.add(socket);
      socket.on('connect', () => {
        if (chosen !== null || ended) return;
        budget.step();
        chosen = socket;
        connectedAt = clock.monotonic();
        stamps.connectMs = (stamps.connectMs ?? 0) + connectedAt - startedAt;
        if (!order.destination.secure) end({ socket, fault: null });
      });
      // Stays for the life of the socket: an error nobody listens to would end the process.
      socket.on('error', (error) => {
        if (ended) return;
        dialled.delete(socket);
        if (chosen === socket) end({ fault: tlsFault(error) });
        else if (chosen === null) {
          faults.push(connectFault(error));
          dialNext();
        }
      });
      if (order.destination.secure) {
        socket.on('secureConnect', () => {
          if (chosen !== socket || ended) return;
          budget.step();
          const problem = certificateProblem(socket as TLSSocket, order, stamps);
          end(problem === null ? { socket, fault: null } : { fault: problem });
        });
      }
      cancelThird?.();
      if (waiting.length === 0 && !moreComing) return;
      cancelThird = clock.after(budget.timeoutMs / 3, () => {
        impatient = true;
        if (chosen === null && waiting.length > 0) dialNext();
      });
    };

    const addMore = (answer: Lookup) => {
      moreComing = false;
      if (answer.kind === 'addresses') waiting.push(...answer.addresses.slice(0, MAX_ADDRESSES));
    };

    if (more instanceof Promise) {
      moreComing = true;
      void more.then((answer) => {
        addMore(answer);
        if (!ended && chosen === null && (dialled.size === 0 || impatient)) dialNext();
      });
    } else if (more !== null) addMore(more);
    const interrupt = () => {
      const phase = chosen === null ? 'connect' : 'tls';
      end({ fault: timeoutFault(phase, budget.timeoutMs, false) });
    };
    budget.interrupt = interrupt;
    if (budget.over !== null) interrupt();
    else dialNext();
  });
}

/** Dials one judged literal. What is no literal cannot be dialled: the look-up refuses. */
function openSocket(address: string, { destination, trust }: DialOrder, stamps: Stamps): Socket {
  const target = { host: address, port: destination.port, autoSelectFamily: false, lookup: refuseLookup };
  if (!destination.secure || trust === null) return createConnection(target);
  return connectTls({
    ...target,
    secureContext: trust.context,
    // A name of an address is no server name (RFC 6066, 3).
    servername: destination.literal ? '' : destination.host,
    ALPNProtocols: ['http/1.1'],
    // The verdict is read after the handshake, so that the end of a refused certificate is known too.
    rejectUnauthorized: false,
    checkServerIdentity(name, certificate) {
      noteCertificate(stamps, Date.parse(certificate.valid_to));
      return checkServerIdentity(name, certificate);
    },
  });
}

function refuseLookup(
  hostname: string,
  _options: object,
  done: (error: Error, address: string) => void,
): void {
  done(new Error(`only addresses are dialled, not ${hostname}`), '');
}

/** Why the certificate is not accepted; null: it is. */
function certificateProblem(socket: TLSSocket, { trust }: DialOrder, stamps: Stamps): Fault | null {
  if (socket.authorized) return null;
  const certificate = socket.getPeerX509Certificate();
  if (certificate !== undefined) noteCertificate(stamps, certificate.validToDate.getTime());
  if (trust?.verify === false) return null;
  return tlsFault(Object.assign(new Error('certificate'), { code: String(socket.authorizationError) }));
}

/** The fault that says most about the target: ours come last. */
function mostTelling(faults: readonly Fault[]): Fault {
  const target = faults.filter((fault) => fault.suspect === null);
  return (
    target.findLast((fault) => fault.failure.class !== 'forbidden_address') ??
    target.at(-1) ??
    faults.at(-1) ??
    nameFault('ENODATA', false)
  );
}
