/**
 * `GET /live`: the updates of an open page as Server-Sent Events (WHATWG HTML, 9.2). They are not part of the API:
 * their format may change together with the pages.
 *
 * `?of=github-com,gitlab-com` requests every check of these pages' services. Without it, the stream contains the
 * changes of status of all services, for the home page. An event's id is the position up to which the page is current.
 * With the id in `Last-Event-ID` or `?after=`, a stream starts with the changes since then, or with everything if these
 * are unknown.
 */

import type { ServerResponse } from 'node:http';
import { getOrInsert } from '../../async/bounded-map.ts';
import { createCooperativeQueue } from '../../async/cooperative-queue.ts';
import type { Clock } from '../../clock.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import {
  createOpenStreams,
  MAX_WRITES_PER_TURN,
  STREAM_HEAD,
  writeToStream,
} from '../../http/event-stream.ts';
import { readParameters } from '../../http/parameters.ts';
import { retryLater } from '../../http/problem.ts';
import type { Route } from '../../http/route.ts';
import { Type } from '../../json-schema.ts';
import type { StatusStore } from '../../store/ports/status.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import { chooseLanguage, LANGUAGES, type Language } from '../language/language.ts';
import type { LiveUpdate } from '../parts/page-messages.ts';
import type { LiveChanges } from './live-changes.ts';
import { joinUpdates, serviceUpdate } from './live-updates.ts';

/** Sources of the streams. */
export interface LiveSources {
  readonly changes: LiveChanges;
  readonly directory: Pick<ServiceDirectory, 'byId' | 'byPageName' | 'pageName'>;
  readonly status: Pick<StatusStore, 'get'>;
  readonly clock: Clock;
  /** Whether the prober is online. */
  readonly isOnline: () => boolean;
  /** The update of the home page: its lists, and the status of these services; null: of all services. */
  readonly homeUpdate: (language: Language, serviceIds: readonly number[] | null) => LiveUpdate;
  /** The state of the monitor, for every page. */
  readonly monitorUpdate: (language: Language) => LiveUpdate;
}

/** Limits of streams. A page in a hidden tab has none, and browsers open at most six per site. */
export const LIVE_BOUNDS = { perClient: 60, inAll: 5_000, pages: 200 } as const;

const QUERY = {
  of: Type.String({ description: 'Names of pages, with commas between; absent: the home page.' }),
  after: Type.String({ description: 'Like the header Last-Event-ID.' }),
};
/** Time for which ended checks are collected before they are sent, milliseconds. */
const CHECKS_TOGETHER_MS = 250;
const CHANGES_TOGETHER_MS = 1_000;
/** How often the state of the monitor is sent, milliseconds. After a longer pause, pages show a lost connection. */
const MONITOR_MS = 10_000;
/** How often the prober's connection is polled, milliseconds; a change is sent immediately. */
const PROBER_POLL_MS = 1_000;
/** How long the first events of a stream are reused while no check ends, milliseconds. */
const BEGINNINGS_KEPT_MS = 1_000;
const MAX_BEGINNINGS = 100;
const MAX_BACKLOG_BYTES = 262_144;
const RETRY_AFTER_SECONDS = 30;

interface Stream {
  readonly response: ServerResponse;
  readonly language: Language;
  /** Services of the page; null: the home page, which shows all. */
  readonly serviceIds: ReadonlySet<number> | null;
}

