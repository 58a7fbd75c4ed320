/**
 * Writes a letter as plain text and as HTML. The HTML needs neither tables nor images nor scripts: styles stand in the elements,
 * since many mail programs drop the others, and a style sheet adds the dark scheme.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import { plainPhrase, renderMessage, TONE_COLOURS, TONE_MARKS, type Tone } from './message-text.ts';

interface LetterLink {
  readonly label: string;
  readonly url: string;
}

/** The content of a letter. Texts are plain, and foreign ones are cleaned and cut already. */
export interface LetterContent {
  readonly language: MessageLanguage;
  /** The colour at its head, and the mark before its subject; null: neither. */
  readonly tone: Tone | null;
  /** The subject and the heading. */
  readonly title: string;
  /** The preview that mail programs show beside the subject; empty: the first words of the letter. */
  readonly preheader: string;
  readonly facts: readonly { readonly label: string; readonly value: string; readonly url?: string }[];
  /** Lines of text; an empty line begins a paragraph. */
  readonly text: string;
  readonly services: readonly { readonly name: string; readonly url: string; readonly text: string }[];
  /** The text below the services; null: none. */
  readonly more: string | null;
  /** The first one is the button that most readers want. */
  readonly links: readonly LetterLink[];
  /** Why the reader gets it, and how to end that. */
  readonly footer: { readonly text: string; readonly links: readonly LetterLink[] };
}

export interface WrittenLetter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Maximum length of a line of plain text; longer ones are broken between words. */
const LINE_LENGTH = 76;

export function writeLetter(content: LetterContent): WrittenLetter {
  const { tone, title } = content;
  return {
    subject: tone === null ? title : `${TONE_MARKS[tone]} ${title}`,
    text: writeText(content),
    html: writeHtml(content),
  };
}

