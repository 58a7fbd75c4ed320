/**
 * Writes what each kind of channel sends as a page that looks roughly as in the medium, for people to look at:
 *
 *     node test/notify/channels/gallery.ts FOLDER [en|de]
 *
 * FOLDER gets `gallery.html`, and with Chromium `gallery.png` and `alert-channels.png`, the picture of the documents.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../../src/clock.ts';
import { NO_TIMING } from '../../../src/domain/result.ts';
import { escapeMarkup } from '../../../src/language/phrase.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { launchBrowser } from '../../support/browser.ts';
import { RECEIVERS, type Receiver } from './receivers.ts';
import { HOSTILE_MESSAGE, SAMPLES } from './sample-messages.ts';

const MESSAGES = { ...SAMPLES, hostile: HOSTILE_MESSAGE };
const SHOWN: readonly (keyof typeof MESSAGES)[] = [
  'alert',
  'group',
  'recovery',
  'flapping',
  'certificate',
  'incident',
  'test',
  'hostile',
];
/** What the picture of the documents shows. */
const PICTURED: readonly string[] = ['slack', 'discord', 'telegram', 'ntfy'];

type Json = Readonly<Record<string, unknown>>;
type Draw = (json: Json) => string;

/** The body that a kind sends. */
async function payloadOf(
  receiver: Receiver,
  name: keyof typeof MESSAGES,
  language: 'en' | 'de',
): Promise<Json> {
  const { kind } = receiver;
  if (kind === 'email') return {};
  const bodies: Json[] = [];
  await CHANNEL_KINDS_TABLE[kind].send(
    {
      outbound: {
        async request({ url, body }) {
          bodies.push(JSON.parse(String(body)));
          const answer = Buffer.from('{"ok":true}');
          return { status: 200, headers: {}, body: answer, fault: null, timing: NO_TIMING, url };
        },
      },
      policy: { allowPrivate: [], ports: [] },
      mailer: null,
      clock: systemClock,
      siteUrl: 'https://status.example.org',
    },
    {
      channel: {
        id: 1,
        accountId: 1,
        name: 'Ops',
        kind,
        settings: receiver.settings('https://gallery.example'),
        language,
        confirmedAt: 0,
        createdAt: 0,
        revision: 1,
      },
      message: MESSAGES[name],
      reference: null,
      id: 'msg_1',
      signal: new AbortController().signal,
    },
  );
  return bodies[0] ?? {};
}

/** The reader's time, as a client in Berlin shows it. */
const readersTime = (seconds: number) =>
  new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'Europe/Berlin',
  }).format(seconds * 1_000);

/** Text as it is, escaped for the page. */
const plain = (text: unknown) => escapeMarkup(String(text ?? '')).replaceAll('\n', '<br>');

/** Slack's mrkdwn, which has `&`, `<` and `>` escaped already. */
const slack = (text: string) =>
  text
    .replace(/<!date\^(\d+)\^[^|]*\|[^>]*>/g, (_, seconds: string) => readersTime(Number(seconds)))
    .replace(/<([^|>]+)\|([^>]*)>/g, '<a href="$1">$2</a>')
    .replace(/\*([^*\n]+)\*/g, '<b>$1</b>')
    .replaceAll('\n', '<br>');

/** Markdown of Discord and Mattermost: escapes first, so that they open nothing. */
const markdown = (text: string) => {
  const kept: string[] = [];
  const keep = (character: string) => `\uE000${kept.push(escapeMarkup(character)) - 1}\uE001`;
  return escapeMarkup(text.replace(/\\([^\w\s])/g, (_, character: string) => keep(character)))
    .replace(/&lt;t:(\d+):f&gt;/g, (_, seconds: string) => readersTime(Number(seconds)))
    .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>')
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, '<a href="$2">$1</a>')
    .replace(/^- /gm, '• ')
    .replaceAll('\n', '<br>')
    .replace(/\uE000(\d+)\uE001/g, (_, at: string) => kept[Number(at)] ?? '');
};

const listOf = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : []);
const member = (value: unknown, name: string) => (value as Json | undefined)?.[name];
const buttons = (labels: readonly unknown[]) =>
  labels.map((label) => `<span class="button">${plain(label)}</span>`).join(' ');
const phone = (title: unknown, text: unknown, links: readonly unknown[] = []) =>
  `<div class="phone"><b>${plain(title)}</b><p>${plain(text)}</p>${buttons(links)}</div>`;

