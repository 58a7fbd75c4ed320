/**
 * `GET /live`: the updates of an open page as Server-Sent Events (WHATWG HTML, 9.2). They are not part of the API:
 * their format may change together with the pages.
 *
 * `?of=github-com,gitlab-com` requests every check of these pages' services, and `?page=acme` those of a status page. Without both, the stream contains the
 * changes of status of all services, for the home page. An event's id is the position up to which the page is current.
 * With the id in `Last-Event-ID` or `?after=`, a stream starts with the changes since then, or with everything if these
 * are unknown.
 */

import type { ServerResponse } from 'node:http';
import { getOrInsert } from '../../async/bounded-map.ts';
import { createCooperativeQueue } from '../../async/in-parts.ts';
import type { Clock } from '../../clock.ts';
import { isOwn, type Service } from '../../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../domain/status/current.ts';
import {
  createOpenStreams,
  MAX_WRITES_PER_TURN,
  STREAM_HEAD,
  writeToStream,
} from '../../http/event-stream.ts';
import { readParameters } from '../../http/parameters.ts';
import { retryLater } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { Type } from '../../json-schema.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import type { ReaderWatch, ServiceFinder, StreamReader } from '../../view/service-finder.ts';
import type { ShownServices } from '../../view/shown-services.ts';
import { chooseLanguage, LANGUAGES, type Language } from '../language/language.ts';
import type { LiveUpdate } from '../parts/page-messages.ts';
import { joinUpdates, type LiveChanges, serviceUpdate } from './live-changes.ts';

export interface LiveSources {
  readonly changes: LiveChanges;
  readonly directory: ShownDirectory;
  readonly finder: ServiceFinder;
  readonly readers: ReaderWatch;
  readonly status: StatusReads;
  /** The services of the status page with a slug, if the sender of the request may see it; otherwise none. */
  readonly servicesOfPage: (request: HttpRequest, slug: string) => Promise<readonly Service[]>;
  readonly clock: Clock;
  /** Returns true if the prober is online. */
  readonly isOnline: () => boolean;
  /**
   * The update of the home page of a reader: its lists, and the status of these services; null: of all services. Null where it lists none of
   * them.
   */
  readonly homeUpdate: (
    language: Language,
    shown: ShownServices,
    serviceIds: readonly number[] | null,
  ) => LiveUpdate | null;
  /** Why a service cannot be reached; null: it can, as far as that is known. */
  readonly whyUnreached: (service: Service, current: CurrentStatus) => Unreached | null;
  /** The state of the monitor, for every page of a reader. */
  readonly monitorUpdate: (language: Language, shown: ShownServices) => LiveUpdate;
}

/** Limits of streams. A page in a hidden tab has none, and browsers open at most six per site. */
export const LIVE_BOUNDS = { perClient: 60, inAll: 5_000, pages: 200 } as const;

const QUERY = {
  of: Type.String({ description: 'Names of pages, with commas between; absent: the home page.' }),
  page: Type.String({ description: 'Slug of a status page, whose services it is about.' }),
  after: Type.String({ description: 'Like the header Last-Event-ID.' }),
};
/** Time for which ended checks are collected before they are sent, milliseconds. */
const CHECKS_TOGETHER_MS = 250;
const CHANGES_TOGETHER_MS = 1_000;
/** The interval at which the state of the monitor is sent, milliseconds. After a longer pause, pages show a lost connection. */
const MONITOR_MS = 10_000;
/** The interval at which the prober's connection is polled, milliseconds; a change is sent immediately. */
const PROBER_POLL_MS = 1_000;
/** The time for which the first events of a stream are reused while no check ends, milliseconds. */
const BEGINNINGS_KEPT_MS = 1_000;
const MAX_BEGINNINGS = 100;
const MAX_BACKLOG_BYTES = 262_144;
const RETRY_AFTER_SECONDS = 30;

interface Stream {
  readonly response: ServerResponse;
  readonly language: Language;
  /** Services of the page; null: the home page, which shows all. */
  readonly serviceIds: ReadonlySet<number> | null;
  /** Private services that a status page shows under other names: an update says only that the page has changed, and not when they are checked. */
  readonly unnamed: ReadonlySet<number>;
  /** The services that its reader may see. */
  readonly shown: ShownServices;
}

