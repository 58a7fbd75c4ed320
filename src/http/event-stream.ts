/** What all streams of Server-Sent Events have in common (WHATWG HTML, 9.2). */

/** Headers of a stream. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without it nginx would gather events before it passes them on.
  'X-Accel-Buffering': 'no',
};

/** Streams written to without a pause: some milliseconds of work. */
export const WRITES_AT_ONCE = 100;
