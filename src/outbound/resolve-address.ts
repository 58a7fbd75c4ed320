/** Resolves a name to the addresses that the guard allows, for checks that make no connection of their own. */
import type { AddressGuard } from './address-guard.ts';
import type { Deadline } from './deadline.ts';
import type { Destination } from './destination.ts';
import type { DialParts } from './dial.ts';
import { type Fault, nameFault, targetFault, timeoutFault } from './fault.ts';
import type { Lookup } from './resolver.ts';

/** The name to resolve. */
export interface AddressOrder {
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
    if (deadline.over !== null) {
      interrupt();
      return;
    }
    deadline.interrupt = interrupt;
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
  return { queried, fault: isForbidden ? forbidden : faultOf(answers) };
}

/** The fault of a name without addresses: one of the name itself if there is one. */
function faultOf(answers: readonly Lookup[]): Fault {
  const faults = answers.flatMap((answer) =>
    answer.kind === 'failed' ? [nameFault(answer.code, answer.ownFault)] : [],
  );
  const none = answers.find((answer) => answer.kind === 'none');
  return (
    faults.find(({ suspect }) => suspect === null) ?? faults[0] ?? nameFault(none?.code ?? 'ENODATA', false)
  );
}
