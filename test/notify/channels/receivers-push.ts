/** ntfy, Gotify, Pushover and a receiver of webhooks, as their documentation describes them. */
import { createHmac } from 'node:crypto';
import { list, oneOf, shape, text, url, wrongShape } from './receiver-checks.ts';
import type { Receiver, Reply } from './receivers.ts';

const NTFY = shape({
  topic: text(64, { pattern: '^[-_A-Za-z0-9]{1,64}$' }),
  title: text(1_024),
  message: text(4_096),
  priority: { type: 'integer', minimum: 1, maximum: 5 },
  tags: list(oneOf('red_circle', 'yellow_circle', 'green_circle', 'large_blue_circle'), 5),
  click: url(),
  actions: list(shape({ action: { const: 'view' }, label: text(100), url: url() }), 3),
  'sequence_id?': text(64, { pattern: '^[-_A-Za-z0-9]{1,64}$' }),
});
const ntfyError = (code: number, error: string): Reply => ({
  status: Math.floor(code / 100),
  body: { code, http: Math.floor(code / 100), error, link: 'https://ntfy.sh/docs/publish/' },
});
const ntfyTo = (topic: string, token: string) => (origin: string) => ({ topic, token, server: origin });
const ntfy: Receiver = {
  kind: 'ntfy',
  settings: ntfyTo('alerts-3f9a', 'tk_good'),
  refused: [
    {
      settings: ntfyTo('alerts-3f9a', 'tk_bad'),
      problem: { code: 'status', statusCode: 401, text: 'unauthorized' },
    },
    {
      settings: ntfyTo('others', 'tk_good'),
      problem: { code: 'status', statusCode: 403, text: 'forbidden' },
    },
  ],
  take(request, { taken }) {
    if (!['POST', 'PUT'].includes(request.method) || request.path !== '/')
      return ntfyError(40_401, 'page not found');
    if (request.headers.authorization !== 'Bearer tk_good') return ntfyError(40_101, 'unauthorized');
    const wrong = wrongShape(NTFY, request.json);
    if (wrong !== null) return ntfyError(40_024, `invalid request: ${wrong}`);
    const {
      topic,
      title,
      message,
      sequence_id: edited,
    } = request.json as { topic: string; title: string; message: string; sequence_id?: string };
    if (topic !== 'alerts-3f9a') return ntfyError(40_301, 'forbidden');
    if (Buffer.byteLength(title) > 1_024) return ntfyError(40_057, 'title too long');
    // A longer message becomes an attachment, which a phone does not show.
    if (Buffer.byteLength(message) > 4_096) return ntfyError(40_014, 'message too long');
    taken.push({ json: request.json, thread: null, ...(edited === undefined ? {} : { edited }) });
    return {
      status: 200,
      body: { id: `sPs71M8A2T${taken.length}`, time: 1_795_168_800, event: 'message', topic },
    };
  },
  tooMany: ntfyError(42_901, 'limit reached: too many requests'),
  retryAfterMs: undefined,
  threads: 'none',
  edits: true,
};

const GOTIFY = shape({
  title: text(1_000),
  message: text(32_000),
  priority: { type: 'integer', minimum: 0, maximum: 10 },
  extras: shape({
    'client::display': shape({ contentType: { const: 'text/plain' } }),
    'client::notification': shape({ click: shape({ url: url() }) }),
  }),
});
const gotifyError = (status: number, error: string, errorDescription: string): Reply => ({
  status,
  body: { error, errorCode: status, errorDescription },
});
const UNAUTHORIZED = 'you need to provide a valid access token or user credentials to access this api';
const gotify: Receiver = {
  kind: 'gotify',
  settings: (origin) => ({ server: `${origin}/push/`, token: 'AbCdEfGhIjKlMnO' }),
  refused: [
    {
      settings: (origin) => ({ server: `${origin}/push`, token: 'Axxxxxxxxxxxxxx' }),
      problem: { code: 'status', statusCode: 401, text: UNAUTHORIZED },
    },
    {
      settings: (origin) => ({ server: origin, token: 'AbCdEfGhIjKlMnO' }),
      problem: { code: 'status', statusCode: 404, text: 'page not found' },
    },
  ],
  take(request, { taken }) {
    // The server may have a path of its own.
    if (request.method !== 'POST' || request.path !== '/push/message')
      return gotifyError(404, 'Not Found', 'page not found');
    if (request.headers['x-gotify-key'] !== 'AbCdEfGhIjKlMnO')
      return gotifyError(401, 'Unauthorized', UNAUTHORIZED);
    const wrong = wrongShape(GOTIFY, request.json);
    if (wrong !== null) return gotifyError(400, 'Bad Request', wrong);
    taken.push({ json: request.json, thread: null });
    return { status: 200, body: { id: taken.length, appid: 1, ...(request.json as object) } };
  },
  // It has no limits of its own; the proxy before it has.
  tooMany: { status: 429, headers: { 'retry-after': '5' }, body: '<html>429</html>' },
  retryAfterMs: 5_000,
  threads: 'none',
};