export class LiveStreams {
  readonly #changes: LiveChanges;
  readonly #directory: LiveSources['directory'];
  readonly #finder: LiveSources['finder'];
  readonly #readers: ReaderWatch;
  readonly #status: StatusReads;
  readonly #clock: Clock;
  readonly #isOnline: () => boolean;
  readonly #homeUpdate: LiveSources['homeUpdate'];
  readonly #whyUnreached: LiveSources['whyUnreached'];
  readonly #monitorUpdate: LiveSources['monitorUpdate'];
  readonly #streams = new Set<Stream>();
  readonly #homes = new Set<Stream>();
  readonly #watchers = new Map<number, Set<Stream>>();
  readonly #open = createOpenStreams();
  readonly #enqueue = createCooperativeQueue(MAX_WRITES_PER_TURN);
  #stopMonitor: (() => void) | null = null;
  /**
   * The first events of streams, by language and content. After a restart, every open page reconnects within seconds,
   * so the lists of a thousand services are rendered once for all of them.
   */
  readonly #beginnings = { records: 0, madeAt: 0, withdrawals: 0, texts: new Map<string, string>() };
  readonly #gatherings: readonly ReturnType<typeof createGathering>[];
  readonly #unwatch: () => void;
  readonly #servicesOfPage: LiveSources['servicesOfPage'];
  readonly route;

  constructor(sources: LiveSources) {
    const { changes, directory, clock } = sources;
    this.#changes = changes;
    this.#directory = directory;
    this.#finder = sources.finder;
    this.#readers = sources.readers;
    this.#status = sources.status;
    this.#clock = clock;
    this.#isOnline = sources.isOnline;
    this.#servicesOfPage = sources.servicesOfPage;
    this.#homeUpdate = sources.homeUpdate;
    this.#whyUnreached = sources.whyUnreached;
    this.#monitorUpdate = sources.monitorUpdate;
    const checks = createGathering(clock, CHECKS_TOGETHER_MS, (checked) => this.#sendChecks(checked));
    const toHomes = createGathering(clock, CHANGES_TOGETHER_MS, (ids, audience) =>
      this.#sendChanges([...ids.keys()], audience),
    );
    this.#gatherings = [checks, toHomes];
    this.#unwatch = changes.watch(({ serviceId }, isChanged, audience, at) => {
      if (this.#watchers.has(serviceId)) checks.add(audience, at, [serviceId, isChanged]);
      if (isChanged && this.#homes.size > 0) toHomes.add(audience, at, [serviceId, isChanged]);
    });
    this.route = {
      path: '/live',
      bucket: 'pages',
      access: 'everyone',
      open: 'page',
      handle: (request: HttpRequest) => this.#openStream(request),
    } satisfies Route;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Ends all streams and refuses new ones. */
  close(): void {
    this.#unwatch();
    this.#open.close();
  }

  async #openStream(request: HttpRequest): Promise<HttpResponse> {
    const { method, client, headers, query } = request;
    const { of, page, after } = readParameters(query, QUERY);
    const position = headers['last-event-id']?.toString() ?? after ?? '';
    if (method === 'HEAD') return STREAM_HEAD;
    if (this.#open.of(client) >= LIVE_BOUNDS.perClient || this.#open.size >= LIVE_BOUNDS.inAll)
      throw retryLater(
        'too_many_streams',
        RETRY_AFTER_SECONDS,
        'Too many pages are open; reload this one to see its present state.',
      );
    const shown = await this.#finder.listedFor(request);
    const ofPage = page === undefined ? null : await this.#servicesOfPage(request, page);
    const named = ofPage?.map(({ id }) => id) ?? (of === undefined ? null : readPages(of, shown));
    const hidden = ofPage?.filter(({ visibility }) => visibility === 'private') ?? [];
    const unnamed = new Set(hidden.map(({ id }) => id));
    const serviceIds = named === null ? null : new Set(named.slice(0, LIVE_BOUNDS.pages));
    return this.#open.open(client, (response) => {
      const stream = {
        response,
        language: LANGUAGES[chooseLanguage(request).code],
        serviceIds,
        unnamed,
        shown,
      };
      this.#add(stream);
      if (page !== undefined || shown.accounts.size > 0)
        this.#readers(response, describeReader(shown.reader, ofPage), this.#readerOf(request, page));
      this.#begin(stream, this.#changes.read(position));
    });
  }

