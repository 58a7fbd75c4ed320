/** The hosts file of the system, hosts(5), which takes precedence over name servers. */
import { readFileSync, statSync } from 'node:fs';
import { getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { type Address, readAddress } from '../domain/address/special-address.ts';

/** Returns the addresses of a name in the order of the file; null: the file does not list the name. */
export type HostsLookup = (name: string) => readonly Address[] | null;

/** Minimum time between two checks of the file for changes, milliseconds. */
const MIN_CHECK_INTERVAL_MS = 5000;

const LOOPBACK: readonly Address[] = [
  { family: 4, text: '127.0.0.1' },
  { family: 6, text: '::1' },
];

/**
 * Reads the file and follows its changes. `localhost` and the names below it are loopback addresses even if the file
 * does not list them, and are never sent to a name server (RFC 6761, 6.3).
 */
export function createHostsLookup(file: string, clock: Clock): HostsLookup {
  let table = new Map<string, Address[]>();
  let version = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  return (name) => {
    const now = clock.monotonic();
    if (now - lookedAt >= MIN_CHECK_INTERVAL_MS) {
      lookedAt = now;
      const found = statSync(file, { throwIfNoEntry: false });
      const seen = found === undefined ? '' : `${found.mtimeMs} ${found.size}`;
      if (seen !== version) {
        version = seen;
        table = parseHosts(readOrEmpty(file));
      }
    }
    const known = table.get(name);
    if (known !== undefined) return known;
    return name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : null;
  };
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // An absent or unreadable file counts as empty, so that name servers are queried.
    return '';
  }
}

/** Parses a hosts file; skips invalid lines. */
export function parseHosts(text: string): Map<string, Address[]> {
  const table = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [literal = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const address = readAddress(literal);
    if (address === null) continue;
    for (const name of names) {
      getOrInsert(table, name.toLowerCase(), () => []).push(address);
    }
  }
  return table;
}
