/** The domains of status pages in memory, for each request to be routed without the registry. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import { createPollGate } from '../async/poll-gate.ts';
import type { Clock } from '../clock.ts';
import type { Route } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { PageStore, ProvedPageDomain } from '../store/ports/status-pages.ts';
import type { WriteCounter } from '../store/ports/write-counter.ts';

/** Interval of reading the domains, milliseconds: other processes and commands change them. */
const READ_INTERVAL_MS = 1_000;

/** The domains that are proved. */
export type PageDomains = Awaited<ReturnType<typeof openPageDomains>>;

/** Options of the domains. */
export interface PageDomainsOptions {
  readonly registry: Pick<PageStore, 'provedPageDomains'> & Partial<WriteCounter>;
  /** Public URL of this site, whose own host is never a page's. */
  readonly siteUrl: string;
  readonly clock: Pick<Clock, 'every' | 'monotonic'>;
  readonly log: Log;
}

/** Reads the domains and follows their changes. While the registry cannot be read, the last ones stay. */
export async function openPageDomains({ registry, siteUrl, clock, log }: PageDomainsOptions) {
  const { hostname } = new URL(siteUrl);
  let byName: ReadonlyMap<string, ProvedPageDomain> = new Map();
  const gate = createPollGate(registry.writes, clock.monotonic);
  let isFailing = false;
  const reading = createCoalescingLoop(async () => {
    gate.begin();
    try {
      const all = await registry.provedPageDomains();
      byName = new Map(all.map((one) => [one.domain, one]));
      isFailing = false;
      gate.close();
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'the domains of status pages cannot be read');
      isFailing = true;
    }
  });
  const stop = clock.every(READ_INTERVAL_MS, () => {
    if (gate.isOpen() && !reading.isRunning) void reading.run();
  });
  await reading.run();
  return {
    /** The page that a `Host` header names, in any case, with or without a port or a final dot; null: none. */
    find(host: string | undefined): ProvedPageDomain | null {
      if (host === undefined || byName.size === 0) return null;
      const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
      return name === hostname ? null : (byName.get(name) ?? null);
    },
    /** Returns true if a page has a domain, in any case. */
    isProved: (domain: string): boolean =>
      byName.has(domain.toLowerCase()) && domain.toLowerCase() !== hostname,
    /** Reads the domains now. */
    refresh: (): Promise<void> => reading.run(),
    stop,
  };
}

/**
 * `/tls-ask?domain=…`: whether a proxy may obtain a certificate for a host, as Caddy asks with `ask`: 200 for a domain that a page
 * has proved, otherwise 404. It has no rate limit, since the proxy asks, and it reads no store.
 */
export function tlsAskRoute(domains: Pick<PageDomains, 'isProved'> | null): Route {
  return {
    path: '/tls-ask',
    bucket: 'none',
    access: 'everyone',
    open: true,
    sameOrigin: true,
    handle({ query }) {
      const domain = new URLSearchParams(query).get('domain') ?? '';
      const isProved = domains?.isProved(domain) === true;
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
      return { status: isProved ? 200 : 404, headers, body: isProved ? 'proved\n' : 'not proved\n' };
    },
  };
}
