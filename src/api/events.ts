/** `GET /api/v1/events`: changes of status as Server-Sent Events (WHATWG HTML, 9.2), resumable by `Last-Event-ID`, and the ids of these events. */

import { createCipheriv, createDecipheriv, randomInt } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { deriveKey } from '../domain/credential-seal.ts';
import { formatTime } from '../domain/durations.ts';
import { describeReasonOrNull } from '../domain/incident/incident.ts';
import { audienceOf, isOwn, isPublic } from '../domain/service.ts';
import { isScopeTransition, type Transition } from '../domain/status/current.ts';
import { viewChange } from '../domain/status/transition.ts';
import { createOpenStreams, STREAM_HEAD } from '../http/event-stream.ts';
import {
  OPEN_TO_ALL,
  type OpenApiOperation,
  type OpenApiParameter,
  problems,
  queryParameters,
} from '../http/openapi.ts';
import { readParameters, refuse } from '../http/parameters.ts';
import { retryLater } from '../http/problem.ts';
import type { Allowance } from '../http/rate-limits.ts';
import type { Route } from '../http/route.ts';
import { Type } from '../json-schema.ts';
import type { Log } from '../log.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import type { TransitionReads } from '../store/ports/updates.ts';
import { type ShownDirectory, serviceNotFound } from '../view/service-directory.ts';
import type { ReaderWatch, ServiceFinder } from '../view/service-finder.ts';
import { createEventFanOut } from './event-fan-out.ts';
import { EVERYONES, type WantedEvents } from './recent-events.ts';

/** Writes and reads ids. */
export type EventIds = ReturnType<typeof createEventIds>;

/** One block of AES: the position, a salt, and zeros by which an id is recognized as one of this installation. */
const BLOCK_BYTES = 16;
const POSITION_BYTES = 6;
const SALT_BYTES = 6;
const MAX_SALT = 2 ** 47;
/** The ids of earlier versions were the positions. */
const FORMER_ID = /^\d{1,15}$/;
/** Base64url of a block. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/** Creates the ids of an installation from its key of secrets. */
export function createEventIds(secretKey: Uint8Array) {
  const key = deriveKey(secretKey, 'ids of events');
  const idOf = (position: number, salt: number): string => {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.writeUIntBE(position, 0, POSITION_BYTES);
    block.writeUIntBE(salt, POSITION_BYTES, SALT_BYTES);
    const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
  };
  return {
    /** The id of an event, the same from every node. */
    ofEvent: (position: number): string => idOf(position, 0),
    /** An id after which a stream resumes. It is a new one each time, and so does not tell that the feed has moved. */
    ofPlace: (position: number): string => idOf(position, randomInt(1, MAX_SALT)),
    /**
     * The position in an id. Null: it is an id of another installation or key, or of an earlier version, after which nothing can be told;
     * undefined: it is not an id. `0` is before the first event.
     */
    read(id: string): number | null | undefined {
      if (FORMER_ID.test(id)) return Number(id) === 0 ? 0 : null;
      if (!ID.test(id)) return undefined;
      const bytes = Buffer.from(id, 'base64url');
      const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(bytes), decipher.final()]);
      const isOurs = block.subarray(POSITION_BYTES + SALT_BYTES).every((byte) => byte === 0);
      return isOurs ? block.readUIntBE(0, POSITION_BYTES) : null;
    },
  };
}

const QUERY = {
  slug: Type.String({ description: 'Only events of this service.' }),
  last_event_id: Type.String({
    description: 'Like the header Last-Event-ID, for clients that cannot set it.',
  }),
};

