/** Mattermost, Google Chat, Telegram and Matrix, as their documentation describes them. */
import { findMention, list, readHtml, shape, text, url, wrongShape } from './receiver-checks.ts';
import type { ReceivedRequest, Receiver, Reply } from './receivers.ts';

const bearer = ({ headers }: ReceivedRequest) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
const said = (json: unknown, member: string): string =>
  String((json as Record<string, unknown> | null)?.[member] ?? '');

const mattermostError = (status: number, id: string, message: string): Reply => ({
  status,
  body: { id, message, detailed_error: '', request_id: 'r', status_code: status },
});
const POST_ID = 'abcdefghijklmnopqrstuvwx';
const MATTERMOST = { token: 'good', channel: 'channelchannelchannel12345' };
const mattermostLimit = {
  tooMany: { status: 429, headers: { 'retry-after': '1', 'x-ratelimit-reset': '1' }, body: 'limit exceeded' },
  retryAfterMs: 1_000,
};
const mattermostHook: Receiver = {
  kind: 'mattermost',
  settings: (origin) => ({ url: `${origin}/hooks/good` }),
  refused: [
    {
      settings: (origin) => ({ url: `${origin}/hooks/bad` }),
      problem: { code: 'status', statusCode: 400, text: 'Invalid webhook.' },
    },
  ],
  take(request, { taken }) {
    if (request.path !== '/hooks/good')
      return mattermostError(400, 'web.incoming_webhook.invalid.app_error', 'Invalid webhook.');
    const wrong =
      wrongShape(shape({ text: text(16_383) }), request.json) ?? findMention(said(request.json, 'text'));
    if (wrong !== null) return mattermostError(400, 'web.incoming_webhook.parse.app_error', wrong);
    taken.push({ json: request.json, thread: null });
    return { status: 200, body: 'ok' };
  },
  ...mattermostLimit,
  threads: 'none',
};
const mattermostBot: Receiver = {
  kind: 'mattermost',
  name: 'mattermost, bot',
  settings: (origin) => ({ server: `${origin}/`, ...MATTERMOST }),
  refused: [
    {
      settings: (origin) => ({ server: origin, ...MATTERMOST, token: 'bad' }),
      problem: { code: 'status', statusCode: 401, text: 'Invalid or expired session, please login again.' },
    },
    {
      settings: (origin) => ({ server: origin, ...MATTERMOST, channel: 'otherchannelotherchannel12' }),
      problem: { code: 'status', statusCode: 403, text: 'You do not have the appropriate permissions.' },
    },
  ],
  take(request, { taken, known }) {
    const edited = /^\/api\/v4\/posts\/([a-z0-9]{26})\/patch$/.exec(request.path)?.[1];
    const isEdit = request.method === 'PUT' && edited !== undefined;
    if (!isEdit && (request.method !== 'POST' || request.path !== '/api/v4/posts'))
      return mattermostError(404, 'api.context.404.app_error', 'not found');
    if (bearer(request) !== 'good')
      return mattermostError(
        401,
        'api.context.session_expired.app_error',
        'Invalid or expired session, please login again.',
      );
    if (isEdit) {
      const wrong =
        wrongShape(shape({ message: text(16_383) }), request.json) ??
        findMention(said(request.json, 'message'));
      if (wrong !== null) return mattermostError(400, 'api.post.update_post.app_error', wrong);
      if (!known.has(edited))
        return mattermostError(404, 'app.post.get.app_error', 'Unable to get the post.');
      taken.push({ json: request.json, thread: null, edited });
      return { status: 200, body: { id: edited, channel_id: MATTERMOST.channel } };
    }
    if (said(request.json, 'channel_id') !== MATTERMOST.channel)
      return mattermostError(
        403,
        'api.context.permissions.app_error',
        'You do not have the appropriate permissions.',
      );
    const schema = shape({ channel_id: text(26), message: text(16_383), 'root_id?': text(26) });
    const wrong = wrongShape(schema, request.json) ?? findMention(said(request.json, 'message'));
    if (wrong !== null) return mattermostError(400, 'api.post.create_post.app_error', wrong);
    const root = (request.json as { root_id?: string }).root_id ?? null;
    if (root !== null && !known.has(root))
      return mattermostError(400, 'api.post.create_post.root_id.app_error', 'Invalid RootId parameter.');
    const id = `${POST_ID}${String(taken.length).padStart(2, '0')}`;
    known.set(id, id);
    taken.push({ json: request.json, thread: root });
    return { status: 201, body: { id, channel_id: MATTERMOST.channel, root_id: root ?? '' } };
  },
  ...mattermostLimit,
  threads: 'reference',
  edits: 'z'.repeat(26),
};

