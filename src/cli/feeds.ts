/** `upbeat feeds probe`: shows what a status page is made with, and what is read out of it. */
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { formatTime } from '../domain/durations.ts';
import { describeCause } from '../domain/failure.ts';
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import { safeLink } from '../feeds/feed-kind.ts';
import { catalogueLine, type FinderParts, findFeed, isMoved } from '../feeds/find-feed.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import { VERSION } from '../version.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { readConfig } from './open-stores.ts';
import { type OutputRow, printJson, printNote, printRows, whileWaiting } from './output.ts';

/** Looks at a page and prints what is found. Ends with status 1 if no reader accepts it. */
export async function probeFeed(
  address: string,
  { config: file, json = false }: CommonOptions,
): Promise<void> {
  const url = safeLink(address.includes('://') ? address : `https://${address}`, 'https://localhost');
  if (url === null) throw new CommandError(`"${address}" is no http or https URL`);
  const { parts, close } = openFinder(readConfig(file));
  try {
    const found = await whileWaiting(`looking at ${url}`, () => findFeed(url, parts));
    const { feed } = found;
    const line = feed === null ? null : catalogueLine(feed);
    const entries = (feed?.entries ?? []).map(rowOf);
    if (json)
      printJson({
        url,
        moved_to: isMoved(url, found.url) ? found.url : null,
        kind: feed?.kind ?? null,
        feed_url: feed?.source.feedUrl ?? null,
        problem: feed?.problem ?? null,
        catalogue: line,
        entries,
      });
    else {
      if (isMoved(url, found.url)) printNote(`the page has moved to ${found.url}`);
      printNote(line ?? 'no reader accepts a document of this page: it is of kind custom');
      if (feed?.problem != null) printNote(`not all of it can be read: ${feed.problem}`);
      if (feed !== null) printRows(entries, false, 'It lists no incidents and no maintenance.');
    }
    if (feed === null) process.exitCode = 1;
  } finally {
    close();
  }
}

export function openFinder({ checks, http }: Config): {
  readonly parts: FinderParts;
  readonly close: () => void;
} {
  const { allowPrivate, ports, nameservers } = checks;
  const outbound = createOutbound(
    { userAgent: userAgentOf(VERSION, http.siteUrl), nameservers },
    systemClock,
    ({ host, refusal }) => printNote(`${host}: ${describeCause({ cause: refusal })}`),
  );
  const policy = { allowPrivate, ports };
  const { signal } = new AbortController();
  return { parts: { outbound, policy, now: systemClock.now, signal }, close: () => outbound.close() };
}

function rowOf(entry: FeedEntry): OutputRow {
  const isIncident = entry.kind === 'incident';
  const from = isIncident ? entry.startedAt : entry.startsAt;
  const to = isIncident ? entry.resolvedAt : entry.endsAt;
  return {
    kind: entry.kind,
    state: isIncident ? entry.status : entry.state,
    severity: isIncident ? entry.severity : null,
    from: from === null ? null : formatTime(from),
    to: to === null ? null : formatTime(to),
    title: entry.title,
    components: entry.components?.join(', ') ?? null,
  };
}
