/** The machine's own table of names, hosts(5), which takes precedence over name servers. */
import { readFileSync, statSync } from 'node:fs';
import { getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { type Address, readAddress } from './address-guard.ts';

/** Addresses of a name in the order of the file; null: the file does not have it. */
export type HostsLookup = (name: string) => readonly Address[] | null;

/** The file is checked for changes at most this often. */
const LOOK_AGAIN_MS = 5000;

const LOOPBACK: readonly Address[] = [
  { family: 4, text: '127.0.0.1' },
  { family: 6, text: '::1' },
];

/**
 * Reads the table and follows its changes. `localhost` and the names under it are loopback even where the file
 * is silent, and are never asked of a name server (RFC 6761, 6.3).
 */
export function createHostsLookup(file: string, clock: Clock): HostsLookup {
  let table = new Map<string, Address[]>();
  let version = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  return (name) => {
    const now = clock.monotonic();
    if (now - lookedAt >= LOOK_AGAIN_MS) {
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
    // Absent or unreadable: the machine then has no table, and name servers are asked.
    return '';
  }
}

/** Reads the text of a hosts file; skips lines that cannot be parsed. */
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