const drawSlack: Draw = ({ blocks }) =>
  `<div class="slack">${listOf(blocks)
    .map(({ type, text }) => {
      const shown = String(member(text, 'text'));
      return type === 'header' ? `<h3>${plain(shown)}</h3>` : `<p>${slack(shown)}</p>`;
    })
    .join('')}</div>`;

const drawDiscord: Draw = ({ content, embeds, thread_name }) =>
  `<div class="discord">${thread_name === undefined ? '' : `<h3>${plain(thread_name)}</h3>`}<p>${markdown(String(content))}</p>${listOf(
    embeds,
  )
    .map(
      ({ color, description, fields }) =>
        `<div class="embed" style="border-color:#${Number(color).toString(16).padStart(6, '0')}"><p>${markdown(String(description))}</p><div class="fields">${listOf(
          fields,
        )
          .map(({ name, value }) => `<div><b>${plain(name)}</b><br>${markdown(String(value))}</div>`)
          .join('')}</div></div>`,
    )
    .join('')}</div>`;

const TEAMS_COLOURS: Readonly<Record<string, string>> = {
  attention: '#c4314b',
  warning: '#8a6100',
  good: '#237b4b',
  accent: '#5b5fc7',
};
const drawTeams: Draw = ({ attachments }) => {
  const [attachment] = listOf(attachments);
  const card = member(attachment, 'content');
  const run = ({ text, weight, size, color }: Json) =>
    `<span style="${weight === 'Bolder' ? 'font-weight:600;' : ''}${size === 'Large' ? 'font-size:1.2em;' : ''}color:${TEAMS_COLOURS[String(color)] ?? 'inherit'}">${plain(text)}</span>`;
  const body = listOf(member(card, 'body')).map(({ inlines, text }) =>
    inlines === undefined
      ? String(text)
          .replace(/\*\*(.+?)\*\*/, '<b>$1</b>')
          .replace(/\{\{DATE\(([^,]+),SHORT\)\}\} \{\{TIME\([^)]*\)\}\}/, (_, at: string) =>
            readersTime(Date.parse(at) / 1_000),
          )
      : listOf(inlines).map(run).join(''),
  );
  return `<div class="teams">${body.map((line) => `<p>${line}</p>`).join('')}${buttons(listOf(member(card, 'actions')).map(({ title }) => title))}</div>`;
};

const drawGoogle: Draw = ({ text, cardsV2 }) => {
  const [card] = listOf(cardsV2);
  const [section] = listOf(member(member(card, 'card'), 'sections'));
  const widgets = listOf(member(section, 'widgets')).map(({ textParagraph, buttonList }) =>
    textParagraph === undefined
      ? buttons(listOf(member(buttonList, 'buttons')).map(({ text }) => text))
      : `<p>${member(textParagraph, 'text')}</p>`,
  );
  return `<div class="google"><p>${plain(text)}</p><div class="card">${widgets.join('')}</div></div>`;
};

const drawIncident = (title: unknown, level: unknown, details: string) =>
  `<div class="incident"><p><b>${plain(title)}</b> <code>${plain(level)}</code></p>${details}</div>`;

const DRAWINGS: Readonly<Record<string, Draw>> = {
  slack: drawSlack,
  discord: drawDiscord,
  teams: drawTeams,
  mattermost: ({ text, message }) => `<div class="mattermost">${markdown(String(text ?? message))}</div>`,
  'google-chat': drawGoogle,
  telegram: ({ text }) => `<div class="telegram">${String(text).replaceAll('\n', '<br>')}</div>`,
  matrix: ({ formatted_body }) => `<div class="matrix">${formatted_body}</div>`,
  ntfy: ({ title, message, tags, actions }) =>
    phone(
      `${{ red_circle: '🔴', yellow_circle: '🟡', green_circle: '🟢', large_blue_circle: '🔵' }[String(tags)] ?? ''} ${title}`,
      message,
      listOf(actions).map(({ label }) => label),
    ),
  gotify: ({ title, message }) => phone(title, message),
  pushover: ({ title, message, url_title }) =>
    phone(title, message, url_title === undefined ? [] : [url_title]),
  pagerduty: ({ event_action, payload }) =>
    drawIncident(
      member(payload, 'summary') ?? `(${event_action})`,
      member(payload, 'severity') ?? event_action,
      Object.entries((member(payload, 'custom_details') as Json | undefined) ?? {})
        .map(([name, value]) => `<p>${plain(name)}: ${plain(value)}</p>`)
        .join(''),
    ),
  opsgenie: ({ message, priority, description, note }) =>
    drawIncident(message ?? '(note)', priority ?? '', `<p>${plain(description ?? note)}</p>`),
  webhook: (json) => `<pre>${escapeMarkup(JSON.stringify(json, null, 1))}</pre>`,
};

