/** Streams of Server-Sent Events (WHATWG HTML, 9.2): the response, and writes with a bound. */
import type { ServerResponse } from 'node:http';
import { createClientCounts } from './client-address.ts';
import type { HttpResponse } from './route.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without it nginx would buffer events.
  'X-Accel-Buffering': 'no',
};

/** Streams that are written to in one turn of the event loop: some milliseconds of work. */
export const MAX_WRITES_PER_TURN = 100;

/** The response to HEAD for a stream: its headers alone. */
export const STREAM_HEAD: HttpResponse = {
  status: 200,
  headers: HEADERS,
  body: '',
  stream: (response) => void response.end(),
};

/** Makes an empty set of streams. */
export function createOpenStreams() {
  const streams = new Set<ServerResponse>();
  const counts = createClientCounts();
  let isClosed = false;
  return {
    get size() {
      return streams.size;
    },
    /** How many the client holds. */
    of: counts.of,
    /** The response that is a stream to the client; `run` gets the connection, unless the client has closed it already. */
    open(client: string, run: (response: ServerResponse) => void): HttpResponse {
      counts.add(client);
      const stream = (response: ServerResponse) => {
        // If the client has left already, 'close' has been emitted.
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
    /** Ends every stream; later ones end at once. Clients come back by themselves. */
    close(): void {
      isClosed = true;
      for (const response of streams) response.end();
    },
  };
}

/**
 * Writes to a stream that is still open. A client that does not read is disconnected when more than `maxBacklogBytes`
 * wait for it; it reconnects and resumes where it was.
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
