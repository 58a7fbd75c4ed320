/** Slack, Discord and Teams, as their documentation describes them. */
import { findSlackCommand, list, oneOf, shape, text, url, wrongShape } from './receiver-checks.ts';
import type { Memory, ReceivedRequest, Receiver, Reply } from './receivers.ts';

const isJson = ({ headers }: ReceivedRequest) => /^application\/json\b/.test(headers['content-type'] ?? '');
const bearer = ({ headers }: ReceivedRequest) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
const said = (json: unknown, member: string): string =>
  String((json as Record<string, unknown> | null)?.[member] ?? '');

const SlackText = (max: number, type: string, more: object) =>
  shape({ type: { const: type }, text: text(max), ...more });
const SLACK_BLOCKS = list(
  {
    oneOf: [
      shape({
        type: { const: 'header' },
        text: SlackText(150, 'plain_text', { 'emoji?': { type: 'boolean' } }),
      }),
      shape({ type: { const: 'section' }, text: SlackText(3_000, 'mrkdwn', { verbatim: { const: true } }) }),
    ],
  },
  50,
);
const SLACK_HOOK = shape({ text: text(40_000), blocks: SLACK_BLOCKS });
const SLACK_UPDATE = shape({
  channel: text(80),
  ts: text(30, { pattern: '^\\d+\\.\\d+$' }),
  text: text(40_000),
  blocks: SLACK_BLOCKS,
});
const SLACK_POST = shape({
  channel: text(80),
  text: text(40_000),
  blocks: SLACK_BLOCKS,
  unfurl_links: { type: 'boolean' },
  unfurl_media: { type: 'boolean' },
  'thread_ts?': text(30, { pattern: '^\\d+\\.\\d+$' }),
  'reply_broadcast?': { type: 'boolean' },
});

/** Why Slack refuses a payload, in its words; null: it takes it. */
function wrongSlack(schema: object, request: ReceivedRequest): string | null {
  if (!isJson(request) || request.json === null) return 'invalid_payload';
  const wrong = wrongShape(schema, request.json);
  if (wrong !== null) return `invalid_blocks ${wrong}`;
  const { blocks, text } = request.json as {
    blocks: { type: string; text: { text: string } }[];
    text: string;
  };
  const marked = [text, ...blocks.filter(({ type }) => type === 'section').map(({ text }) => text.text)];
  const command = marked.map(findSlackCommand).find((found) => found !== null) ?? null;
  return command === null ? null : `a mention: ${command}`;
}

