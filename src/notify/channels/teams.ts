/**
 * Kind `teams`: a Workflows webhook of Microsoft Teams, which posts an Adaptive Card. The connectors of Office 365 are gone. A message
 * has at most 28 KB. Workflows cannot answer in a thread.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject } from '../../json-schema.ts';
import { defineChannel, hookForm, hostOf, SECRET, urlSetting } from './define-channel.ts';
import { type Fact, type MessageText, plainPhrase, renderMessage, type Tone } from './message-text.ts';
import { type ResponseRules, resultOf, sendRequest, textMember } from './send-request.ts';

const HOOK_EXAMPLE =
  'https://example.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/…/triggers/manual/paths/invoke?…&sig=…';
const COLOURS: Readonly<Record<Tone, string>> = {
  bad: 'attention',
  warning: 'warning',
  good: 'good',
  info: 'accent',
};

const RULES: ResponseRules = { explain: (json) => textMember(json, 'error', 'message') };

export const teamsChannel = defineChannel({
  settings: strictObject({
    url: urlSetting(
      'Workflow URL',
      'Of the workflow "Send webhook alerts to a channel": the channel\'s menu, Workflows.',
      HOOK_EXAMPLE,
      SECRET,
    ),
  }),
  forms: { url: hookForm(HOOK_EXAMPLE) },
  // Four messages a second by a workflow.
  paceMs: 250,
  describe: ({ url }) => hostOf(url),
  async send(tools, sending, { url }) {
    const { message, channel } = sending;
    const card = cardOf(renderMessage(message, channel.language), channel.language);
    const json = {
      type: 'message',
      attachments: [
        { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card },
      ],
    };
    return resultOf(await sendRequest(tools, sending, { url, json, secrets: [url] }, RULES));
  },
});

function cardOf(
  { tone, title, facts, text, services, more, links }: MessageText,
  language: MessageLanguage,
): object {
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: title,
    msteams: { width: 'Full' },
    body: [
      line({ text: title, weight: 'Bolder', size: 'Large', color: COLOURS[tone] }),
      ...facts.map((fact) => factLine(fact, language)),
      ...(text === '' ? [] : text.split('\n').map((paragraph) => line({ text: paragraph }))),
      ...services.map(({ name, text }) =>
        line({ text: `• ${name}`, weight: 'Bolder' }, { text: text === '' ? '' : `: ${text}` }),
      ),
      ...(more === null ? [] : [line({ text: more })]),
    ],
    actions: links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
  };
}

/** Text blocks are Markdown and text runs are not: foreign text is in runs only. */
function line(...runs: readonly { readonly text: string; readonly [option: string]: string }[]): object {
  const inlines = runs.filter(({ text }) => text !== '').map((run) => ({ type: 'TextRun', ...run }));
  // A run without text is not valid.
  return {
    type: 'RichTextBlock',
    inlines: inlines.length === 0 ? [{ type: 'TextRun', text: ' ' }] : inlines,
  };
}

function factLine({ label, value }: Fact, language: MessageLanguage): object {
  const [only] = value;
  if (value.length !== 1 || only === undefined || typeof only === 'string')
    return line({ text: `${label}: `, weight: 'Bolder' }, { text: plainPhrase(value, language) });
  // Functions of times work in text blocks: Teams shows the reader's time zone. They take no milliseconds.
  const at = `${new Date(only.at).toISOString().slice(0, 19)}Z`;
  return {
    type: 'TextBlock',
    wrap: true,
    spacing: 'Small',
    text: `**${label}:** {{DATE(${at},SHORT)}} {{TIME(${at})}}`,
  };
}
