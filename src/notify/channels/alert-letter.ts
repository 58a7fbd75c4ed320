/** A message of an alert as a letter. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import { plainPhrase, renderMessage } from './message-text.ts';
import { type LetterContent, type WrittenLetter, writeLetter } from './write-letter.ts';

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
