/**
 * What the public of the demonstration does not see: the messages that the channel of its account has received, and what the
 * simulated services and vendors do when.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sender } from './heartbeat-senders.ts';
import { type Script, USUAL_STORY } from './script.ts';
import type { Vendor } from './vendors/script.ts';

/** The server. */
export interface Backstage {
  /** The page. */
  readonly url: string;
  /** Takes the messages of a channel of the kind `webhook`. */
  readonly receiverUrl: string;
  close(): Promise<void>;
}

/** What the page shows of a message. */
interface Message {
  readonly at: Date;
  readonly title: string;
  readonly lines: readonly string[];
  readonly url: string;
}

/** The newest messages are kept. */
const MAX_MESSAGES = 100;
const MAX_BODY_BYTES = 1_048_576;
const RELOAD_SECONDS = 5;

/** Starts the server on a free port of loopback. */
export async function startBackstage(script: Script, senders: readonly Sender[]): Promise<Backstage> {
  const messages: Message[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const message = readMessage(await readBody(request));
      if (message !== null) messages.unshift(message);
      messages.splice(MAX_MESSAGES);
      return void response.writeHead(message === null ? 400 : 204).end();
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
    response.end(renderPage(messages, script, senders));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    receiverUrl: `${url}messages`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) return '';
  }
  return text;
}

/** Reads the body of an alert (docs/webhooks.md); null: it is none. */
function readMessage(body: string): Message | null {
  try {
    const { data } = JSON.parse(body);
    const services = data.services as {
      readonly service: { readonly name: string };
      readonly event: string;
      readonly reason: string | null;
    }[];
    const lines = services.map(
      ({ service, event, reason }) => `${service.name}: ${event}${reason === null ? '' : `, ${reason}`}`,
    );
    // The title says all of a single service.
    const shown = lines.length > 1 ? lines : [];
    return { at: new Date(), title: String(data.title), lines: shown, url: String(data.url ?? '') };
  } catch {
    return null;
  }
}

function renderPage(messages: readonly Message[], script: Script, senders: readonly Sender[]): string {
  const { services, vendors, outages, periodMs } = script;
  const rows = [
    ...[...services, ...senders]
      .filter(({ story }) => story !== USUAL_STORY)
      .map(({ domain, story }) => [domain, story]),
    ...outages.map(({ from, to }) => [
      'the prober itself',
      `cut off from ${clock(from)} to ${clock(to)}: nothing may turn down`,
    ]),
    ...vendors.map((vendor) => [`status page of ${vendor.name} (${vendor.kind})`, publishedBy(vendor)]),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RELOAD_SECONDS}">
<title>Backstage of the simulation</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
  article { border: 1px solid; border-radius: .5rem; padding: .5rem 1rem; margin: .75rem 0 }
  h3, p { margin: 0 } td { padding: .15rem 1rem .15rem 0; vertical-align: top }
</style>
<h1>Backstage of the simulation</h1>
<h2>Messages that the channel has received</h2>
${messages.map(renderMessage).join('\n') || '<p>None yet. The first outage begins 20 s after the start.</p>'}
<h2>What happens every ${periodMs / 60_000} minutes</h2>
<table>${rows.map((cells) => `<tr>${cells.map((cell = '') => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('\n')}</table>
</html>
`;
}

function renderMessage({ at, title, lines, url }: Message): string {
  const link = /^https?:/.test(url) ? ` <a href="${escapeHtml(url)}">Open</a>` : '';
  return `<article><h3>${escapeHtml(title)}</h3>
${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('')}
<p><small>${at.toTimeString().slice(0, 8)}${link}</small></p></article>`;
}

/** What a vendor publishes, and when. */
function publishedBy({ incidents, maintenances, faults }: Vendor): string {
  const said = [
    ...incidents.map(({ title, updates }) => ({
      what: title === '' ? 'an incident' : title,
      from: updates[0]?.at ?? 0,
      to: updates.at(-1)?.at ?? 0,
    })),
    ...maintenances.map(({ title, startsAt, endsAt }) => ({ what: title, from: startsAt, to: endsAt })),
    ...faults.map(({ fault, from, to }) => ({ what: `(its server: ${fault.kind})`, from, to })),
  ].map(({ what, from, to }) => `${clock(from)} to ${clock(to)} ${what}`);
  return said.length === 0 ? 'says nothing' : said.join('; ');
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