  /** Who reads a page may change, and which services a status page has, and whether the reader sees it. */
  #readerOf(request: HttpRequest, page: string | undefined): StreamReader {
    const reader = this.#finder.readerOf(request);
    if (page === undefined) return reader;
    return {
      key: `${page} ${reader.key}`,
      read: async () => describeReader(await reader.read(), await this.#servicesOfPage(request, page)),
    };
  }

  #updatesOf(serviceId: number, language: Language, shown: Stream['shown']): readonly LiveUpdate[] {
    const service = shown.byId(serviceId);
    if (service === null) return [];
    const current = this.#status.get(serviceId) ?? unknownStatus(serviceId);
    const [page, unreached] = [this.#directory.pageName(service), this.#whyUnreached(service, current)];
    return [serviceUpdate(page, { current, unreached }, language, this.#clock.now())];
  }

  #beginningOf(content: string, { language, shown }: Stream, make: () => LiveUpdate | null): string {
    const { records } = this.#changes;
    const now = this.#clock.monotonic();
    const { withdrawals } = this.#directory;
    if (
      this.#beginnings.withdrawals !== withdrawals ||
      this.#beginnings.records !== records ||
      now - this.#beginnings.madeAt >= BEGINNINGS_KEPT_MS
    ) {
      Object.assign(this.#beginnings, { records, madeAt: now, withdrawals });
      this.#beginnings.texts.clear();
    }
    const key = `${language.code} ${shown.reader} ${content}`;
    const text = this.#beginnings.texts.get(key) ?? formatUpdate(make(), this.#changes.position());
    if (this.#beginnings.texts.size < MAX_BEGINNINGS) this.#beginnings.texts.set(key, text);
    return text;
  }

  /** The position of a page to which all has been sent but what is still gathered: were that counted, one that connects again would lack it. */
  #positionFor(shown: ShownServices): string {
    return this.#changes.position(Math.min(...this.#gatherings.flatMap(({ unsent }) => unsent(shown))));
  }

  /** Sends an update to streams; `make` renders it once for each language and reader. */
  #sendTo(to: Iterable<Stream>, make: (language: Language, shown: ShownServices) => LiveUpdate | null) {
    const texts = new Map<string, Buffer>();
    const { withdrawals } = this.#directory;
    for (const stream of to) {
      const { language, shown } = stream;
      const render = () => formatUpdate(make(language, shown), this.#positionFor(shown));
      this.#enqueue(() => {
        // What a service shows that is no longer public waits for its reader no more.
        const isCurrent = withdrawals === this.#directory.withdrawals;
        const key = `${language.code} ${shown.reader}`;
        send(stream.response, isCurrent ? getOrInsert(texts, key, () => Buffer.from(render())) : render());
      });
    }
  }

  #sendChecks(checked: ReadonlyMap<number, boolean>) {
    const ids = [...checked.keys()];
    // Most streams have one service and share its update. A page with several services gets one event for all of them.
    const many = new Set<Stream>();
    for (const [id, isChanged] of checked) {
      // The visibility of the service may have changed since they were opened.
      const concerned = [...(this.#watchers.get(id) ?? [])].filter(
        ({ shown, unnamed }) => shown.byId(id) !== null || (isChanged && unnamed.has(id)),
      );
      this.#sendTo(
        concerned.filter(({ serviceIds }) => serviceIds?.size === 1),
        (language, shown) => joinUpdates(this.#updatesOf(id, language, shown)),
      );
      for (const stream of concerned) if (stream.serviceIds?.size !== 1) many.add(stream);
    }
    for (const stream of many)
      this.#sendTo([stream], (language) =>
        joinUpdates(
          ids
            .filter((id) => stream.serviceIds?.has(id))
            .flatMap((id) => this.#updatesOf(id, language, stream.shown)),
        ),
      );
  }

  #sendChanges(ids: readonly number[], audience: string) {
    const owners = () => [...this.#homes].filter(({ shown }) => isOwnAmong(ids, shown));
    const concerned = audience === '' ? this.#homes : owners();
    this.#sendTo(concerned, (language, shown) => this.#homeUpdate(language, shown, ids));
  }

