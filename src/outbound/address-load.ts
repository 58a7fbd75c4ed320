/**
 * Bounds the connections that checks of owners' services open to each address, whatever name, redirect or kind of check led there
 * ([ADR 31](../../docs/adr/0031-connections-to-an-address-are-counted.md)). Rates count in all threads of a process, by the generic cell rate algorithm (ATM Forum, TM 4.0) over a table of a fixed
 * size; concurrent connections count in each thread.
 */
import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { embeddedIpv4, readAddress } from '../domain/special-address.ts';
import type { AddressLoad } from './address-guard.ts';

export interface AddressLoadOptions {
  /** Connections to an address a minute; a twelfth of them may be open, or begin at once. */
  readonly perMinute: number;
  /** The table of the process, from {@link shareAddressLoad}; absent: a new one. */
  readonly shared?: SharedArrayBuffer | undefined;
  /** Called for each refused connection. */
  readonly onBusy?: ((address: string) => void) | undefined;
  /** Nanoseconds of a clock that all threads share. */
  readonly nowNs?: () => bigint;
}

/** Rows of the table. Addresses with the same row share a bound; the salt keeps others from choosing which do. */
const ROWS = 65_536;
/** Of a row: the time until which its rate is used up, and the time at which the next one that waits returns. */
const COLUMNS = 2;
const MINUTE_NS = 60_000_000_000n;
const MS_NS = 1_000_000n;
/** Maximum wait, milliseconds; then the address is tried again, in case others have gone. */
const MAX_WAIT_MS = 60_000;
/** Parts of a minute's connections that may be open, or begin at once. */
const BURST_PART = 12;
/** An account has one of so many parts of what an address may have, so that others are left something. */
const ACCOUNT_PART = 2;
/** One of so many parts of a burst is left to accounts that make few connections to the address. */
const LIGHT_PART = 6;

/** The table of a process, with its salt. */
export function shareAddressLoad(): SharedArrayBuffer {
  const shared = new SharedArrayBuffer((1 + ROWS * COLUMNS) * BigInt64Array.BYTES_PER_ELEMENT);
  new Uint8Array(shared).set(crypto.getRandomValues(new Uint8Array(8)));
  return shared;
}

let table: SharedArrayBuffer | null = null;

/** The one table of this process, which its threads and the trials of checks share. It is made by the first call. */
export function addressLoadOfProcess(): SharedArrayBuffer {
  table ??= shareAddressLoad();
  return table;
}

/**
 * The key of one address: an IPv4 address, also inside IPv6, or a /64 of IPv6, all of which is often one host. A /64 of a
 * private network (RFC 4193) has many.
 */
export function loadKeyOf(text: string): string {
  const address = readAddress(text);
  if (address === null || address.family === 4) return address?.text ?? text;
  const { parts } = ipaddr.IPv6.parse(address.text);
  if (((parts[0] ?? 0) & 0xfe00) === 0xfc00) return address.text;
  const network = parts.slice(0, 4);
  return embeddedIpv4(address.text) ?? `${network.map((part) => part.toString(16)).join(':')}::/64`;
}

/** Creates the function that returns the load of an account; null: an account that is not known. */
export function createAddressLoads({
  perMinute,
  shared = shareAddressLoad(),
  onBusy,
  nowNs = process.hrtime.bigint,
}: AddressLoadOptions): (accountId: number | null) => AddressLoad {
  const table = new BigInt64Array(shared);
  const salt = `${table[0]} `;
  const open = new Map<string, number>();
  /** Each address with all accounts, and with one. */
  const whole = boundOf(perMinute);
  const part = boundOf(Math.max(1, Math.floor(perMinute / ACCOUNT_PART)));
  const wholeOfHeavy = { ...whole, burst: whole.burst - Math.floor(whole.burst / LIGHT_PART) };
  const rowOf = (key: string) =>
    1 + COLUMNS * (Number.parseInt(hash('sha256', salt + key).slice(0, 8), 16) % ROWS);

  const count = (key: string, change: number) => {
    const sum = (open.get(key) ?? 0) + change;
    if (sum > 0) open.set(key, sum);
    else open.delete(key);
  };
  /** The time for which the rate of a row is used up, nanoseconds; 0: it is not. */
  const usedUp = (row: number, { everyNs, burst }: Bound): bigint => {
    const aheadNs = Atomics.load(table, row) - nowNs() - everyNs * BigInt(burst - 1);
    return aheadNs > 0n ? aheadNs : 0n;
  };
  const use = (row: number, { everyNs }: Bound) => {
    for (;;) {
      const before = Atomics.load(table, row);
      const now = nowNs();
      const after = (before > now ? before : now) + everyNs;
      if (Atomics.compareExchange(table, row, before, after) === before) return;
    }
  };
  /** The time until the next connection that waits may be tried again: they return one after the other. */
  const queue = (row: number, { everyNs }: Bound, aheadNs: bigint): number => {
    const now = nowNs();
    const last = Atomics.load(table, row + 1);
    const earliest = now + aheadNs;
    const next = (last > earliest ? last : earliest) + everyNs;
    const isFar = next - now > BigInt(MAX_WAIT_MS) * MS_NS;
    // Those beyond the longest wait are spread over its second half.
    const at = isFar ? now + (BigInt(MAX_WAIT_MS) * MS_NS) / 2n : next;
    Atomics.store(table, row + 1, at);
    return Math.max(1, Number((at - now) / MS_NS));
  };

  const keys = new BoundedMap<string, string>(MAX_KEYS);
  const keyOf = (address: string) => getOrInsert(keys, address, () => loadKeyOf(address));

  return (accountId) => ({
    open(address) {
      const key = keyOf(address);
      const own = `${key} ${accountId}`;
      const isLight = Atomics.load(table, rowOf(own)) <= nowNs();
      for (const [name, bound] of [
        [own, part],
        [key, isLight ? whole : wholeOfHeavy],
      ] as const) {
        const row = rowOf(name);
        const aheadNs = usedUp(row, bound);
        if (aheadNs === 0n && (open.get(name) ?? 0) < bound.burst) continue;
        onBusy?.(address);
        return queue(row, bound, aheadNs);
      }
      use(rowOf(own), part);
      use(rowOf(key), whole);
      count(own, 1);
      count(key, 1);
      return 0;
    },
    close(address) {
      const key = keyOf(address);
      count(`${key} ${accountId}`, -1);
      count(key, -1);
    },
  });
}

/** Maximum number of addresses whose keys are remembered. */
const MAX_KEYS = 4_096;

interface Bound {
  /** Time between two connections at a constant rate. */
  readonly everyNs: bigint;
  /** Connections that may begin at once, and be open. */
  readonly burst: number;
}

function boundOf(perMinute: number): Bound {
  return {
    everyNs: MINUTE_NS / BigInt(perMinute),
    burst: Math.max(1, Math.floor(perMinute / BURST_PART)),
  };
}