const GOOGLE_CHAT = shape({
  text: text(4_096, { pattern: '^[^<>]+$' }),
  thread: shape({ threadKey: text(4_000) }),
  cardsV2: list(
    shape({
      cardId: text(64),
      card: shape({
        sections: list(
          shape({
            widgets: list(
              {
                oneOf: [
                  shape({ textParagraph: shape({ text: text(32_000) }) }),
                  shape({
                    buttonList: shape({
                      buttons: list(
                        shape({ text: text(100), onClick: shape({ openLink: shape({ url: url() }) }) }),
                        6,
                      ),
                    }),
                  }),
                ],
              },
              100,
            ),
          }),
          100,
        ),
      }),
    }),
    1,
  ),
});
const googleError = (code: number, status: string, message: string): Reply => ({
  status: code,
  body: { error: { code, message, status } },
});
const googleUrl = (space: string, token: string) => (origin: string) => ({
  url: `${origin}/chat.googleapis.com/v1/spaces/${space}/messages?key=k&token=${token}`,
});
const googleChat: Receiver = {
  kind: 'google-chat',
  settings: googleUrl('AAAA', 'good'),
  refused: [
    {
      settings: googleUrl('AAAA', 'bad'),
      problem: { code: 'status', statusCode: 401, text: 'Request had invalid authentication credentials.' },
    },
    {
      settings: googleUrl('GONE', 'good'),
      problem: { code: 'status', statusCode: 404, text: 'Space not found.' },
    },
  ],
  take(request, { taken }) {
    if (request.query.get('key') !== 'k' || request.query.get('token') !== 'good')
      return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    if (request.path !== '/v1/spaces/AAAA/messages') return googleError(404, 'NOT_FOUND', 'Space not found.');
    if (Buffer.byteLength(request.body) > 32_000)
      return googleError(400, 'INVALID_ARGUMENT', 'Message is too long.');
    const wrong = wrongShape(GOOGLE_CHAT, request.json);
    if (wrong !== null) return googleError(400, 'INVALID_ARGUMENT', wrong);
    const { cardsV2, thread } = request.json as {
      cardsV2: { card: { sections: { widgets: { textParagraph?: { text: string } }[] }[] } }[];
      thread: { threadKey: string };
    };
    const texts = cardsV2.flatMap(({ card }) =>
      card.sections.flatMap(({ widgets }) =>
        widgets.flatMap(({ textParagraph }) => textParagraph?.text ?? []),
      ),
    );
    if (texts.some((html) => readHtml(html, ['b', 'a', 'br']) === null))
      return googleError(400, 'INVALID_ARGUMENT', 'Invalid HTML.');
    // Without the option the key is ignored.
    const isThreaded = request.query.get('messageReplyOption') === 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD';
    taken.push({ json: request.json, thread: isThreaded ? thread.threadKey : null });
    return {
      status: 200,
      body: { name: 'spaces/AAAA/messages/1', thread: { name: 'spaces/AAAA/threads/1' } },
    };
  },
  tooMany: googleError(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
  retryAfterMs: undefined,
  threads: 'thread',
};

const TELEGRAM = shape({
  chat_id: text(64),
  text: text(32_000),
  parse_mode: { const: 'HTML' },
  link_preview_options: shape({ is_disabled: { const: true } }),
  'message_thread_id?': { type: 'integer' },
  'disable_notification?': { type: 'boolean' },
  'reply_parameters?': shape({
    message_id: { type: 'integer' },
    allow_sending_without_reply: { const: true },
  }),
});
const TELEGRAM_EDIT = shape({
  chat_id: text(64),
  message_id: { type: 'integer' },
  text: text(32_000),
  parse_mode: { const: 'HTML' },
  link_preview_options: shape({ is_disabled: { const: true } }),
});
const BOT_TOKEN = '123456:ABC-DEF1234ghIkl';
const telegramError = (status: number, description: string, parameters?: object): Reply => ({
  status,
  body: { ok: false, error_code: status, description, ...(parameters === undefined ? {} : { parameters }) },
});
const telegramTo =
  (chat: string, token = BOT_TOKEN) =>
  (origin: string) => ({ token, chat, server: `${origin}/api.telegram.org`, topic: 4 });
const telegram: Receiver = {
  kind: 'telegram',
  settings: telegramTo('-100123'),
  refused: [
    {
      settings: telegramTo('-100123', '123456:wrong-wrong-wrong'),
      problem: { code: 'status', statusCode: 401, text: 'Unauthorized' },
    },
    {
      settings: telegramTo('-1009'),
      problem: { code: 'status', statusCode: 400, text: 'Bad Request: chat not found' },
    },
    {
      settings: telegramTo('-403'),
      problem: { code: 'status', statusCode: 403, text: 'Forbidden: bot was kicked from the group chat' },
    },
  ],
  take(request, { taken, known }) {
    const [, bot = '', method = ''] = request.path.split('/');
    const isEdit = method === 'editMessageText';
    if (request.method !== 'POST' || !/^bot\d+:[\w-]+$/.test(bot) || !(isEdit || method === 'sendMessage'))
      return telegramError(404, 'Not Found');
    if (bot !== `bot${BOT_TOKEN}`) return telegramError(401, 'Unauthorized');
    const wrong = wrongShape(isEdit ? TELEGRAM_EDIT : TELEGRAM, request.json);
    if (wrong !== null) return telegramError(400, `Bad Request: ${wrong}`);
    const {
      chat_id,
      text: html,
      reply_parameters,
    } = request.json as { chat_id: string; text: string; reply_parameters?: { message_id: number } };
    if (chat_id === '-403') return telegramError(403, 'Forbidden: bot was kicked from the group chat');
    if (chat_id === '-555')
      return telegramError(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: -100123,
      });
    if (chat_id !== '-100123') return telegramError(400, 'Bad Request: chat not found');
    const shown = readHtml(html, ['b', 'a']);
    if (shown === null) return telegramError(400, "Bad Request: can't parse entities");
    if (shown.length > 4_096) return telegramError(400, 'Bad Request: message is too long');
    if (isEdit) {
      const edited = said(request.json, 'message_id');
      if (!known.has(edited)) return telegramError(400, 'Bad Request: message to edit not found');
      if (known.get(edited) === html)
        return telegramError(
          400,
          'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
        );
      known.set(edited, html);
      taken.push({ json: request.json, thread: null, edited });
      return { status: 200, body: { ok: true, result: { message_id: Number(edited), text: shown } } };
    }
    known.set(String(1_001 + taken.length), html);
    taken.push({
      json: request.json,
      thread: reply_parameters === undefined ? null : String(reply_parameters.message_id),
    });
    return {
      status: 200,
      body: {
        ok: true,
        result: { message_id: 1_000 + taken.length, chat: { id: Number(chat_id) }, text: shown },
      },
    };
  },
  tooMany: telegramError(429, 'Too Many Requests: retry after 35', { retry_after: 35 }),
  retryAfterMs: 35_000,
  threads: 'reference',
  edits: '999',
};