/** Creates the streams of open pages. */
export function createLiveStreams(sources: LiveSources) {
  const { changes, directory, status, clock, isOnline, homeUpdate, monitorUpdate } = sources;
  const streams = new Set<Stream>();
  const homes = new Set<Stream>();
  const watchers = new Map<number, Set<Stream>>();
  const open = createOpenStreams();
  const checked = new Set<number>();
  const changed = new Set<number>();
  const enqueue = createCooperativeQueue(MAX_WRITES_PER_TURN);
  let stopMonitor: (() => void) | null = null;

  const updatesOf = (serviceId: number, language: Language): readonly LiveUpdate[] => {
    const service = directory.byId(serviceId);
    if (service === null) return [];
    const current = status.get(serviceId) ?? unknownStatus(serviceId);
    return [serviceUpdate(directory.pageName(service), current, language, clock.now())];
  };

  /**
   * The first events of streams, by language and content. After a restart, every open page reconnects within seconds,
   * so the lists of a thousand services are rendered once for all of them.
   */
  const beginnings = { position: '', madeAt: 0, texts: new Map<string, string>() };
  const beginningOf = (content: string, { language }: Stream, make: () => LiveUpdate): string => {
    const position = changes.position();
    const now = clock.monotonic();
    if (beginnings.position !== position || now - beginnings.madeAt >= BEGINNINGS_KEPT_MS) {
      Object.assign(beginnings, { position, madeAt: now });
      beginnings.texts.clear();
    }
    const key = `${language.code} ${content}`;
    const text = beginnings.texts.get(key) ?? formatUpdate(make(), position);
    if (beginnings.texts.size < MAX_BEGINNINGS) beginnings.texts.set(key, text);
    return text;
  };

  /** Sends an update to streams; `make` renders it once for each language. */
  const sendTo = (to: Iterable<Stream>, make: (language: Language) => LiveUpdate) => {
    const texts = new Map<Language, Buffer>();
    for (const stream of to) {
      const text =
        texts.get(stream.language) ?? Buffer.from(formatUpdate(make(stream.language), changes.position()));
      texts.set(stream.language, text);
      enqueue(() => send(stream.response, text));
    }
  };

  const sendChecks = () => {
    const ids = [...checked];
    checked.clear();
    // Most streams have one service and share its update. A page with several services gets one event for all of them.
    const many = new Set<Stream>();
    for (const id of ids) {
      const concerned = [...(watchers.get(id) ?? [])];
      sendTo(
        concerned.filter(({ serviceIds }) => serviceIds?.size === 1),
        (language) => joinUpdates(updatesOf(id, language)),
      );
      for (const stream of concerned) if (stream.serviceIds?.size !== 1) many.add(stream);
    }
    for (const stream of many)
      sendTo([stream], (language) =>
        joinUpdates(ids.filter((id) => stream.serviceIds?.has(id)).flatMap((id) => updatesOf(id, language))),
      );
  };
  const sendChanges = () => {
    const ids = [...changed];
    changed.clear();
    sendTo(homes, (language) => homeUpdate(language, ids));
  };
  const unwatch = changes.watch(({ serviceId }, isChanged) => {
    if (watchers.has(serviceId)) {
      if (checked.size === 0) clock.after(CHECKS_TOGETHER_MS, sendChecks);
      checked.add(serviceId);
    }
    if (isChanged && homes.size > 0) {
      if (changed.size === 0) clock.after(CHANGES_TOGETHER_MS, sendChanges);
      changed.add(serviceId);
    }
  });

  const begin = (stream: Stream, after: number | null) => {
    const { serviceIds, language, response } = stream;
    send(response, `: what changes on this page\nid: ${changes.position()}\n\n`);
    if (serviceIds === null) {
      const ids = after === null ? null : changes.changedSince(after);
      if (ids === null || ids.length > 0)
        send(
          response,
          beginningOf(ids?.join() ?? 'all', stream, () => homeUpdate(language, ids)),
        );
    } else {
      const ids = [...serviceIds].filter((id) => after === null || changes.checkedAt(id) > after);
      if (ids.length > 0)
        send(
          response,
          formatUpdate(joinUpdates(ids.flatMap((id) => updatesOf(id, language))), changes.position()),
        );
    }
    send(
      response,
      beginningOf('monitor', stream, () => monitorUpdate(language)),
    );
  };

  const startMonitorUpdates = () => {
    let wasOnline = isOnline();
    let sentAt = clock.monotonic();
    return clock.every(PROBER_POLL_MS, () => {
      const online = isOnline();
      if (online === wasOnline && clock.monotonic() - sentAt < MONITOR_MS) return;
      wasOnline = online;
      sentAt = clock.monotonic();
      sendTo(streams, monitorUpdate);
    });
  };

  const add = (stream: Stream) => {
    streams.add(stream);
    if (stream.serviceIds === null) homes.add(stream);
    for (const id of stream.serviceIds ?? []) getOrInsert(watchers, id, () => new Set()).add(stream);
    stopMonitor ??= startMonitorUpdates();
    stream.response.once('close', () => {
      streams.delete(stream);
      homes.delete(stream);
      for (const id of stream.serviceIds ?? []) {
        const others = watchers.get(id);
        others?.delete(stream);
        if (others?.size === 0) watchers.delete(id);
      }
      if (streams.size > 0) return;
      stopMonitor?.();
      stopMonitor = null;
    });
  };

  return {
    get open(): number {
      return open.size;
    },
    /** Ends all streams and refuses new ones. */
    close(): void {
      unwatch();
      open.close();
    },
    route: {
      path: '/live',
      bucket: 'pages',
      access: 'everyone',
      handle(request) {
        const { method, client, headers, query } = request;
        const { of, after } = readParameters(query, QUERY);
        const position = headers['last-event-id']?.toString() ?? after ?? '';
        if (method === 'HEAD') return STREAM_HEAD;
        if (open.of(client) >= LIVE_BOUNDS.perClient || open.size >= LIVE_BOUNDS.inAll)
          throw retryLater(
            'too_many_streams',
            RETRY_AFTER_SECONDS,
            'Too many pages are open; reload this one to see its present state.',
          );
        const serviceIds = of === undefined ? null : new Set(readPages(of, directory));
        return open.open(client, (response) => {
          const stream = { response, language: LANGUAGES[chooseLanguage(request).code], serviceIds };
          add(stream);
          begin(stream, changes.read(position));
        });
      },
    } satisfies Route,
  };
}

function readPages(text: string, directory: Pick<ServiceDirectory, 'byPageName'>): number[] {
  return text.split(',', LIVE_BOUNDS.pages).flatMap((name) => directory.byPageName(name)?.id ?? []);
}

/** Writes to an open page. A page that does not read is disconnected; it reconnects and gets the missed updates. */
function send(response: ServerResponse, text: string | Buffer): void {
  writeToStream(response, text, MAX_BACKLOG_BYTES);
}

function formatUpdate(update: LiveUpdate, position: string): string {
  return `id: ${position}\ndata: ${JSON.stringify(update)}\n\n`;
}
