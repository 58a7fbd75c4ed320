/**
 * Protects the program from a fault of Node.js 24. It frees the streams of a destroyed session of HTTP/2 in the next turn of the
 * event loop. If a garbage collection frees the session before that, and a stream has received headers that were not delivered,
 * such as more than 128 fields, Node.js aborts the whole process: `Http2Session::~Http2Session()`, `Assertion failed:
 * (current_nghttp2_memory_) == (0)`. Any server could end the program so.
 */
import type { ClientHttp2Session } from 'node:http2';

/** The native parts of sessions that may not be freed yet. */
const held = new Set<object>();

/**
 * Keeps the native part of a session that is connecting in memory until it and its streams have been closed for a turn of
 * the event loop. A version of Node.js that keeps it elsewhere fails `test/kinds/grpc-abort.test.ts`.
 */
export function holdSession(session: ClientHttp2Session): void {
  session.once('connect', () => {
    const native = nativePartOf(session);
    if (native === null) return;
    held.add(native);
    // Callbacks of setImmediate run after Node.js has freed the streams that were destroyed before.
    session.once('close', () => setImmediate(() => held.delete(native)));
  });
}

/** Number of sessions that are kept in memory now. */
export function countHeldSessions(): number {
  return held.size;
}

/** The object under an internal symbol; null: there is none. */
function nativePartOf(session: ClientHttp2Session): object | null {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  const native: unknown = symbol === undefined ? null : Reflect.get(session, symbol);
  return typeof native === 'object' ? native : null;
}
