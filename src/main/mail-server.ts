/** The operator's mail server. */
import type { Clock } from '../clock.ts';
import { type Config, smtpPort } from '../config/resolve-config.ts';
import { readMailbox } from '../domain/mail-address.ts';
import type { Log } from '../log.ts';
import type { Mailer, SmtpServer } from '../notify/mail/smtp-mailer.ts';

/** The mail server of `alerts.smtp`; null: none is configured. */
export function smtpServerOf({ alerts, http }: Config): SmtpServer | null {
  const { host, user, password, from, tls } = alerts.smtp;
  const sender = from === null ? null : readMailbox(from);
  if (host === null || sender === null) return null;
  return {
    host,
    port: smtpPort(alerts.smtp),
    auth: user === null || password === null ? null : { user, password },
    tls,
    from: sender,
    name: new URL(http.siteUrl).hostname,
  };
}

/** Creates the mailer; null: no mail server is configured. The library is loaded only if there is one. */
export async function openMailer(
  config: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Mailer | null> {
  const server = smtpServerOf(config);
  if (server === null) return null;
  const { createMailer } = await import('../notify/mail/smtp-mailer.ts');
  return createMailer(server, { clock, log });
}
