/** Sends e-mail by SMTP: a few connections that are kept open, TLS as configured, and every answer of the server read. */
import { createRequire } from 'node:module';
import { getCACertificates } from 'node:tls';
import type Nodemailer from 'nodemailer';
import type { NodemailerError, SendMailOptions, SMTPPoolOptions } from 'nodemailer';
import type { Cancel, Clock } from '../../clock.ts';
import type { ChannelProblem } from '../../domain/alert/channel.ts';
import { SECOND_MS } from '../../domain/durations.ts';
import type { Mailbox } from '../../domain/mail-address.ts';
import { printable } from '../../domain/printable-text.ts';
import type { Log } from '../../log.ts';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Null: it needs no sign-in. */
  readonly auth: { readonly user: string; readonly password: string } | null;
  /** `starttls`: STARTTLS is required; `implicit`: TLS from the start; `none`: clear text. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly from: Mailbox;
  /** The name with which this program introduces itself: the host of the site. */
  readonly name: string;
  /** Certificates of authorities (PEM) that are trusted beside those of Node.js; default none. */
  readonly ca?: readonly string[];
}

export interface MailerOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/** Maximum number of connections to the server. */
const MAX_CONNECTIONS = 4;
/** Number of letters after which a connection is replaced; servers end those that send more. */
const MAX_LETTERS_PER_CONNECTION = 100;
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
const GREETING_TIMEOUT_MS = 15 * SECOND_MS;
/** Time without a byte from the server. */
const SILENCE_TIMEOUT_MS = 30 * SECOND_MS;
const ATTEMPT_TIMEOUT_MS = 60 * SECOND_MS;
const IDLE_TIMEOUT_MS = 30 * SECOND_MS;
/** Maximum size of a reply of the server, bytes. */
const MAX_REPLY_BYTES = 16 * 1024;
/** Maximum length of what is kept of a reply. */
const MAX_PROBLEM_LENGTH = 300;
const MAX_SUBJECT_LENGTH = 200;

/** Replies that ask for a sign-in (RFC 4954, 6): they concern the settings, not the recipient. */
const SIGN_IN_REPLIES: ReadonlySet<number> = new Set([530, 534, 535, 538]);

/** Creates the mailer. Nothing connects before the first letter. */
export function createMailer(server: SmtpServer, options: MailerOptions): Mailer {
  const { clock, log } = options;
  const transport = loadNodemailer().createTransport({
    ...connectionOptions(server),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_LETTERS_PER_CONNECTION,
    idleTimeout: IDLE_TIMEOUT_MS,
    // A letter whose connection ended may have been taken: the outbox decides what is sent again.
    maxRequeues: 0,
  } satisfies SMTPPoolOptions);
  /** The problem of the server or its settings; null: none. It is logged when it changes. */
  let trouble: string | null = null;

  const noteTrouble = (text: string | null): void => {
    if (text === trouble) return;
    const where = { host: server.host, port: server.port };
    if (text === null) log.info(where, 'the mail server takes letters again');
    else log.error({ ...where, problem: text }, 'the mail server cannot be used');
    trouble = text;
  };

  return {
    async send(letter: Letter, signal: AbortSignal): Promise<MailResult> {
      const end = new AbortController();
      const cancel: Cancel = clock.after(ATTEMPT_TIMEOUT_MS, () => end.abort(new Error('it took too long')));
      try {
        await transport.sendMail({
          ...compose(letter, server.from),
          signal: AbortSignal.any([signal, end.signal]),
        });
        noteTrouble(null);
        return { outcome: 'delivered' };
      } catch (error) {
        const { result, concernsServer } = explain(error as NodemailerError, end.signal.aborted);
        if (concernsServer && !signal.aborted) noteTrouble(textOf(result));
        else if (result.outcome === 'refused') noteTrouble(null);
        return result;
      } finally {
        cancel();
      }
    },
    problem: () => trouble,
    close: () => transport.close({ force: true }),
  };
}

export type MailServerState =
  | { readonly ok: true; readonly found: string }
  | { readonly ok: false; readonly found: string; readonly advice: string };

/** Connects and signs in, without sending a letter. */
export async function examineMailServer(server: SmtpServer): Promise<MailServerState> {
  const transport = loadNodemailer().createTransport(connectionOptions(server));
  const place = `${server.host}:${server.port}`;
  try {
    await transport.verify();
    const how = { starttls: 'STARTTLS', implicit: 'TLS', none: 'no TLS' }[server.tls];
    const auth = server.auth === null ? 'no sign-in' : `signed in as ${server.auth.user}`;
    return { ok: true, found: `${place} answers (${how}, ${auth})` };
  } catch (thrown) {
    const error = thrown as NodemailerError;
    return { ok: false, found: `${place}: ${cleanReply(error)}`, advice: adviseOn(error, server) };
  } finally {
    transport.close();
  }
}