const slackHook: Receiver = {
  kind: 'slack',
  settings: (origin) => ({ url: `${origin}/hooks.slack.com/services/T1/B1/good` }),
  refused: [
    ['gone', 404, 'no_service'],
    ['archived', 410, 'channel_is_archived'],
    ['prohibited', 403, 'action_prohibited'],
  ].map(([path, statusCode, text]) => ({
    settings: (origin) => ({ url: `${origin}/hooks.slack.com/services/T1/B1/${path}` }),
    problem: { code: 'status', statusCode, text },
  })),
  take(request, { taken }) {
    const last = request.path.split('/').at(-1);
    if (last === 'archived') return { status: 410, body: 'channel_is_archived' };
    if (last === 'prohibited') return { status: 403, body: 'action_prohibited' };
    if (request.method !== 'POST' || request.path !== '/services/T1/B1/good')
      return { status: 404, body: 'no_service' };
    const wrong = wrongSlack(SLACK_HOOK, request);
    if (wrong !== null) return { status: 400, body: wrong };
    taken.push({ json: request.json, thread: null });
    return { status: 200, body: 'ok' };
  },
  tooMany: { status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' },
  retryAfterMs: 30_000,
  threads: 'none',
};

const BOT = { token: 'xoxb-1-good', channel: 'C0123456789' };
const slackBot: Receiver = {
  kind: 'slack',
  name: 'slack, bot',
  settings: () => BOT,
  refused: [
    { settings: () => ({ ...BOT, token: 'xoxb-1-bad' }), problem: { code: 'text', text: 'invalid_auth' } },
    {
      settings: () => ({ ...BOT, channel: 'C9999999999' }),
      problem: { code: 'text', text: 'channel_not_found' },
    },
    {
      settings: () => ({ ...BOT, channel: 'C0000000OUT' }),
      problem: { code: 'text', text: 'not_in_channel' },
    },
    {
      settings: () => ({ ...BOT, channel: 'C00000DOWN0' }),
      problem: { code: 'text', text: 'internal_error' },
      outcome: 'failed',
    },
  ],
  take(request, { taken, known }) {
    // Errors of the Web API come with status 200.
    const error = (name: string): Reply => ({ status: 200, body: { ok: false, error: name } });
    const method = /^\/api\/(chat\.postMessage|chat\.update)$/.exec(request.path)?.[1];
    if (request.method !== 'POST' || method === undefined) return error('unknown_method');
    if (bearer(request) !== BOT.token)
      return error(bearer(request) === undefined ? 'not_authed' : 'invalid_auth');
    const channel = said(request.json, 'channel');
    if (channel === 'C0000000OUT') return error('not_in_channel');
    if (channel === 'C00000DOWN0') return error('internal_error');
    if (channel !== BOT.channel) return error('channel_not_found');
    const wrong = wrongSlack(method === 'chat.update' ? SLACK_UPDATE : SLACK_POST, request);
    if (wrong !== null) return error(wrong);
    if (method === 'chat.update') {
      const edited = said(request.json, 'ts');
      if (!known.has(edited)) return error('message_not_found');
      taken.push({ json: request.json, thread: null, edited });
      return { status: 200, body: { ok: true, channel, ts: edited } };
    }
    const thread = (request.json as { thread_ts?: string }).thread_ts ?? null;
    if (thread !== null && !known.has(thread)) return error('thread_not_found');
    const ts = `1795168800.${String(taken.length).padStart(6, '0')}`;
    known.set(ts, ts);
    taken.push({ json: request.json, thread });
    return { status: 200, body: { ok: true, channel, ts, message: { text: said(request.json, 'text') } } };
  },
  tooMany: { status: 429, headers: { 'retry-after': '7' }, body: { ok: false, error: 'ratelimited' } },
  retryAfterMs: 7_000,
  threads: 'reference',
  edits: '1.1',
  needsBody: true,
};

const DISCORD = shape({
  content: text(2_000),
  allowed_mentions: shape({ parse: { type: 'array', maxItems: 0 } }),
  embeds: list(
    shape({
      color: { type: 'integer', minimum: 0, maximum: 0xffffff },
      description: text(4_096),
      fields: {
        type: 'array',
        maxItems: 25,
        items: shape({ name: text(256), value: text(1_024), inline: { type: 'boolean' } }),
      },
    }),
    10,
  ),
  'thread_name?': text(100),
});

function takeDiscord(request: ReceivedRequest, { taken, known }: Memory): Reply {
  const [, , , id, token, ofMessages, edited] = request.path.split('/');
  const isEdit = ofMessages === 'messages' && edited !== undefined;
  if (request.method !== (isEdit ? 'PATCH' : 'POST') || !['1', '2'].includes(id ?? ''))
    return { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } };
  if (token !== 'good') return { status: 401, body: { message: 'Invalid Webhook Token', code: 50_027 } };
  const invalid = (found: string): Reply => ({
    status: 400,
    body: { message: `Invalid Form Body ${found}`, code: 50_035 },
  });
  const wrong = isJson(request) ? wrongShape(DISCORD, request.json) : 'content type';
  if (wrong !== null) return invalid(wrong);
  const { embeds, thread_name } = request.json as {
    embeds: { description: string; fields: { name: string; value: string }[] }[];
    thread_name?: string;
  };
  const total = embeds.flatMap(({ description, fields }) => [
    description,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ]);
  if (total.join('').length > 6_000) return invalid('Embed size exceeds maximum size of 6000');
  const thread = request.query.get('thread_id');
  const isForum = id === '2';
  if (isEdit) {
    if (thread_name !== undefined) return invalid('thread_name');
    if (known.get(`message ${edited}`) !== (thread ?? '55'))
      return { status: 404, body: { message: 'Unknown Message', code: 10_008 } };
    taken.push({ json: request.json, thread, edited });
    return { status: 200, body: { id: edited, channel_id: thread ?? '55' } };
  }
  if (isForum && thread === null && thread_name === undefined)
    return {
      status: 400,
      body: {
        message: 'Webhooks posted to forum channels must have a thread_name or thread_id',
        code: 220_001,
      },
    };
  if (!isForum && thread_name !== undefined)
    return {
      status: 400,
      body: { message: 'Webhooks can only create threads in forum channels', code: 220_003 },
    };
  if (thread !== null && !known.has(thread))
    return { status: 404, body: { message: 'Unknown Channel', code: 10_003 } };
  // Without `wait` there is no answer, and what is not stored is lost.
  if (request.query.get('wait') !== 'true') return { status: 204 };
  const channel = thread ?? (isForum ? `90${taken.length}` : '55');
  known.set(channel, channel);
  taken.push({ json: request.json, thread });
  const message = `80${taken.length}`;
  known.set(`message ${message}`, channel);
  return { status: 200, body: { id: message, channel_id: channel } };
}

