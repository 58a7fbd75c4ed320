/** Servers of feeds, and a poller that asks them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { FeedIncident } from '../../src/domain/incident/feed-entry.ts';
import { type Feed, FeedFormatError, type FeedKind, type FeedKindName } from '../../src/feeds/feed-kind.ts';
import { createPoller, type FeedEvent } from '../../src/feeds/poller.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createFakeClock } from '../support/fake-clock.ts';

export const INTERVAL = 60_000;

/** A kind whose documents are lists of titles. */
export const SIMPLE: FeedKind = {
  addresses: ({ pageUrl }) =>
    ['incidents', 'more'].map((name) => ({
      name,
      url: `${pageUrl}/${name}`,
      listsOnlyOpen: name === 'more',
      ...(name === 'more' && pageUrl.endsWith('/optional') ? { isOptional: true } : {}),
      read(body) {
        const text = body.toString();
        if (text.startsWith('<')) throw new FeedFormatError('a page for people');
        if (text.startsWith('!')) throw new TypeError('a fault of the reader');
        const titles = JSON.parse(text).titles as string[];
        return titles.map(entry);
      },
    })),
};

export function entry(title: string): FeedIncident {
  return {
    kind: 'incident',
    key: title,
    title,
    sourceUrl: 'http://localhost/',
    components: null,
    updates: [],
    severity: 'minor',
    status: 'investigating',
    startedAt: null,
    resolvedAt: null,
  };
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A vendor that answers by path, a poller with one feed (or several of the same vendor), and what was told. */
export async function start(
  t: Test,
  answers: (request: IncomingMessage) => Answer,
  feedCount = 1,
  page = '',
  kind = SIMPLE,
) {
  const asked: IncomingMessage[] = [];
  let open = 0;
  let maxOpen = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    asked.push(request);
    open++;
    maxOpen = Math.max(maxOpen, open);
    const { status = 200, headers = {}, body = '{"titles":[]}' } = answers(request);
    setTimeout(() => {
      open--;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    }, 2);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = createFakeClock();
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [] }, systemClock);
  const news: FeedEvent[] = [];
  const poller = createPoller({
    settings: {
      intervalMs: INTERVAL,
      firstSpreadMs: 1_000,
      policy: { allowPrivate: ['127.0.0.0/8'], ports: [80] },
    },
    kinds: new Proxy({} as Record<FeedKindName, FeedKind>, { get: () => kind }),
    outbound,
    clock,
    random: () => 0.5,
    notify: (one) => news.push(one),
  });
  const feeds: Feed[] = Array.from({ length: feedCount }, (_, index) => ({
    id: `feed ${index}`,
    kind: 'statuspage',
    source: { pageUrl: `http://127.0.0.1:${port}/${index}${page}`, feedUrl: null },
  }));
  poller.setFeeds(feeds);
  t.teardown(async () => {
    poller.stop();
    outbound.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const polls = () => news.filter(({ kind }) => kind === 'polled').length;
  return {
    asked,
    news,
    poller,
    feeds,
    clock,
    maxOpen: () => maxOpen,
    polls,
    /** Moves time on and waits until so many polls have ended in all. */
    async pass(ms: number, untilPolls: number) {
      await clock.advance(ms);
      while (polls() < untilPolls) await new Promise((resolve) => setTimeout(resolve, 2));
    },
  };
}