export interface EventSources {
  readonly directory: ShownDirectory;
  readonly finder: ServiceFinder;
  readonly readers: ReaderWatch;
  readonly registry: TransitionReads;
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  readonly eventIds: EventIds;
  readonly clock: Clock;
  readonly log: Log;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Maximum number of open streams of one address (decisions, "What counts where"). */
const MAX_STREAMS_PER_CLIENT = 10;
const HEARTBEAT_MS = 15_000;
/** The time after which a client with too many streams may retry, seconds. */
const RETRY_AFTER_SECONDS = 10;

/**
 * The whole stream while the registry cannot be read. A browser connects again after a stream that ends, with the id of the event that
 * it had last, while it gives up for good after a status such as 503 (WHATWG HTML, 9.2.3).
 */
const LATER = 'retry: 5000\n: changes cannot be read at present; connect again\n\n';

export function createEventStreams(sources: EventSources) {
  const { directory, finder, readers, registry, eventIds, clock, log } = sources;
  const streams = createOpenStreams();
  const fanOut = createEventFanOut({
    ...sources,
    format: (transition) => formatEvent(eventIds.ofEvent(transition.position), transition),
    withdrawals: () => directory.withdrawals,
    audienceOf: (serviceId) => audienceOf(directory.byId(serviceId)),
  });

  const run = async (response: ServerResponse, after: number | null, wanted: WantedEvents) => {
    // A position beyond the newest is not from this feed; the stream would wait for it forever.
    const newest = await registry.lastTransition();
    // The client may have disconnected during the query.
    if (response.destroyed) return;
    const position = after === null ? newest : Math.min(after, newest);
    const id = eventIds.ofPlace(position);
    response.write(`retry: 3000\n: status changes; resumable by Last-Event-ID\nid: ${id}\n\n`);
    const stream = fanOut.add(response, position, wanted);
    const stop = clock.every(HEARTBEAT_MS, () => {
      // The server closes the connection of a client that reads nothing for a minute.
      if (response.writableNeedDrain || response.writableEnded) return;
      // An id without data is not an event, but the client resumes after it and skips the events of other services.
      response.write(`: still here\nid: ${eventIds.ofPlace(stream.position)}\n\n`);
    });
    response.once('close', stop);
  };

  const peek = (client: string): Allowance => {
    const remaining = MAX_STREAMS_PER_CLIENT - streams.of(client);
    return {
      allowed: remaining > 0,
      limit: MAX_STREAMS_PER_CLIENT,
      remaining,
      resetAtSeconds: Math.ceil(clock.now() / 1_000) + RETRY_AFTER_SECONDS,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    };
  };

  return {
    get open(): number {
      return streams.size;
    },
    /** Ends all streams; clients reconnect by themselves. */
    close: streams.close,
    route: {
      path: '/api/v1/events',
      bucket: 'streams',
      access: 'everyone',
      describe: describeEvents,
      peek,
      async handle(request) {
        const { method, client, headers, query } = request;
        const { slug, last_event_id } = readParameters(query, QUERY);
        const service = slug === undefined ? null : await finder.bySlug(request, slug);
        if (slug !== undefined && service === null) throw serviceNotFound(slug);
        const after = readId(eventIds, headers['last-event-id']?.toString() ?? last_event_id);
        if (method === 'HEAD') return STREAM_HEAD;
        if (!peek(client).allowed) {
          const detail = `An address may hold ${MAX_STREAMS_PER_CLIENT} streams open.`;
          throw retryLater('too_many_streams', RETRY_AFTER_SECONDS, detail);
        }
        const shown = await finder.listedFor(request);
        /** Of the whole stream. A service may turn private while it is open. */
        const isListed = (id: number) => {
          const one = shown.byId(id);
          return one !== null && (isPublic(one) || isOwn(one, shown.accounts));
        };
        const wanted =
          service !== null
            ? { serviceId: service.id, mayRead: (id: number) => shown.byId(id) !== null }
            : shown.accounts.size === 0
              ? EVERYONES
              : { serviceId: null, mayRead: isListed };
        return streams.open(client, (response) => {
          if (shown.accounts.size > 0) readers(response, shown.reader, finder.readerOf(request));
          run(response, after, wanted).catch((error: Error) => {
            if (refusalOf(error) === null) log.warn({ problem: error.message }, 'an event stream was closed');
            response.end(LATER);
          });
        });
      },
    } satisfies Route,
  };
}

/** The position after which a stream begins; null: at the newest. */
function readId(ids: EventIds, text: string | undefined): number | null {
  const position = text === undefined || text === '' ? null : ids.read(text);
  if (position === undefined)
    throw refuse('last_event_id', 'must be the id of an event that was received, or 0 for all events');
  return position;
}

function formatEvent(id: string, transition: Transition): string {
  const { slug, at, recordedAt, reason } = transition;
  const data = JSON.stringify({
    slug,
    ...viewChange(transition),
    at: formatTime(at),
    recorded_at: formatTime(recordedAt),
    reason: describeReasonOrNull(reason),
  });
  const event = isScopeTransition(transition) ? 'scope' : 'status';
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}

function describeEvents(): OpenApiOperation {
  const parameters: OpenApiParameter[] = [
    ...queryParameters(QUERY),
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description:
        'Id of the last event that was received; the stream goes on after it. `0`: from the first event that is kept. After an id of another installation, of a former key of secrets, or of version 0.2 (a number), the stream begins with the next event.',
    },
  ];
  const example =
    'id: 2vYkFQ0mXJ1Hk0b7yWc5Tg\nevent: status\ndata: {"slug":"github","from":"up","to":"down","at":"2026-11-20T10:00:00.000Z","recorded_at":"2026-11-20T10:00:06.500Z","reason":"connection refused"}\n\n';
  return {
    operationId: 'streamEvents',
    tags: ['Events'],
    security: OPEN_TO_ALL,
    summary: 'Stream changes of status',
    description:
      'Server-Sent Events named "status", resumable by their id, which every node understands and which has no order: of public services, with a key also of the services of its account. Where more than one region checks a service, they also have `scope` and `regions`, the regions in which it fails; and an event named "scope" says that it begins or ceases to fail in some of them while its status stays. An address may hold 10 streams open.',
    parameters,
    responses: {
      200: {
        description:
          'A stream without an end. While the registry cannot be read it ends at once, and says when to connect again (`retry`).',
        content: { 'text/event-stream': { schema: { type: 'string' }, example } },
      },
      ...problems({
        400: 'A parameter is not valid.',
        401: 'The API key is not valid.',
        403: 'The API key lacks the scope read (insufficient_scope).',
        404: 'There is no such service.',
        429: 'Too many open streams.',
      }),
    },
  };
}
