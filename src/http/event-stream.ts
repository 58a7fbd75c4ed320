/** Streams of Server-Sent Events (WHATWG HTML, 9.2): the response, and writes with a limited backlog. */
import type { ServerResponse } from 'node:http';
import { createClientCounts } from './client-address.ts';
import type { HttpResponse } from './route.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without this header, nginx buffers events.
  'X-Accel-Buffering': 'no',
};

/** Maximum number of streams that are written to in one iteration of the event loop, which takes a few milliseconds. */
export const MAX_WRITES_PER_TURN = 100;

/** The response to HEAD for a stream: only its headers. */
export const STREAM_HEAD: HttpResponse = {
  status: 200,
  headers: HEADERS,
  body: '',
  stream: (response) => void response.end(),
};

/** Creates an empty set of streams. */
export function createOpenStreams() {
  const streams = new Set<ServerResponse>();
  const counts = createClientCounts();
  let isClosed = false;
  return {
    get size() {
      return streams.size;
    },
    /** Number of open streams of a client. */
    of: counts.of,
    /**
     * Returns a response that streams to the client. `run` gets the connection unless the client has already closed it.
     */
    open(client: string, run: (response: ServerResponse) => void): HttpResponse {
      counts.add(client);
      const stream = (response: ServerResponse) => {
        // If the client has disconnected, 'close' has already been emitted.
        if (response.destroyed || isClosed) {
          counts.remove(client);
          response.end();
          return;
        }
        streams.add(response);
        response.once('close', () => {
          streams.delete(response);
          counts.remove(client);
        });
        run(response);
      };
      return { ...STREAM_HEAD, stream };
    },
    /** Ends all streams; new ones end immediately. Clients reconnect by themselves. */
    close(): void {
      isClosed = true;
      for (const response of streams) response.end();
    },
  };
}

/**
 * Writes to a stream if it is open. A client that does not read is disconnected when its backlog exceeds
 * `maxBacklogBytes`; it then reconnects and resumes.
 */
export function writeToStream(
  response: ServerResponse,
  text: string | Uint8Array,
  maxBacklogBytes: number,
): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > maxBacklogBytes) response.destroy();
}
