/** Kind `smtp`: a mail server greets, names what it can, speaks TLS where it should, and accepts a sign-in (RFC 5321, 3207, 4954). */
import { type Failure, failureOf } from '../domain/failure.ts';
import { Type } from '../json-schema.ts';
import type { Dialogue } from '../outbound/dialogue.ts';
import { defineKind, PortSetting } from './check-kind.ts';
import {
  breakOff,
  contentFailure,
  notProtocol,
  refusal,
  refuseAlone,
  refuseTalk,
  type Security,
  SIGN_IN_SETTINGS,
  securitySettings,
  type TalkVerdict,
  talk,
  withoutSecrets,
} from './talk.ts';

const DEFAULT_PORT = 25;
/** The encryption of the usual ports (RFC 8314, 3). */
const USUAL_SECURITY: ReadonlyMap<number, Security> = new Map([
  [465, 'tls'],
  [587, 'starttls'],
]);
/** Maximum length of a line of a reply; RFC 5321, 4.5.3.1.5 allows 512. */
const MAX_LINE_LENGTH = 2_048;
/** Maximum number of lines of a reply. */
const MAX_REPLY_LINES = 100;

/** The text of servers without enhanced statuses to a client that they turn away for its address. */
const OF_THE_CLIENT =
  /\b(?:black|block)[- ]?list|\b(?:dnsbl|rbl|spamhaus|reputation)\b|\b(?:your|this) (?:ip|host|address)\b/i;

export const smtpCheck = defineKind({
  settings: Type.Object({
    port: Type.Optional(PortSetting),
    ...securitySettings(['starttls', 'tls', 'plain']),
    ...SIGN_IN_SETTINGS,
  }),
  defaultPort: DEFAULT_PORT,
  destinationOf: (settings) => `smtp+${securityOf(settings)}:${settings.port ?? DEFAULT_PORT}`,
  refuse: (settings, names) => [
    ...refuseTalk(settings, names, securityOf(settings)),
    ...refuseAlone(names, [
      ['username', 'password'],
      ['password', 'username'],
    ]),
  ],
  prepare: (tools) => (run, settings) => {
    const security = securityOf(settings);
    const name = nameOf(tools.userAgent);
    return talk(tools, run, {
      ...{ kind: 'smtp', port: settings.port ?? DEFAULT_PORT, security, settings },
      speak: (dialogue, secure) => speak(dialogue, name, settings, security === 'starttls' ? secure : null),
      farewell: 'QUIT\r\n',
    });
  },
});

function securityOf({
  port = DEFAULT_PORT,
  security,
}: {
  readonly port?: number;
  readonly security?: Security;
}): Security {
  return security ?? USUAL_SECURITY.get(port) ?? 'plain';
}

/** The name by which the check greets: the host of the site in the User-Agent. */
function nameOf(userAgent: string): string {
  return /\(\+https?:\/\/([a-z0-9.-]+)/i.exec(userAgent)?.[1] ?? 'localhost';
}

interface SignIn {
  readonly username?: string;
  readonly password?: string;
}

async function speak(
  dialogue: Dialogue,
  name: string,
  { username, password }: SignIn,
  secure: (() => Promise<void>) | null,
): Promise<TalkVerdict> {
  const greeting = await readReply(dialogue);
  if (greeting.code !== 220) return turnedAway(greeting);
  let offered = await greet(dialogue, name);
  if (!Array.isArray(offered)) return offered;
  if (secure !== null) {
    if (!offered.includes('STARTTLS')) return failureOf('tls', 'tls', { code: 'tls_not_offered' });
    dialogue.send('STARTTLS\r\n');
    const reply = await readReply(dialogue);
    // 454: TLS does not work now, for nobody (RFC 3207, 4), whatever its enhanced status.
    if (reply.code === 454) return refusal(textOf(reply));
    if (reply.code !== 220) return turnedAway(reply);
    await secure();
    offered = await greet(dialogue, name);
    if (!Array.isArray(offered)) return offered;
  }
  if (username === undefined || password === undefined) return null;
  return await signIn(dialogue, offered, username, password);
}

/** Says who we are; returns the extensions of the server in upper case, or why it refuses. */
async function greet(dialogue: Dialogue, name: string): Promise<string[] | TalkVerdict> {
  dialogue.send(`EHLO ${name}\r\n`);
  const reply = await readReply(dialogue);
  if (reply.code === 250) return reply.lines.slice(1).map((line) => line.toUpperCase());
  // A server that knows no extensions (RFC 5321, 3.2).
  if (reply.code !== 500 && reply.code !== 502) return turnedAway(reply);
  dialogue.send(`HELO ${name}\r\n`);
  const second = await readReply(dialogue);
  return second.code === 250 ? [] : turnedAway(second);
}

async function signIn(
  dialogue: Dialogue,
  offered: readonly string[],
  username: string,
  password: string,
): Promise<TalkVerdict> {
  const methods = offered.find((line) => /^AUTH[ =]/.test(line))?.split(/[ =]/) ?? [];
  const inBase64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  const steps = methods.includes('PLAIN')
    ? [`AUTH PLAIN ${inBase64(`\0${username}\0${password}`)}`]
    : methods.includes('LOGIN')
      ? ['AUTH LOGIN', inBase64(username), inBase64(password)]
      : [];
  if (steps.length === 0)
    return contentFailure({ code: 'sign_in_unknown', error: methods.slice(1).join(' ') || 'no AUTH' });
  for (const step of steps) {
    dialogue.send(`${step}\r\n`);
    const reply = await readReply(dialogue);
    if (reply.code === 235) return null;
    if (reply.code === 334 && step !== steps.at(-1)) continue;
    const error = withoutSecrets(textOf(reply), [username, password, ...steps]);
    // 4xx: the server cannot tell now.
    return reply.code < 500 ? refusal(error) : contentFailure({ code: 'sign_in_refused', error });
  }
  return null;
}

/** A reply: its code, and the texts of its lines. */
interface Reply {
  readonly code: number;
  readonly lines: readonly string[];
}

/**
 * The verdict on a refusal. One by a policy about the client (RFC 3463, X.7.Y), such as a list of blocked addresses, says nothing of the
 * server.
 */
function turnedAway(reply: Reply): Failure | 'blocked' {
  const isPolicy = /^[45]\.7\.\d/.test(reply.lines[0] ?? '') || OF_THE_CLIENT.test(reply.lines.join(' '));
  return isPolicy ? 'blocked' : refusal(textOf(reply));
}

function textOf({ code, lines }: Reply): string {
  return `${code} ${lines.join(' ')}`;
}

async function readReply(dialogue: Dialogue): Promise<Reply> {
  const lines: string[] = [];
  for (;;) {
    const line = await dialogue.readLine(MAX_LINE_LENGTH);
    const [, code, more, text = ''] = /^([2-5]\d\d)(?:([ -])(.*))?$/.exec(line ?? '') ?? [];
    if (line === null || code === undefined || lines.length === MAX_REPLY_LINES)
      throw breakOff(notProtocol('SMTP', line ?? dialogue.preview(100)));
    lines.push(text);
    if (more !== '-') return { code: Number(code), lines };
  }
}