function adviseOn({ code, command, message }: NodemailerError, { tls }: SmtpServer): string {
  if (code === 'EAUTH' || command?.startsWith('AUTH') === true)
    return 'correct alerts.smtp.user and alerts.smtp.password';
  if (code === 'ETLS' && tls === 'starttls')
    return /certificate|altname|self.signed/i.test(message)
      ? 'the certificate of the mail server must be valid for alerts.smtp.host; a private authority is trusted through NODE_EXTRA_CA_CERTS'
      : 'the mail server offers no STARTTLS: set alerts.smtp.tls to implicit, or to none for a server on this machine';
  if (/certificate|altname|self.signed/i.test(message))
    return 'the certificate of the mail server must be valid for alerts.smtp.host; a private authority is trusted through NODE_EXTRA_CA_CERTS';
  if (/wrong version number/i.test(message))
    return 'the port speaks no TLS from the start: set alerts.smtp.tls to starttls, or correct alerts.smtp.port';
  if (/greeting/i.test(message))
    return 'the port may begin with TLS: set alerts.smtp.tls to implicit, or correct alerts.smtp.port';
  return 'correct alerts.smtp.host and alerts.smtp.port, or see why the mail server does not answer';
}

function compose(letter: Letter, from: Mailbox): SendMailOptions {
  const { to, subject, text, html, messageId, references, headers = {} } = letter;
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject: oneLine(subject, MAX_SUBJECT_LENGTH),
    text,
    html,
    messageId: `<${messageId}>`,
    ...(references.length === 0
      ? {}
      : { references: references.map((id) => `<${id}>`), inReplyTo: `<${references.at(-1)}>` }),
    headers: {
      // RFC 3834, 5: no out-of-office notes in reply; Exchange has a header of its own for that.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          { prepared: true, value: oneLine(value, 900) },
        ]),
      ),
    },
    // No text of ours names files or addresses to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Text for a header: one line without control characters. */
function oneLine(text: string, maxLength: number): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Explains a failed attempt, and tells if it concerns the server rather than this letter. */
function explain(
  error: NodemailerError,
  tookTooLong: boolean,
): { readonly result: Exclude<MailResult, { outcome: 'delivered' }>; readonly concernsServer: boolean } {
  if (tookTooLong) return { result: failed('mail_unreachable', 'it took too long'), concernsServer: true };
  const { responseCode = 0, command = '' } = error;
  const text = cleanReply(error);
  if (error.code === 'EAUTH' || SIGN_IN_REPLIES.has(responseCode))
    return { result: failed('mail_refused', text), concernsServer: true };
  // RCPT TO and the letter itself concern the recipient; other commands the server and its settings.
  const isAboutLetter = /^(?:RCPT|DATA)/.test(command);
  if (responseCode >= 500 && error.permanent === true && isAboutLetter)
    return { result: { outcome: 'refused', problem: { code: 'mail_refused', text } }, concernsServer: false };
  if (responseCode >= 400) return { result: failed('mail_refused', text), concernsServer: !isAboutLetter };
  return { result: failed('mail_unreachable', text), concernsServer: true };
}

function failed(code: 'mail_refused' | 'mail_unreachable', text: string) {
  return { outcome: 'failed', problem: { code, text } } as const;
}

function textOf({ problem }: { readonly problem: ChannelProblem }): string {
  return 'text' in problem ? problem.text : problem.code;
}

/** The reply of the server, or else the error, in one line. Addresses are left out, since the text is logged and shown. */
function cleanReply({ response, message }: NodemailerError): string {
  const line = oneLine(response ?? message, MAX_PROBLEM_LENGTH);
  return printable(line.replaceAll(/<?[^\s<>@]+@[^\s<>@,;:]+>?/g, '…'));
}

function connectionOptions({ host, port, auth, tls, name, ca }: SmtpServer) {
  return {
    host,
    port,
    name,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(auth === null ? {} : { auth: { user: auth.user, pass: auth.password } }),
    tls: {
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ...ca] }),
    },
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    maxResponseSize: MAX_REPLY_BYTES,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Loaded by the first mailer. */
function loadNodemailer(): typeof Nodemailer {
  return createRequire(import.meta.url)('nodemailer');
}

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Identifier without angle brackets; the same in all attempts. */
  readonly messageId: string;
  /** Identifiers of the letters that this one continues, oldest first. */
  readonly references: readonly string[];
  /** Further headers, such as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The end of an attempt to send. */
export type MailResult =
  | { readonly outcome: 'delivered' }
  /** It may succeed later. */
  | { readonly outcome: 'failed'; readonly problem: ChannelProblem }
  /** The server will never take it: the address does not exist. */
  | { readonly outcome: 'refused'; readonly problem: ChannelProblem };

/** A connection to the mail server. */
export interface Mailer {
  /** Does not reject. */
  send(letter: Letter, signal: AbortSignal): Promise<MailResult>;
  /** Why the server took none of the last letters, one line; null: it takes letters. */
  problem(): string | null;
  /** Ends connections. */
  close(): void;
}
