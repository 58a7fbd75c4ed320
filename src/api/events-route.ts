/**
 * `GET /api/v1/events`: changes of status as Server-Sent Events (WHATWG HTML, 9.2), resumable by `Last-Event-ID`:
 * the id is the position in the registry's feed of transitions.
 */
import type { ServerResponse } from 'node:http';
import { Type } from '@sinclair/typebox';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import { formatTime } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { Route } from './exchange.ts';
import { readParameters, refuse } from './parameters.ts';
import { ApiError } from './problem.ts';
import { serviceNotFound } from './reading-routes.ts';
import type { ServiceDirectory } from './service-directory.ts';

/** Query parameters of the stream. */
export const EVENTS_QUERY = {
  slug: Type.String({ description: 'Only events of this service.' }),
  last_event_id: Type.String({
    description: 'Like the header Last-Event-ID, for clients that cannot set it.',
  }),
};

/** What the route needs. */
export interface EventSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<Registry, 'transitionsAfter' | 'lastTransition'>;
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Streams that are open. */
export interface EventStreams {
  readonly route: Route;
  readonly open: number;
  /** Ends every stream; clients come back by themselves. */
  close(): void;
}

/** Open streams of one address (decisions, "What counts where"). */
const STREAMS_PER_CLIENT = 10;
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without it nginx would gather events before it passes them on.
  'X-Accel-Buffering': 'no',
};
const HEARTBEAT_MS = 15_000;
const REPLAY_PAGE = 500;
/** A client that does not read is ended when this much waits for it; it resumes where it was. */
const LONGEST_BACKLOG_BYTES = 1_048_576;

/** Makes the route and its streams. */
export function createEventStreams(sources: EventSources): EventStreams {
  const { directory, registry, clock, log } = sources;
  const streams = new Set<ServerResponse>();
  const perClient = new Map<string, number>();

  const run = async (response: ServerResponse, slug: string | null, after: number | null) => {
    let position = after ?? (await registry.lastTransition());
    /** Live events wait here until what was missed has been sent. */
    let waiting: Transition[] | null = [];
    const send = (transition: Transition) => {
      if (transition.position <= position) return;
      position = transition.position;
      if (slug === null || transition.slug === slug) response.write(formatEvent(transition));
      if (response.writableLength > LONGEST_BACKLOG_BYTES) response.destroy();
    };
    const unwatch = sources.watchTransitions((transition) => {
      if (waiting === null) send(transition);
      else waiting.push(transition);
    });
    const stopBeating = clock.every(HEARTBEAT_MS, () => response.write(': still here\n\n'));
    response.once('close', () => {
      unwatch();
      stopBeating();
    });
    response.write(`retry: 3000\n: status changes; resumable by Last-Event-ID\n\n`);
    for (;;) {
      const missed = await registry.transitionsAfter(position, REPLAY_PAGE);
      missed.forEach(send);
      if (missed.length < REPLAY_PAGE || response.destroyed) break;
    }
    for (const transition of waiting) send(transition);
    waiting = null;
  };

  return {
    get open() {
      return streams.size;
    },
    close() {
      for (const response of streams) response.end();
    },
    route: {
      path: '/api/v1/events',
      bucket: 'none',
      handle({ method, client, headers, query }) {
        const given = readParameters(query, EVENTS_QUERY);
        const slug = given.slug === undefined ? null : String(given.slug);
        const service = slug === null ? null : directory.bySlug(slug);
        if (slug !== null && service === null) throw serviceNotFound(slug);
        const after = readPosition(headers['last-event-id']?.toString() ?? given.last_event_id?.toString());
        if (method === 'HEAD') return { status: 200, headers: STREAM_HEADERS, body: '' };
        const already = perClient.get(client) ?? 0;
        if (already >= STREAMS_PER_CLIENT) {
          const detail = `An address may hold ${STREAMS_PER_CLIENT} streams open.`;
          throw new ApiError('too_many_streams', detail, {}, { 'Retry-After': '10' });
        }
        perClient.set(client, already + 1);
        return {
          status: 200,
          headers: {
            'Content-Type': 'text/event-stream',
            'Cache-Control': 'no-store',
            'X-Accel-Buffering': 'no',
          },
          body: '',
          stream(response) {
            streams.add(response);
            response.once('close', () => {
              streams.delete(response);
              const left = (perClient.get(client) ?? 1) - 1;
              if (left === 0) perClient.delete(client);
              else perClient.set(client, left);
            });
            run(response, service?.slug ?? null, after).catch((error: Error) => {
              log.warn({ problem: error.message }, 'an event stream was ended');
              response.destroy();
            });
          },
        };
      },
    },
  };
}

function readPosition(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  if (!/^\d{1,15}$/.test(text)) throw refuse('last_event_id', 'must be the id of an event that was received');
  return Number(text);
}

/** One event of the stream. */
function formatEvent({ position, slug, from, to, at, recordedAt, reason }: Transition): string {
  const data = JSON.stringify({
    slug,
    from,
    to,
    at: formatTime(at),
    recorded_at: formatTime(recordedAt),
    reason,
  });
  return `id: ${position}\nevent: status\ndata: ${data}\n\n`;
}
