/**
 * `/mcp`: a server of the Model Context Protocol for assistants (streamable HTTP without sessions). Requests count as
 * requests of the API. The SDK is loaded at the first message, since most installations never get one.
 */
import { parseJson, requireType } from '../http/body.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { McpResponder } from './mcp-server.ts';
import { createTools, type ToolSources } from './tools.ts';

/** Maximum size of a message, bytes. */
const MAX_MESSAGE_BYTES = 65_536;
/** Headers of a request that the protocol reads. */
const PASSED_ON = /^(?:accept|content-type|mcp-[a-z-]+)$/;

export function mcpRoute(
  sources: ToolSources & {
    readonly version: string;
    readonly log: Log;
  },
): Route {
  const { finder, siteUrl, version, log } = sources;
  const ownOrigin = new URL(siteUrl).origin;
  let loading: Promise<McpResponder> | null = null;
  const load = async (): Promise<McpResponder> => {
    const { createMcpResponder } = await import('./mcp-server.ts');
    return createMcpResponder(createTools(sources), version, log);
  };

  return {
    path: '/mcp',
    bucket: 'api',
    access: 'everyone',
    anyMethod: true,
    sameOrigin: true,
    async handle(request): Promise<HttpResponse> {
      requireOwnOrigin(request, ownOrigin);
      const body = await readMessage(request);
      loading ??= load();
      const respond = await loading;
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' && PASSED_ON.test(name) ? [[name, value] as const] : [],
      );
      const shown = await finder.listedFor(request);
      const response = await respond({ headers: Object.fromEntries(headers), body, request, shown });
      return {
        status: response.status,
        headers: {
          'Content-Type': response.headers.get('content-type') ?? 'application/json',
          'Cache-Control': 'no-store',
        },
        body: await response.text(),
      };
    },
  };
}

/**
 * Throws `forbidden_origin` for a request from a page of another site. A page whose host name was made to lead here (DNS
 * rebinding) could otherwise use a server that only its visitor can reach.
 */
function requireOwnOrigin({ headers }: HttpRequest, ownOrigin: string): void {
  const { origin } = headers;
  if (origin === undefined || origin === ownOrigin) return;
  throw new HttpError('forbidden_origin', 'Pages of other sites cannot use this address.');
}

/** Reads the one message of a request. Throws for another method, another media type and what is not one message. */
async function readMessage({ method, headers, readBody }: HttpRequest): Promise<unknown> {
  if (method !== 'POST' || readBody === undefined)
    throw new HttpError('method_not_allowed', `${method} is not possible here.`, {}, { Allow: 'POST' });
  requireType(headers);
  const message = parseJson(await readBody(MAX_MESSAGE_BYTES));
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
  throw new HttpError('invalid_body', 'The body must be one message of JSON-RPC, and no batch.', {
    place: '',
  });
}
