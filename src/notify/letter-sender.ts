/**
 * Sends letters that are not messages of channels: news to subscribers, and requests for confirmations. They wait in the registry,
 * so that a restart loses none, and leave at a bounded rate.
 */
import type { Random } from '../clock.ts';
import { asOfNow } from '../domain/alert/alert-messages.ts';
import type { MessageLanguage } from '../domain/alert/channel.ts';
import { retryLetterAt } from '../domain/delivery-retries.ts';
import { MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import { subscriberMessage } from '../domain/subscription.ts';
import { SHARED_TEXTS } from '../language/shared-texts.ts';
import type { DueLetter, LetterOutcome, LetterStore, TopicName } from '../store/ports/subscriptions.ts';
import { cleanLine } from './channels/message-cut.ts';
import {
  LETTER_WORDS,
  type LetterContent,
  oneClickHeaders,
  type WrittenLetter,
  writeAlert,
  writeLetter,
} from './channels/write-letter.ts';
import type { Letter, Mailer } from './mail/smtp-mailer.ts';
import { deliveryEnd, type SenderContext, startOutbox } from './outbox.ts';

/** Why a service cannot be reached: the name of the cause, null for one that is not for everyone. Null: it can, as far as that is known. */
type WhyUnreached = (serviceId: number) => { readonly because: string | null } | null;

export interface LetterSenderOptions extends SenderContext {
  readonly registry: LetterStore;
  readonly mailer: Mailer;
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
  readonly random: Random;
  /** Returns true if a service is down now. */
  readonly isDown: (serviceId: number) => boolean;
  /** Why a service cannot be reached now; absent: not known. */
  readonly whyUnreached?: WhyUnreached;
}

/** Maximum number of letters that leave within a second, so that no mail server takes a change for an attack. */
export const MAX_LETTERS_PER_SECOND = 20;
/** Maximum number of letters in flight; the mailer has fewer connections. */
const MAX_IN_FLIGHT = 8;
/** Maximum number of letters about changes that are written before they are sent. */
const MAX_WRITTEN = 200;
const TIDY_INTERVAL_MS = MINUTE_MS;
const MAX_NAME_LENGTH = 100;

export function startLetterSender(options: LetterSenderOptions) {
  const { registry, mailer, siteUrl, retentionNow, clock, random, isDown } = options;
  const inFlight = new Set<number>();
  /** Monotonic times at which letters of the last second began, oldest first. */
  const begun: number[] = [];
  let tidiedAt = Number.NEGATIVE_INFINITY;
  let preparedAt = Number.NEGATIVE_INFINITY;

  const prepare = async (now: number): Promise<void> => {
    if (clock.monotonic() - preparedAt < SECOND_MS) return;
    preparedAt = clock.monotonic();
    if (clock.monotonic() - tidiedAt >= TIDY_INTERVAL_MS) {
      tidiedAt = clock.monotonic();
      await registry.tidySubscriptions(now, await retentionNow());
      await registry.turnOffChannels(now);
    }
    await registry.askChannels(now);
    await registry.writeLetters(now, MAX_WRITTEN);
  };

  /** Number of letters that may begin now. */
  const allowance = (): number => {
    while (begun[0] !== undefined && clock.monotonic() - begun[0] >= SECOND_MS) begun.shift();
    return Math.min(MAX_LETTERS_PER_SECOND - begun.length, MAX_IN_FLIGHT - inFlight.size);
  };

  /** True if the last attempt reached the mail server; what failed before the start may have failed because none did. */
  let wasReached = false;

  return startOutbox<DueLetter, LetterOutcome>({
    ...options,
    async due(now, _limit, lookAfter) {
      const count = allowance();
      if (count <= 0) {
        // The polls of the outbox are too far apart.
        if (begun[0] !== undefined && begun.length >= MAX_LETTERS_PER_SECOND)
          lookAfter(begun[0] + SECOND_MS - clock.monotonic());
        return [];
      }
      await prepare(now);
      const letters = await registry.dueLetters(now, count + inFlight.size, !wasReached);
      return letters.filter(({ id }) => !inFlight.has(id)).slice(0, count);
    },
    async attempt(letter, signal) {
      const { id } = letter;
      const triedAt = clock.now();
      inFlight.add(id);
      begun.push(clock.monotonic());
      try {
        const result = await mailer.send(
          composeLetter(letter, siteUrl, isDown, options.whyUnreached),
          signal,
        );
        const { outcome } = result;
        if (signal.aborted && outcome === 'failed') return null;
        const isReached = result.outcome !== 'failed' || result.problem.code !== 'mail_unreachable';
        if (isReached && !wasReached) await registry.hastenLetters(clock.now());
        wasReached = isReached;
        const dueAt = outcome === 'failed' ? retryLetterAt(letter, clock.now(), random()) : null;
        return { id, outcome, triedAt, dueAt };
      } finally {
        inFlight.delete(id);
      }
    },
    note: (outcome) => registry.noteLetters([outcome]),
    endOf: ({ outcome, dueAt }) => deliveryEnd(outcome === 'delivered', dueAt),
    what: 'letters',
  });
}

/** Composes a letter. The same letter has the same `Message-ID` in all attempts. */
export function composeLetter(
  letter: DueLetter,
  siteUrl: string,
  isDown: LetterSenderOptions['isDown'] = () => false,
  whyUnreached: WhyUnreached = () => null,
): Letter {
  const { hostname } = new URL(siteUrl);
  const { id, to, language, secret } = letter;
  const words = LETTER_WORDS[language];
  const request = { to, messageId: `letter-${id}.${secret.slice(0, 8)}@${hostname}`, references: [] };
  if (letter.kind === 'channel') {
    const channel = cleanLine(letter.channel, MAX_NAME_LENGTH);
    const account = cleanLine(letter.account, MAX_NAME_LENGTH);
    return {
      ...request,
      ...writeNote(language, {
        title: words.channelTitle(hostname),
        text: words.channelText(account, channel, hostname),
        links: [{ label: words.confirm, url: `${siteUrl}/alerts/confirm/${secret}` }],
        footer: { text: words.channelReason, links: [] },
      }),
    };
  }
  const what = nameOf(letter.topic, language);
  const end = `${siteUrl}/subscribe/end/${secret}`;
  const endLink = { label: words.unsubscribe, url: end };
  switch (letter.kind) {
    case 'subscribe':
      return {
        ...request,
        ...writeNote(language, {
          title: words.subscribeTitle(hostname),
          text: words.subscribeText(askedName(letter.topic, language, siteUrl), hostname),
          links: [{ label: words.confirm, url: `${siteUrl}/subscribe/confirm/${secret}` }],
          footer: { text: words.subscribeReason, links: [] },
        }),
      };
    case 'already':
      return {
        ...request,
        headers: listHeaders(end, hostname),
        ...writeNote(language, {
          title: words.alreadyTitle(what),
          text: words.alreadyText(what),
          links: [],
          footer: { text: words.subscriberReason(what, hostname), links: [endLink] },
        }),
      };
    case 'change': {
      const { event, service, beganAt, subscriptionId } = letter;
      const now = asOfNow(subscriberMessage(event, service, beganAt, siteUrl), isDown);
      const unreached = service.isPage ? null : whyUnreached(service.id);
      const items = now.items.map((item) =>
        unreached === null || item.event !== 'down' || item.lastedMs !== null
          ? item
          : { ...item, because: { slug: '', name: unreached.because ?? words.inFront } },
      );
      const message = { ...now, items };
      const first = `${message.thread}.${subscriptionId}@${hostname}`;
      const isFirst = message.type === 'alert';
      return {
        to,
        messageId: isFirst ? first : `${message.thread}.${subscriptionId}.${event.id}@${hostname}`,
        references: isFirst ? [] : [first],
        headers: listHeaders(end, hostname),
        ...writeAlert(message, language, {
          text: words.subscriberReason(what, hostname),
          links: [endLink],
        }),
      };
    }
  }
}

/** Unsubscribing by one click (RFC 8058), and the list by which mail programs sort. */
function listHeaders(end: string, hostname: string): Readonly<Record<string, string>> {
  return { 'List-Id': `<status.${hostname}>`, ...oneClickHeaders(end) };
}

/**
 * The name of the topic that somebody is asked to confirm, without words of an owner: strangers could have anything sent to anybody.
 */
function askedName({ kind, plainName: name }: TopicName, language: MessageLanguage, siteUrl: string): string {
  const where = kind === 'page' ? siteUrl.replace(/^https?:\/\//, '') : '';
  return where + nameOf({ kind, name }, language);
}

/** The topic of a subscription, in words. */
export function nameOf({ kind, name }: Pick<TopicName, 'kind' | 'name'>, language: MessageLanguage): string {
  if (kind !== 'category') return cleanLine(name, MAX_NAME_LENGTH);
  const titles: Readonly<Record<string, string>> = SHARED_TEXTS[language].category;
  return LETTER_WORDS[language].category(titles[name] ?? name);
}

function writeNote(
  language: MessageLanguage,
  content: Pick<LetterContent, 'title' | 'text' | 'links' | 'footer'>,
): WrittenLetter {
  const none = { tone: null, preheader: '', facts: [], services: [], more: null };
  return writeLetter({ language, ...none, ...content });
}
