/** Messages in the simple HTML that several chats take: bold text and links. Foreign text is escaped. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import { type Markup, markUp } from './markup.ts';
import type { MessageText } from './message-text.ts';

const MARKUP: Markup = { text: escapeMarkup, time: (_, shown) => escapeMarkup(shown) };

/** A link. `shown` is HTML. */
function htmlLink(url: string, shown: string): string {
  return `<a href="${escapeMarkup(url)}">${shown}</a>`;
}

/** The links of a message in one line. */
export function htmlLinks({ links }: MessageText): string {
  return links.map(({ label, url }) => htmlLink(url, escapeMarkup(label))).join(' · ');
}

/** The facts and the text of a message, one line each. */
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
