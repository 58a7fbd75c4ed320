/** Receives the webhooks of an account, and records every delivery. */
import { createServer } from 'node:http';
import { listenOn } from '../../support/loopback.ts';
import type { Scope } from '../../support/run-servers.ts';

/** A delivery. */
export interface ReceivedDelivery {
  /** `webhook-id`. */
  readonly message: string;
  readonly body: string;
  readonly atMs: number;
}

/** The receiver. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedDelivery[];
}

/** Time until a delivery is answered, milliseconds: some are in flight when a monitor dies. */
const ANSWER_MS = 200;

/** Starts a receiver on loopback that accepts every delivery. */
export async function startWebhookReceiver(scope: Scope): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    try {
      for await (const chunk of request) body += chunk;
    } catch {
      // The sender died.
      return;
    }
    received.push({ message: String(request.headers['webhook-id']), body, atMs: performance.now() });
    setTimeout(() => response.writeHead(204).end(), ANSWER_MS);
  });
  const { port, close } = await listenOn(server);
  scope.teardown(close);
  return { url: `http://127.0.0.1:${port}/hook`, received };
}