const DISCORD_LIMIT = {
  tooMany: {
    status: 429,
    headers: { 'retry-after': '2', 'x-ratelimit-scope': 'user' },
    body: { message: 'You are being rate limited.', retry_after: 1.337, global: false },
  },
  retryAfterMs: 1_337,
  needsBody: true,
};
const discord = (id: string, token: string) => (origin: string) => ({
  url: `${origin}/discord.com/api/webhooks/${id}/${token}`,
});
const discordText: Receiver = {
  kind: 'discord',
  settings: discord('1', 'good'),
  refused: [
    { settings: discord('9', 'good'), problem: { code: 'status', statusCode: 404, text: 'Unknown Webhook' } },
    {
      settings: discord('1', 'bad'),
      problem: { code: 'status', statusCode: 401, text: 'Invalid Webhook Token' },
    },
    {
      settings: discord('2', 'good'),
      problem: {
        code: 'status',
        statusCode: 400,
        text: 'Webhooks posted to forum channels must have a thread_name or thread_id',
      },
    },
  ],
  take: takeDiscord,
  threads: 'none',
  edits: '999',
  ...DISCORD_LIMIT,
};
const discordForum: Receiver = {
  ...discordText,
  name: 'discord, forum',
  settings: (origin) => ({ ...discord('2', 'good')(origin), forum: true }),
  refused: [
    {
      settings: (origin) => ({ ...discord('1', 'good')(origin), forum: true }),
      problem: {
        code: 'status',
        statusCode: 400,
        text: 'Webhooks can only create threads in forum channels',
      },
    },
  ],
  threads: 'reference',
};

const TextRun = shape({
  type: { const: 'TextRun' },
  text: text(10_000),
  'weight?': oneOf('Bolder'),
  'size?': oneOf('Large'),
  'color?': oneOf('attention', 'warning', 'good', 'accent'),
});
const TEAMS = shape({
  type: { const: 'message' },
  attachments: list(
    shape({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: shape({
        $schema: { type: 'string' },
        type: { const: 'AdaptiveCard' },
        version: { const: '1.4' },
        fallbackText: text(1_000),
        msteams: shape({ width: { const: 'Full' } }),
        body: list(
          {
            oneOf: [
              shape({ type: { const: 'RichTextBlock' }, inlines: list(TextRun, 10) }),
              // Markdown and functions: only our own label and a time.
              shape({
                type: { const: 'TextBlock' },
                wrap: { const: true },
                spacing: oneOf('Small'),
                text: text(200, {
                  pattern:
                    '^\\*\\*[^*{}]+:\\*\\* \\{\\{DATE\\(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ,SHORT\\)\\}\\} \\{\\{TIME\\([-0-9T:]+Z\\)\\}\\}$',
                }),
              }),
            ],
          },
          100,
        ),
        actions: list(shape({ type: { const: 'Action.OpenUrl' }, title: text(100), url: url() }), 6),
      }),
    }),
    1,
  ),
});

const teamsUrl = (path: string) => (origin: string) => ({ url: `${origin}/powerautomate/${path}` });
const teamsError = (status: number, code: string, message: string): Reply => ({
  status,
  body: { error: { code, message } },
});
const teams: Receiver = {
  kind: 'teams',
  settings: teamsUrl('workflows/1/triggers/manual/paths/invoke?api-version=1&sig=good'),
  refused: [
    {
      settings: teamsUrl('workflows/1/triggers/manual/paths/invoke?sig=bad'),
      problem: { code: 'status', statusCode: 401, text: 'The request is not authorized.' },
    },
    {
      settings: teamsUrl('workflows/9?sig=good'),
      problem: { code: 'status', statusCode: 404, text: 'The workflow could not be found.' },
    },
    {
      settings: teamsUrl('workflows/off?sig=good'),
      problem: { code: 'status', statusCode: 400, text: 'The trigger is not enabled.' },
    },
  ],
  take(request, { taken }) {
    if (request.query.get('sig') !== 'good')
      return teamsError(401, 'DirectApiAuthorizationRequired', 'The request is not authorized.');
    if (request.path.endsWith('/off'))
      return teamsError(400, 'WorkflowTriggerIsNotEnabled', 'The trigger is not enabled.');
    if (!request.path.includes('/workflows/1/'))
      return teamsError(404, 'WorkflowNotFound', 'The workflow could not be found.');
    if (Buffer.byteLength(request.body) > 28 * 1024)
      return teamsError(413, 'RequestEntityTooLarge', 'too large');
    const wrong = isJson(request) ? wrongShape(TEAMS, request.json) : 'content type';
    if (wrong !== null) return teamsError(400, 'InvalidRequest', wrong);
    taken.push({ json: request.json, thread: null });
    return { status: 202 };
  },
  tooMany: {
    status: 429,
    headers: { 'retry-after': '11' },
    body: { error: { code: 'TooManyRequests', message: 'Rate limit is exceeded.' } },
  },
  retryAfterMs: 11_000,
  threads: 'none',
};

/** Services of teams. */
export const ROOM_RECEIVERS: readonly Receiver[] = [slackHook, slackBot, discordText, discordForum, teams];
