/** Listens to `/api/v1/events` as a client does that never wants to miss one: it resumes where it was. */

import { createEventIds } from '../../../src/api/events.ts';

/** The listener. */
export interface EventListener {
  /** Positions in the order in which they were heard. */
  readonly heard: readonly number[];
  stop(): Promise<void>;
}

const PAUSE_MS = 200;

/**
 * Starts to listen at a site; its first event is the first after the beginning of the feed. `secretKey`: the key of secrets of the
 * installation, by which it reads the positions of events.
 */
export function listenToEvents(siteUrl: string, secretKey: Uint8Array): EventListener {
  const ids = createEventIds(secretKey);
  const heard: number[] = [];
  const controller = new AbortController();
  const { signal } = controller;

  const read = async (): Promise<void> => {
    const headers = { 'last-event-id': ids.ofEvent(heard.at(-1) ?? 0) };
    const response = await fetch(`${siteUrl}/api/v1/events`, { headers, signal });
    let rest = '';
    for await (const chunk of response.body ?? []) {
      rest += Buffer.from(chunk).toString();
      const parts = rest.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const [, id] = /^id: (.+)\nevent: status$/m.exec(part) ?? [];
        if (id !== undefined) heard.push(ids.read(id) ?? -1);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await read().catch(() => {});
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const running = run();
  return {
    heard,
    async stop() {
      controller.abort();
      await running;
    },
  };
}