const KEY = 'u'.repeat(30);
const TOKEN = 't'.repeat(30);
const PUSHOVER = shape({
  token: text(30),
  user: text(30),
  'device?': text(25),
  title: text(250),
  message: text(1_024),
  timestamp: { type: 'integer' },
  'url?': url(512),
  'url_title?': text(100),
  priority: { type: 'integer', minimum: -2, maximum: 2 },
  'retry?': { type: 'integer', minimum: 30 },
  'expire?': { type: 'integer', maximum: 10_800 },
  'tags?': text(255),
});
const pushoverError = (status: number, ...errors: readonly string[]): Reply => ({
  status,
  body: { status: 0, request: 'r', errors },
});
const pushover: Receiver = {
  kind: 'pushover',
  settings: () => ({ user: KEY, token: TOKEN, emergency: true }),
  refused: [
    {
      settings: () => ({ user: 'x'.repeat(30), token: TOKEN }),
      problem: {
        code: 'status',
        statusCode: 400,
        text: 'user identifier is not a valid user, group, or subscribed user key',
      },
    },
    {
      settings: () => ({ user: KEY, token: 'x'.repeat(30) }),
      problem: {
        code: 'status',
        statusCode: 400,
        text: 'application token is invalid, see https://pushover.net/api',
      },
    },
  ],
  take(request, { taken, known }) {
    const [, tag] = /^\/1\/receipts\/cancel_by_tag\/([\w-]+)\.json$/.exec(request.path) ?? [];
    const { token, user, priority, retry, expire, tags } = (request.json ?? {}) as Record<string, unknown>;
    if (token !== TOKEN)
      return pushoverError(400, 'application token is invalid, see https://pushover.net/api');
    if (tag !== undefined) {
      const rings = [...known].filter(([, of]) => of === tag).map(([receipt]) => receipt);
      for (const receipt of rings) known.delete(receipt);
      taken.push({ json: { cancelled: rings.length, tag }, thread: null });
      return { status: 200, body: { status: 1, canceled: rings.length, request: 'r' } };
    }
    if (request.method !== 'POST' || request.path !== '/1/messages.json')
      return pushoverError(404, 'not found');
    if (user !== KEY)
      return pushoverError(400, 'user identifier is not a valid user, group, or subscribed user key');
    const wrong = wrongShape(PUSHOVER, request.json);
    if (wrong !== null) return pushoverError(400, wrong);
    if ((priority === 2) !== (retry !== undefined && expire !== undefined))
      return pushoverError(400, 'expire must be supplied with priority=2');
    const given = `r${String(taken.length).padStart(29, '0')}`;
    if (priority === 2) known.set(given, String(tags));
    taken.push({ json: request.json, thread: null });
    return { status: 200, body: { status: 1, request: 'r', ...(priority === 2 ? { receipt: given } : {}) } };
  },
  tooMany: {
    status: 429,
    headers: {
      'x-limit-app-limit': '10000',
      'x-limit-app-remaining': '0',
      'x-limit-app-reset': '1796083200',
    },
    body: { status: 0, request: 'r', errors: ['application is over its monthly message limit'] },
  },
  retryAfterMs: undefined,
  threads: 'none',
};

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const webhook: Receiver = {
  kind: 'webhook',
  settings: (origin) => ({ url: `${origin}/hook`, secret: SECRET }),
  refused: [
    {
      settings: (origin) => ({ url: `${origin}/gone`, secret: SECRET }),
      problem: { code: 'status', statusCode: 410, text: 'no more' },
    },
    // A receiver that is being deployed may answer anything.
    {
      settings: (origin) => ({ url: `${origin}/missing`, secret: SECRET }),
      problem: { code: 'status', statusCode: 404, text: 'missing' },
      outcome: 'failed',
    },
  ],
  take(request, { taken }) {
    if (request.path === '/gone') return { status: 410, body: 'no more' };
    if (request.path !== '/hook') return { status: 404, body: 'missing' };
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers;
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${at}.${request.body}`).digest('base64');
    if (signature !== `v1,${expected}`) return { status: 401, body: 'wrong signature' };
    const { type, data } = request.json as { type: string; data: { thread: string } };
    if (type !== 'alert') return { status: 400, body: 'wrong type' };
    taken.push({ json: request.json, thread: data.thread });
    return { status: 204 };
  },
  tooMany: { status: 429, headers: { 'retry-after': '90' } },
  retryAfterMs: 90_000,
  threads: 'thread',
};

/** Services that send to one person's devices or programs. */
export const PUSH_RECEIVERS: readonly Receiver[] = [ntfy, gotify, pushover, webhook];
