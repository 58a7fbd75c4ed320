/** A real mail server on loopback (smtp-server of Nodemailer) that keeps what it takes, read by mailparser. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { makeCertificate, TEST_CA_FILE } from './certificates.ts';

/** A letter as the server took it. */
export interface TakenLetter {
  /** Recipient of the envelope. */
  readonly to: string;
  /** Sender of the envelope. */
  readonly from: string;
  readonly raw: string;
  readonly mail: ParsedMail;
  readonly secure: boolean;
  readonly user: string | null;
}

/** A reply other than 250: to a recipient, or to the letter itself. */
export interface Reply {
  readonly code: number;
  readonly text: string;
}

/** Options of the server. */
export interface MailServerOptions {
  /** Default `starttls`. */
  readonly tls?: 'starttls' | 'implicit' | 'none';
  /** Names of its certificate. Default `localhost`. */
  readonly names?: readonly string[];
  /** Default: no sign-in. */
  readonly auth?: { readonly user: string; readonly password: string };
  readonly port?: number;
  /** The reply to RCPT TO; null: it is accepted. */
  readonly onRecipient?: (address: string) => Reply | null;
  /** The reply to MAIL FROM; null: it is accepted. */
  readonly onSender?: (address: string) => Reply | null;
  /** The reply to the letter; `drop`: it ends the connection instead; `hang`: it says nothing. */
  readonly onLetter?: (to: string, letter: TakenLetter) => Reply | 'drop' | 'hang' | null;
  /** True: it does not greet. */
  readonly silent?: boolean;
}

/** A running server. */
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** The certificate of the authority that {@link startMailServer} uses, PEM. */
export const MAIL_CA = readFileSync(TEST_CA_FILE, 'utf8');

/** Starts a server. */
export async function startMailServer(options: MailServerOptions = {}) {
  const { tls = 'starttls', names = ['localhost'], auth } = options;
  const letters: TakenLetter[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  const settings: SMTPServerOptions = {
    ...(tls === 'none' ? { allowInsecureAuth: true } : {}),
    ...makeCertificate({ names }),
    secure: tls === 'implicit',
    authOptional: auth === undefined,
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: [...(auth === undefined ? ['AUTH'] : []), ...(tls === 'none' ? ['STARTTLS'] : [])],
    logger: false,
    closeTimeout: 50,
    onConnect(_session, callback) {
      connections++;
      if (options.silent !== true) callback();
    },
    onAuth(given, _session, callback) {
      if (given.username === auth?.user && given.password === auth?.password)
        callback(null, { user: given.username ?? '' });
      else callback(withCode({ code: 535, text: '5.7.8 Authentication credentials invalid' }));
    },
    onMailFrom({ address }, _session, callback) {
      const reply = options.onSender?.(address) ?? null;
      callback(reply === null ? null : withCode(reply));
    },
    onRcptTo({ address }, _session, callback) {
      const reply = options.onRecipient?.(address) ?? null;
      callback(reply === null ? null : withCode(reply));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo[0]?.address ?? '';
        const letter = {
          to,
          from: mailFrom === false ? '' : mailFrom.address,
          raw,
          mail: await simpleParser(raw),
          secure: session.secure,
          user: session.user === undefined ? null : String(session.user),
        };
        const reply = options.onLetter?.(to, letter) ?? null;
        if (reply === 'hang') return;
        if (reply === 'drop') {
          for (const connection of server.connections) connection._socket.destroy();
          return;
        }
        if (reply === null) letters.push(letter);
        callback(reply === null ? null : withCode(reply));
        for (const wake of waiting) wake();
      });
    },
  };
  const server = new SMTPServer(settings);
  // Clients that break off are part of the tests.
  server.on('error', () => {});
  const listener = server.listen(options.port ?? 0, '127.0.0.1');
  if (!listener.listening) await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    /** The letters that it took, oldest first. */
    letters,
    /** Number of connections since the start. */
    connections: () => connections,
    /** Resolves with the letters when there are at least `count` of them. */
    async taken(count: number): Promise<readonly TakenLetter[]> {
      while (letters.length < count)
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      return letters;
    },
    async close(): Promise<void> {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function withCode({ code, text }: Reply): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