function writeText({ title, facts, text, services, more, links, footer }: LetterContent): string {
  const blocks = [
    wrap(title),
    facts
      .map(({ label, value, url }) => wrap(`${label}: ${value}${url === undefined ? '' : ` ${url}`}`, '  '))
      .join('\n'),
    text
      .split('\n')
      .map((line) => wrap(line))
      .join('\n'),
    [
      ...services.map(
        ({ name, text: line, url }) =>
          `${wrap(`- ${name}${line === '' ? '' : `: ${line}`}`, '  ')}\n  ${url}`,
      ),
      ...(more === null ? [] : [more]),
    ].join('\n'),
    links.map(({ label, url }) => `${label}:\n${url}`).join('\n\n'),
    // The separator of signatures: mail programs show what follows apart, and leave it out of replies.
    ['-- ', wrap(footer.text), ...footer.links.map(({ label, url }) => `${label}: ${url}`)].join('\n'),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** The text in lines of at most {@link LINE_LENGTH} where it has blanks; all but the first line begin with `indent`. */
function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > LINE_LENGTH) {
      lines.push(line);
      line = indent + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const LIGHT = {
  page: '#f3f4f6',
  card: '#ffffff',
  ink: '#1b1f24',
  faint: '#57606a',
  line: '#d8dee4',
  link: '#0b57d0',
};
/** The dark scheme, for mail programs that know media queries; the others turn the colours by themselves. */
const DARK_STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#0d1117!important}.card{background:#161b22!important;border-right-color:#30363d!important;border-bottom-color:#30363d!important;border-left-color:#30363d!important}
.ink{color:#e6edf3!important}.faint{color:#9aa4af!important}.line{border-color:#30363d!important}
.link{color:#8ab4f8!important}.button{background:#8ab4f8!important;color:#0d1117!important}
.other{color:#8ab4f8!important;border-color:#8ab4f8!important}
}
@media (max-width:420px){.label{display:block!important}.card{padding:20px 16px!important}.page{padding:8px!important}.button,.other{display:block!important;text-align:center;margin-right:0!important}}`;
const BAR = (tone: Tone | null): string =>
  tone === null ? LIGHT.link : `#${TONE_COLOURS[tone].toString(16).padStart(6, '0')}`;

function writeHtml(content: LetterContent): string {
  const { language, tone, title, preheader, footer } = content;
  // Invisible characters keep mail programs from adding the text below to the preheader.
  const padding = '&#847;&zwnj;&nbsp;'.repeat(60);
  const hidden = `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escapeMarkup(preheader)}${padding}</div>`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeMarkup(title)}</title>
<style>${DARK_STYLE}
</style>
</head>
<body class="page" style="margin:0;padding:24px 12px;background:${LIGHT.page};${FONT};font-size:16px;line-height:1.5">
${preheader === '' ? '' : `${hidden}\n`}<div class="card" style="max-width:560px;margin:0 auto;padding:24px;background:${LIGHT.card};border:1px solid ${LIGHT.line};border-top:6px solid ${BAR(tone)};border-radius:8px">
<h1 class="ink" style="margin:0 0 16px;font-size:21px;line-height:1.3;color:${LIGHT.ink};overflow-wrap:anywhere">${escapeMarkup(title)}</h1>
${[writeFacts(content), writeParagraphs(content), writeServices(content), writeLinks(content)].filter((part) => part !== '').join('\n')}
</div>
<div class="faint" style="max-width:560px;margin:16px auto 0;padding:0 4px;font-size:13px;color:${LIGHT.faint};overflow-wrap:anywhere">
<p style="margin:0 0 8px">${escapeMarkup(footer.text)}</p>
<p style="margin:0">${footer.links.map(({ label, url }) => `<a class="link" href="${escapeMarkup(url)}" style="color:${LIGHT.link}">${escapeMarkup(label)}</a>`).join(' · ')}</p>
</div>
</body>
</html>
`;
}

function writeFacts({ facts }: LetterContent): string {
  if (facts.length === 0) return '';
  const rows = facts.map(({ label, value, url }) => {
    const shown = escapeMarkup(value);
    const linked =
      url === undefined
        ? shown
        : `<a class="link" href="${escapeMarkup(url)}" style="color:${LIGHT.link}">${shown}</a>`;
    return `<div class="line" style="padding:8px 0;border-top:1px solid ${LIGHT.line}"><span class="label faint" style="display:inline-block;min-width:130px;padding-right:12px;font-size:14px;color:${LIGHT.faint}">${escapeMarkup(label)}</span><span class="ink" style="color:${LIGHT.ink};overflow-wrap:anywhere">${linked}</span></div>`;
  });
  return `<div style="margin:0 0 16px">\n${rows.join('\n')}\n</div>`;
}

function writeParagraphs({ text }: LetterContent): string {
  if (text === '') return '';
  return text
    .split(/\n{2,}/)
    .map((paragraph) => {
      const lines = paragraph.split('\n').map(escapeMarkup).join('<br>');
      return `<p class="ink" style="margin:0 0 16px;color:${LIGHT.ink};overflow-wrap:anywhere">${lines}</p>`;
    })
    .join('\n');
}

function writeServices({ services, more }: LetterContent): string {
  if (services.length === 0) return '';
  const items = services.map(
    ({ name, url, text }) =>
      `<li style="margin:0 0 6px"><a class="link" href="${escapeMarkup(url)}" style="color:${LIGHT.link}">${escapeMarkup(name)}</a>${text === '' ? '' : `: ${escapeMarkup(text)}`}</li>`,
  );
  const rest = more === null ? '' : `<li style="margin:0">${escapeMarkup(more)}</li>`;
  return `<ul class="ink" style="margin:0 0 16px;padding-left:20px;color:${LIGHT.ink};overflow-wrap:anywhere">\n${items.join('\n')}${rest}\n</ul>`;
}

function writeLinks({ links }: LetterContent): string {
  if (links.length === 0) return '';
  const shape =
    'display:inline-block;margin:8px 12px 0 0;padding:10px 18px;border-radius:6px;font-weight:600;text-decoration:none';
  const buttons = links.map(({ label, url }, index) =>
    index === 0
      ? `<a class="button" href="${escapeMarkup(url)}" style="${shape};background:${LIGHT.link};color:#ffffff">${escapeMarkup(label)}</a>`
      : `<a class="other" href="${escapeMarkup(url)}" style="${shape};padding:9px 17px;border:1px solid ${LIGHT.link};color:${LIGHT.link}">${escapeMarkup(label)}</a>`,
  );
  return `<div>${buttons.join('')}</div>`;
}

interface LetterWords {
  /** Below an alert: why the reader gets it. `channel`: its name. */
  readonly alertReason: (channel: string, site: string) => string;
  readonly manageChannels: string;
  /** The letter that asks the receiver of a channel. */
  readonly channelTitle: (site: string) => string;
  readonly channelText: (account: string, channel: string, site: string) => string;
  readonly confirm: string;
  readonly channelReason: string;
  /** The letter that asks a subscriber. `what`: a service, a category or the address of a page. */
  readonly subscribeTitle: (site: string) => string;
  readonly subscribeText: (what: string, site: string) => string;
  readonly subscribeReason: string;
  /** The letter to a subscriber who asked again. */
  readonly alreadyTitle: (what: string) => string;
  readonly alreadyText: (what: string) => string;
  /** Below a letter to a subscriber. */
  readonly subscriberReason: (what: string, site: string) => string;
  readonly unsubscribe: string;
  /** A cause that is not for everyone, after `because` of messages. */
  readonly inFront: string;
  /** All services of a category. */
  readonly category: (title: string) => string;
}

export const LETTER_WORDS: Readonly<Record<MessageLanguage, LetterWords>> = {
  en: {
    alertReason: (channel, site) => `You get this as the channel "${channel}" of an account at ${site}.`,
    manageChannels: 'Channels and rules',
    channelTitle: (site) => `Receive alerts from ${site}?`,
    channelText: (account, channel, site) =>
      `The account "${account}" at ${site} wants to send alerts to this address, as its channel "${channel}".\n\nNothing is sent before you agree.`,
    confirm: 'Confirm',
    channelReason: 'If you know nothing of this, do nothing: no alert will be sent to you.',
    subscribeTitle: (site) => `Confirm your subscription at ${site}`,
    subscribeText: (what, site) =>
      `Someone, probably you, asked ${site} to send e-mail to this address when the status of ${what} changes.\n\nNothing is sent before you confirm. The link is valid for 48 hours.`,
    subscribeReason: 'If you did not ask for this, do nothing: the address will be deleted within 48 hours.',
    alreadyTitle: (what) => `You already receive news about ${what}`,
    alreadyText: (what) =>
      `Someone, probably you, asked for e-mail about ${what} once more. There is nothing to do.`,
    subscriberReason: (what, site) => `You subscribed to ${what} at ${site}.`,
    unsubscribe: 'Unsubscribe',
    inFront: 'something in front of it',
    category: (title) => `all services of the category ${title}`,
  },
  de: {
    alertReason: (channel, site) => `Sie erhalten dies als Kanal „${channel}“ eines Kontos bei ${site}.`,
    manageChannels: 'Kanäle und Regeln',
    channelTitle: (site) => `Alarme von ${site} erhalten?`,
    channelText: (account, channel, site) =>
      `Das Konto „${account}“ bei ${site} möchte Alarme an diese Adresse senden, als seinen Kanal „${channel}“.\n\nBevor Sie zustimmen, wird nichts gesendet.`,
    confirm: 'Bestätigen',
    channelReason: 'Wenn Sie davon nichts wissen, tun Sie nichts: Sie erhalten dann keine Alarme.',
    subscribeTitle: (site) => `Bestätigen Sie Ihr Abonnement bei ${site}`,
    subscribeText: (what, site) =>
      `Jemand, vermutlich Sie, hat ${site} gebeten, E-Mail an diese Adresse zu senden, wenn sich der Zustand ändert: ${what}.\n\nBevor Sie bestätigen, wird nichts gesendet. Der Link gilt 48 Stunden.`,
    subscribeReason:
      'Wenn Sie nicht darum gebeten haben, tun Sie nichts: Die Adresse wird binnen 48 Stunden gelöscht.',
    alreadyTitle: (what) => `Sie erhalten bereits Neuigkeiten über ${what}`,
    alreadyText: (what) =>
      `Jemand, vermutlich Sie, hat noch einmal um E-Mail gebeten: ${what}. Es ist nichts zu tun.`,
    subscriberReason: (what, site) => `Sie haben bei ${site} abonniert: ${what}.`,
    unsubscribe: 'Abbestellen',
    inFront: 'einer Störung davor',
    category: (title) => `alle Dienste der Kategorie ${title}`,
  },
};

export function writeAlert(
  message: AlertMessage,
  language: MessageLanguage,
  footer: LetterContent['footer'],
): WrittenLetter {
  const { tone, title, facts, text, services, more, links } = renderMessage(message, language);
  const plainFacts = facts.map(({ value, ...fact }) => ({ ...fact, value: plainPhrase(value, language) }));
  const preheader = [...plainFacts.map(({ label, value }) => `${label}: ${value}`), text]
    .join(' · ')
    .slice(0, 150);
  return writeLetter({
    language,
    tone,
    title,
    preheader,
    facts: plainFacts,
    text,
    services,
    more,
    links,
    footer,
  });
}

/** The headers by which mail programs end letters with one click (RFC 8058). */
export function oneClickHeaders(url: string): Readonly<Record<string, string>> {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}
