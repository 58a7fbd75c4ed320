/** Streams of Server-Sent Events (WHATWG HTML, 9.2): the response, and writes with a bound. */
import type { ServerResponse } from 'node:http';
import type { HttpResponse } from './route.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without it nginx would buffer events.
  'X-Accel-Buffering': 'no',
};

/** Streams that are written to in one turn of the event loop: some milliseconds of work. */
export const MAX_WRITES_PER_TURN = 100;

/** A response that is a stream. `open` gets the connection, which the client may have closed already. */
export function streamResponse(open: (response: ServerResponse) => void): HttpResponse {
  return { status: 200, headers: HEADERS, body: '', stream: open };
}

/** The response to HEAD for a stream: its headers alone. */
export const STREAM_HEAD: HttpResponse = streamResponse((response) => void response.end());

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