  #begin(stream: Stream, after: number | null) {
    const { serviceIds, language, shown, response } = stream;
    send(response, `: what changes on this page\nid: ${this.#changes.position()}\n\n`);
    if (serviceIds === null) {
      const ids = after === null ? null : this.#changes.changedSince(after);
      send(
        response,
        this.#beginningOf(ids?.join() ?? 'all', stream, () => this.#homeUpdate(language, shown, ids)),
      );
    } else {
      const changed = new Set(after === null ? [] : this.#changes.changedSince(after));
      const isNews = (id: number) =>
        shown.byId(id) === null ? changed.has(id) : this.#changes.checkedAt(id) > (after ?? 0);
      const ids = [...serviceIds].filter((id) => after === null || isNews(id));
      if (ids.length > 0)
        send(
          response,
          formatUpdate(
            joinUpdates(ids.flatMap((id) => this.#updatesOf(id, language, stream.shown))),
            this.#changes.position(),
          ),
        );
    }
    send(
      response,
      this.#beginningOf('monitor', stream, () => this.#monitorUpdate(language, shown)),
    );
  }

  #startMonitorUpdates() {
    let wasOnline = this.#isOnline();
    let sentAt = this.#clock.monotonic();
    return this.#clock.every(PROBER_POLL_MS, () => {
      const online = this.#isOnline();
      if (online === wasOnline && this.#clock.monotonic() - sentAt < MONITOR_MS) return;
      wasOnline = online;
      sentAt = this.#clock.monotonic();
      this.#sendTo(this.#streams, this.#monitorUpdate);
    });
  }

  #add(stream: Stream) {
    this.#streams.add(stream);
    if (stream.serviceIds === null) this.#homes.add(stream);
    for (const id of stream.serviceIds ?? []) getOrInsert(this.#watchers, id, () => new Set()).add(stream);
    this.#stopMonitor ??= this.#startMonitorUpdates();
    stream.response.once('close', () => {
      this.#streams.delete(stream);
      this.#homes.delete(stream);
      for (const id of stream.serviceIds ?? []) {
        const others = this.#watchers.get(id);
        others?.delete(stream);
        if (others?.size === 0) this.#watchers.delete(id);
      }
      if (this.#streams.size > 0) return;
      this.#stopMonitor?.();
      this.#stopMonitor = null;
    });
  }
}

/** A reader's view of a status page as a text, with the services that it finds besides. */
function describeReader(reader: string, ofPage: readonly Service[] | null): string {
  if (ofPage === null) return reader;
  return `${reader} of ${ofPage.map(({ id, visibility = 'public' }) => `${id} ${visibility}`).join()}`;
}

function readPages(text: string, directory: Stream['shown']): number[] {
  return text.split(',', LIVE_BOUNDS.pages).flatMap((name) => directory.byPageName(name)?.id ?? []);
}

/**
 * Creates what gathers services that were checked, with whether their status has changed, and sends them after a time. Each audience has
 * a time of its own, so that what some may not see does not hasten what they see.
 */
function createGathering(
  clock: Clock,
  ms: number,
  sendAll: (gathered: ReadonlyMap<number, boolean>, audience: string) => void,
) {
  const gathered = new Map<string, { readonly from: number; readonly services: Map<number, boolean> }>();
  return {
    /** Adds a service by its record with the number `at`. */
    add(audience: string, at: number, [serviceId, isChanged]: readonly [number, boolean]): void {
      const { services } = getOrInsert(gathered, audience, () => {
        const begun = { from: at, services: new Map<number, boolean>() };
        clock.after(ms, () => {
          gathered.delete(audience);
          sendAll(begun.services, audience);
        });
        return begun;
      });
      services.set(serviceId, isChanged || services.get(serviceId) === true);
    },
    /** The numbers of the first records that are not sent yet, of each audience to which a reader belongs. */
    unsent: (shown: ShownServices): readonly number[] =>
      [...gathered]
        .filter(([audience, { services }]) => audience === '' || isOwnAmong([...services.keys()], shown))
        .map(([, { from }]) => from),
  };
}

/** Returns true if one of the services is of an account of the reader. */
function isOwnAmong(ids: readonly number[], shown: ShownServices): boolean {
  const services = shown.accounts.size === 0 ? [] : ids.map((id) => shown.byId(id));
  return services.some((service) => service !== null && isOwn(service, shown.accounts));
}

/** Writes to an open page. A page that does not read is disconnected; it reconnects and gets the missed updates. */
function send(response: ServerResponse, text: string | Buffer): void {
  if (text.length > 0) writeToStream(response, text, MAX_BACKLOG_BYTES);
}

/** An update as an event; empty: there is nothing to tell. */
function formatUpdate(update: LiveUpdate | null, position: string): string {
  return update === null ? '' : `id: ${position}\ndata: ${JSON.stringify(update)}\n\n`;
}