const MATRIX_CONTENT = {
  msgtype: { const: 'm.text' },
  body: text(60_000),
  format: { const: 'org.matrix.custom.html' },
  formatted_body: text(60_000),
  'm.mentions': shape({}),
};
const MATRIX = shape({
  ...MATRIX_CONTENT,
  'm.relates_to?': shape({
    rel_type: { const: 'm.thread' },
    event_id: text(255, { pattern: '^\\$' }),
    is_falling_back: { const: true },
    'm.in_reply_to': shape({ event_id: text(255) }),
  }),
});
const MATRIX_EDIT = shape({
  ...MATRIX_CONTENT,
  body: text(60_000, { pattern: '^\\* ' }),
  'm.new_content': shape(MATRIX_CONTENT),
  'm.relates_to': shape({
    rel_type: { const: 'm.replace' },
    event_id: text(255, { pattern: '^\\$' }),
  }),
});
const matrixError = (status: number, errcode: string, error: string, more: object = {}): Reply => ({
  status,
  body: { errcode, error, ...more },
});
const MATRIX_ROOM = '!ro/om?#1:example.com';
const matrixTo =
  (room: string, token = 'syt_good') =>
  (origin: string) => ({ server: origin, room, token });
const matrix: Receiver = {
  kind: 'matrix',
  settings: matrixTo(MATRIX_ROOM),
  refused: [
    {
      settings: matrixTo(MATRIX_ROOM, 'syt_bad'),
      problem: { code: 'status', statusCode: 401, text: 'M_UNKNOWN_TOKEN: Invalid access token passed.' },
    },
    {
      settings: matrixTo('!other:example.com'),
      problem: { code: 'status', statusCode: 403, text: 'M_FORBIDDEN: User not in room' },
    },
  ],
  take(request, { taken, known }) {
    const [, room = '', txn = ''] =
      /^\/_matrix\/client\/v3\/rooms\/([^/]+)\/send\/m\.room\.message\/([^/]+)$/.exec(request.path) ?? [];
    if (request.method !== 'PUT' || room === '')
      return matrixError(404, 'M_UNRECOGNIZED', 'Unrecognized request');
    if (bearer(request) !== 'syt_good')
      return matrixError(401, 'M_UNKNOWN_TOKEN', 'Invalid access token passed.');
    if (decodeURIComponent(room) !== MATRIX_ROOM) return matrixError(403, 'M_FORBIDDEN', 'User not in room');
    if (Buffer.byteLength(request.body) > 65_536 - 1_000)
      return matrixError(413, 'M_TOO_LARGE', 'event too large');
    const relation = (request.json as { 'm.relates_to'?: { rel_type: string; event_id: string } })?.[
      'm.relates_to'
    ];
    const isEdit = relation?.rel_type === 'm.replace';
    const wrong = wrongShape(isEdit ? MATRIX_EDIT : MATRIX, request.json);
    if (wrong !== null) return matrixError(400, 'M_BAD_JSON', wrong);
    if (readHtml(said(request.json, 'formatted_body'), ['b', 'a', 'br', 'ul', 'li']) === null)
      return matrixError(400, 'M_BAD_JSON', 'HTML');
    // The same transaction is the same event.
    const before = known.get(txn);
    if (before !== undefined) return { status: 200, body: { event_id: before } };
    const event = `$event${taken.length}`;
    known.set(txn, event);
    const { event_id: related = null } = relation ?? {};
    taken.push({
      json: request.json,
      thread: isEdit ? null : related,
      ...(isEdit && related !== null ? { edited: related } : {}),
    });
    return { status: 200, body: { event_id: event } };
  },
  tooMany: matrixError(429, 'M_LIMIT_EXCEEDED', 'Too Many Requests', { retry_after_ms: 2_150 }),
  retryAfterMs: 2_150,
  threads: 'reference',
  edits: true,
};

/** Services of chats. */
export const CHAT_RECEIVERS: readonly Receiver[] = [
  mattermostHook,
  mattermostBot,
  googleChat,
  telegram,
  matrix,
];
