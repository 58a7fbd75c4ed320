/** Escapes foreign text for the markups of media, so that names make no mention, link or format there. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { escapeMarkup, type Moment, type Phrase } from '../../language/phrase.ts';
import { FORMATS } from '../../language/shared-texts.ts';
import type { MessageText } from './message-text.ts';

const MARKUP: Markup = { text: escapeMarkup, time: (_, shown) => escapeMarkup(shown) };

/** The form of texts and times in a medium. */
export interface Markup {
  /** Foreign text and our words alike. */
  readonly text: (text: string) => string;
  /** A time; `shown`: in UTC and in words, where the medium cannot tell the reader's time zone. */
  readonly time: (at: number, shown: string) => string;
}

export function markUp(phrase: Phrase, markup: Markup, language: MessageLanguage): string {
  const momentOf = ({ at }: Moment) => markup.time(at, FORMATS[language].time(at));
  return phrase.map((part) => (typeof part === 'string' ? markup.text(part) : momentOf(part))).join('');
}

/** Slack's mrkdwn: `&`, `<` and `>` are escaped; a backquote, which would open a code block, is replaced. */
export function escapeSlack(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replaceAll('`', "'");
}

/** Markdown of Discord and Mattermost: everything that can begin a format, a mention or a link has a backslash. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_~|<>[\](){}#+!:@-]/g, '\\$&');
}

/** A URL inside the brackets of a Markdown link, or of Slack's. */
export function linkUrl(url: string): string {
  return url.replace(
    /[()<>|\s]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** A link. `shown` is HTML. */
function htmlLink(url: string, shown: string): string {
  return `<a href="${escapeMarkup(url)}">${shown}</a>`;
}

export function htmlLinks({ links }: MessageText): string {
  return links.map(({ label, url }) => htmlLink(url, escapeMarkup(label))).join(' · ');
}

export function htmlLines({ facts, text }: MessageText, language: MessageLanguage): string[] {
  return [
    ...facts.map(({ label, value, url }) => {
      const shown = markUp(value, MARKUP, language);
      return `<b>${escapeMarkup(label)}:</b> ${url === undefined ? shown : htmlLink(url, shown)}`;
    }),
    ...(text === '' ? [] : escapeMarkup(text).split('\n')),
  ];
}

/** The services of a message, one item each. */
export function htmlServices({ services }: MessageText): string[] {
  return services.map(
    ({ name, url, text }) =>
      `${htmlLink(url, escapeMarkup(name))}${text === '' ? '' : `: ${escapeMarkup(text)}`}`,
  );
}