const STYLE = `
body { font: 14px/1.4 "DejaVu Sans", "Noto Color Emoji", sans-serif; background: #e9ebee; margin: 16px; }
table { border-spacing: 8px; } th { text-align: left; vertical-align: top; } td { vertical-align: top; width: 340px; max-width: 340px; overflow-wrap: anywhere; }
p { margin: 4px 0; } h3 { margin: 0 0 6px; font-size: 1.15em; } a { color: #1264a3; } pre { font-size: 10px; white-space: pre-wrap; }
.slack, .mattermost, .matrix, .google, .teams, .incident, pre { background: #fff; border-radius: 6px; padding: 10px; }
.discord { background: #313338; color: #dbdee1; border-radius: 6px; padding: 10px; } .discord a { color: #00a8fc; }
.embed { background: #2b2d31; border-left: 4px solid; border-radius: 4px; padding: 8px; margin-top: 6px; } .fields { display: grid; grid-template-columns: 1fr 1fr; gap: 6px; }
.telegram { background: #eeffde; border-radius: 12px; padding: 10px; } .google .card { border: 1px solid #ccc; border-radius: 8px; padding: 8px; }
.phone { background: #f7f7fa; border-radius: 14px; padding: 10px 14px; box-shadow: 0 1px 3px #0004; } .button { display: inline-block; border: 1px solid #888; border-radius: 4px; padding: 2px 10px; color: #1264a3; }
.picture { width: 1200px; columns: 2; } .picture > section { break-inside: avoid; margin-bottom: 14px; } h4 { margin: 0 0 4px; color: #555; }
`;

const [folder = '.', chosen] = process.argv.slice(2);
const language = chosen === 'de' ? 'de' : 'en';
mkdirSync(folder, { recursive: true });

const kinds = RECEIVERS.filter(({ name }) => name === undefined);
const drawn = new Map<string, string>();
for (const receiver of kinds)
  for (const name of SHOWN)
    drawn.set(
      `${receiver.kind} ${name}`,
      (DRAWINGS[receiver.kind] ?? String)(await payloadOf(receiver, name, language)),
    );

/** Fonts of emoji are missing on many machines. */
const circles = (html: string) =>
  Object.entries({ '🔴': '#c62828', '🟡': '#f9a825', '🟢': '#2e7d32', '🔵': '#1565c0' }).reduce(
    (shown, [circle, colour]) => shown.replaceAll(circle, `<span style="color:${colour}">⬤</span>`),
    html,
  );
const page = (body: string) =>
  `<!doctype html><meta charset="utf-8"><title>Alerts</title><style>${STYLE}</style>${circles(body)}`;
const rows = kinds.map(
  ({ kind }) =>
    `<tr><th>${kind}</th>${SHOWN.map((name) => `<td>${drawn.get(`${kind} ${name}`)}</td>`).join('')}</tr>`,
);
const file = join(folder, 'gallery.html');
writeFileSync(
  file,
  page(
    `<table><tr><th></th>${SHOWN.map((name) => `<th>${name}</th>`).join('')}</tr>${rows.join('')}</table>`,
  ),
);

const sections = PICTURED.flatMap((kind) =>
  ['alert', 'recovery'].map((name) => `<section><h4>${kind}</h4>${drawn.get(`${kind} ${name}`)}</section>`),
);
const browser = await launchBrowser();
try {
  const view = await browser.newPage({ viewport: { width: 3_000, height: 1_000 } });
  await view.goto(pathToFileURL(file).href);
  await view.screenshot({ path: join(folder, 'gallery.png'), fullPage: true });
  await view.setViewportSize({ width: 1_240, height: 400 });
  await view.setContent(page(`<div class="picture">${sections.join('')}</div>`));
  await view.screenshot({ path: join(folder, 'alert-channels.png'), fullPage: true });
} finally {
  await browser.close();
}
