/** Kind `email`: one letter for each message, to an address whose owner has agreed. */
import { MAX_MAIL_ADDRESS, readMailAddress } from '../../domain/mail-address.ts';
import { strictObject, Type } from '../../json-schema.ts';
import { defineChannel } from './define-channel.ts';
import { cleanLine } from './message-cut.ts';
import { LETTER_WORDS, oneClickHeaders, writeAlert } from './write-letter.ts';

/** Maximum number of identifiers of a thread that are kept: the first one and the newest. */
const MAX_REFERENCES = 10;

/** E-mail. The thread's reference is the list of `Message-ID`s that were sent in it, separated by blanks. */
export const emailChannel = defineChannel({
  settings: strictObject({
    to: Type.String({
      title: 'Address',
      description:
        'E-mail address. It first gets one e-mail with a link to confirm it, and nothing else until then.',
      minLength: 3,
      maxLength: MAX_MAIL_ADDRESS,
    }),
  }),
  needsConfirmation: true,
  forms: {
    to: { accepts: (text) => readMailAddress(text) !== null, example: 'an address such as ops@example.com' },
  },
  describe: ({ to }) => readMailAddress(to) ?? '',
  async send({ mailer, siteUrl }, { channel, message, reference, id, stopSecret, signal }, { to }) {
    if (mailer === null) return { outcome: 'failed', problem: { code: 'no_mail_server' } };
    if (channel.confirmedAt === null) return { outcome: 'refused', problem: { code: 'not_confirmed' } };
    const { hostname } = new URL(siteUrl);
    const words = LETTER_WORDS[channel.language];
    const stop = stopSecret === undefined ? null : `${siteUrl}/alerts/stop/${stopSecret}`;
    const letter = writeAlert(message, channel.language, {
      text: words.alertReason(cleanLine(channel.name, 100), hostname),
      links: [
        { label: words.manageChannels, url: `${siteUrl}/dashboard/channels` },
        ...(stop === null ? [] : [{ label: words.unsubscribe, url: stop }]),
      ],
    });
    const messageId = `${id}@${hostname}`;
    const references = reference === null ? [] : reference.split(' ');
    const result = await mailer.send(
      {
        ...letter,
        to: readMailAddress(to) ?? '',
        messageId,
        // A letter that is sent once more does not continue itself.
        references: references.filter((one) => one !== messageId),
        headers: { 'List-Id': `<alerts.${hostname}>`, ...(stop === null ? {} : oneClickHeaders(stop)) },
      },
      signal,
    );
    return result.outcome === 'delivered'
      ? { outcome: 'delivered', reference: joinReferences(references, messageId) }
      : result;
  },
});

function joinReferences(references: readonly string[], messageId: string): string {
  const all = [...references.filter((one) => one !== messageId), messageId];
  return (all.length <= MAX_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_REFERENCES)]).join(
    ' ',
  );
}
