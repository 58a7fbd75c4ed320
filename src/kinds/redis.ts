/** Kind `redis`: a server of Redis' protocol answers PING, after a sign-in if there is one (RESP 2). */
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
  SIGN_IN_SETTINGS,
  securitySettings,
  type TalkVerdict,
  talk,
  withoutSecrets,
} from './talk.ts';

const DEFAULT_PORT = 6379;
/** Maximum length of a line of a reply. */
const MAX_LINE_LENGTH = 1_024;
/** The repetition of an unknown command by the server; of a long password it has only the beginning. */
const REPEATED = /,? with args beginning with:.*$/i;
/** Errors that say that the client may not do this, and no more. */
const NOT_ALLOWED = /^(?:NOAUTH|NOPERM|DENIED|WRONGPASS)\b|invalid password|without any password/i;

export const redisCheck = defineKind({
  settings: Type.Object({
    port: Type.Optional(PortSetting),
    ...securitySettings(['tls', 'plain']),
    ...SIGN_IN_SETTINGS,
  }),
  defaultPort: DEFAULT_PORT,
  destinationOf: ({ port = DEFAULT_PORT, security = 'plain' }) => `redis+${security}:${port}`,
  refuse: (settings, names) => [
    ...refuseTalk(settings, names, settings.security ?? 'plain'),
    ...refuseAlone(names, [['username', 'password']]),
  ],
  prepare: (tools) => (run, settings) => {
    const { port = DEFAULT_PORT, security = 'plain' } = settings;
    return talk(tools, run, {
      ...{ kind: 'redis', port, security, settings },
      speak: (dialogue) => speak(dialogue, settings),
    });
  },
});

interface SignIn {
  readonly username?: string;
  readonly password?: string;
}

async function speak(dialogue: Dialogue, { username, password }: SignIn): Promise<TalkVerdict> {
  if (password !== undefined) {
    dialogue.send(commandOf('AUTH', ...(username === undefined ? [] : [username]), password));
    const reply = await readReply(dialogue);
    if (!reply.isError && reply.text === 'OK') return await ping(dialogue, true);
    const error = withoutSecrets(reply.text.replace(REPEATED, ''), [password, username]);
    return NOT_ALLOWED.test(reply.text) ? contentFailure({ code: 'sign_in_refused', error }) : refusal(error);
  }
  return await ping(dialogue, false);
}

/** Without a sign-in, a server that asks for one works. */
async function ping(dialogue: Dialogue, isSignedIn: boolean): Promise<TalkVerdict> {
  dialogue.send(commandOf('PING'));
  const { isError, text } = await readReply(dialogue);
  if (!isError && text === 'PONG') return null;
  if (!isError) throw breakOff(notProtocol('Redis', text));
  return NOT_ALLOWED.test(text) && !isSignedIn ? null : refusal(text);
}

function commandOf(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

async function readReply(dialogue: Dialogue): Promise<{ readonly isError: boolean; readonly text: string }> {
  const line = await dialogue.readLine(MAX_LINE_LENGTH);
  if (line === null || !/^[+-]/.test(line))
    throw breakOff(notProtocol('Redis', line ?? dialogue.preview(100)));
  return { isError: line.startsWith('-'), text: line.slice(1) };
}
