/** Requests of the API for writing. */
import type { World } from './site-world.ts';

/** Sends JSON, or a text as it is, by any method. The body of the response is parsed; null: it is empty. */
export function sendWith({ origin }: Pick<World, 'origin'>) {
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' ? null : JSON.parse(text),
    };
  };
}
