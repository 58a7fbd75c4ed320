/** Kind `postgres`: a server of PostgreSQL's protocol takes a client, and answers a query if there are credentials (version 3.0). */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Failure, failureOf } from '../domain/failure.ts';
import { Type } from '../json-schema.ts';
import type { Dialogue } from '../outbound/dialogue.ts';
import { defineKind } from './check-kind.ts';
import {
  breakOff,
  contentFailure,
  type DatabaseWish,
  databaseSettings,
  notProtocol,
  refusal,
  refuseDatabase,
  type Security,
  type TalkVerdict,
  talk,
  withoutSecrets,
} from './talk.ts';

/** Maximum number of iterations that a server may ask for; servers use 4,096 to 600,000. */
const MAX_ITERATIONS = 1_000_000;

/** A sign-in: what to send first, and what to answer. */
interface Scram {
  readonly first: string;
  /** The second message for the server's first one; null: that cannot be read, or asks for too much. */
  answer(challenge: string): Promise<string | null>;
  /** Returns true if the server's last message proves that it knows the password. */
  accepts(last: string): boolean;
}

const DEFAULT_PORT = 5432;
/** Code of the request for TLS, and the version of the protocol, in place of a version. */
const SSL_REQUEST = 80_877_103;
const PROTOCOL_VERSION = 196_608;
/** Maximum size of a message, bytes. */
const MAX_MESSAGE_BYTES = 131_072;
/** Maximum number of messages of the server. */
const MAX_MESSAGES = 10_000;
/** SQLSTATEs that concern every client: the server starts, stops, recovers or is full. */
const CONCERNS_ALL = /^(?:57P0[0-5]|53\d\d\d|58\d\d\d|XX\d\d\d)$/;

export const postgresCheck = defineKind({
  settings: Type.Object(databaseSettings(63)),
  defaultPort: DEFAULT_PORT,
  destinationOf: ({ port = DEFAULT_PORT, security = 'plain' }) => `postgres+${security}:${port}`,
  refuse: refuseDatabase,
  prepare: (tools) => (run, settings) => {
    const { port = DEFAULT_PORT, security = 'plain' } = settings;
    return talk(tools, run, {
      ...{ kind: 'postgres', port, security, settings },
      speak: (dialogue, secure) => speak(dialogue, settings, security, secure),
      // The message Terminate.
      farewell: message('X', Buffer.alloc(0)),
    });
  },
});

async function speak(
  dialogue: Dialogue,
  wanted: DatabaseWish,
  security: Security,
  secure: () => Promise<void>,
): Promise<TalkVerdict> {
  if (security === 'starttls') {
    dialogue.send(untyped(integer(SSL_REQUEST)));
    const [answer] = await dialogue.read(1);
    if (answer === 0x4e) return failureOf('tls', 'tls', { code: 'tls_not_offered' });
    if (answer !== 0x53) throw breakOff(notProtocol('PostgreSQL', Buffer.from([answer ?? 0])));
    await secure();
  }
  const { username, database } = wanted;
  const parameters = ['user', username ?? 'upbeat', 'database', database ?? username ?? 'postgres'];
  const names = [...parameters, 'application_name', 'upbeat', 'client_encoding', 'UTF8'];
  dialogue.send(untyped(integer(PROTOCOL_VERSION), Buffer.from(`${names.join('\0')}\0\0`)));
  const refused = await signIn(dialogue, wanted, security === 'starttls');
  if (refused !== undefined) return refused;
  return wanted.query === undefined ? null : await ask(dialogue, wanted);
}

/** Signs in; undefined: the server is ready for a query. */
async function signIn(
  dialogue: Dialogue,
  { username, password = '' }: DatabaseWish,
  isSecure: boolean,
): Promise<TalkVerdict | undefined> {
  const secrets = [password, username];
  let scram: Scram | null = null;
  for (let count = 0; count < MAX_MESSAGES; count++) {
    const { type, body } = await readMessage(dialogue);
    if (type === 'E') return judgeError(body, username === undefined, secrets);
    if (type === 'Z') return undefined;
    if (type !== 'R') continue;
    const method = body.length < 4 ? -1 : body.readInt32BE();
    if (method === 0) continue;
    // The server works, and nobody is to sign in.
    if (username === undefined) return null;
    if (method === 3 && !isSecure) return failureOf('tls', 'tls', { code: 'password_in_clear' });
    if (method === 3) dialogue.send(message('p', Buffer.from(`${password}\0`)));
    else if (method === 5)
      dialogue.send(message('p', Buffer.from(`${md5Of(username, password, body.subarray(4, 8))}\0`)));
    else if (method === 10 && body.toString('latin1', 4).split('\0').includes('SCRAM-SHA-256')) {
      scram = startScram('', password);
      const first = Buffer.from(scram.first);
      dialogue.send(message('p', Buffer.from('SCRAM-SHA-256\0'), integer(first.length), first));
    } else if (method === 11 && scram !== null) {
      const answer = await scram.answer(body.toString('utf8', 4));
      if (answer === null) throw breakOff(notProtocol('PostgreSQL', body.subarray(4)));
      dialogue.send(message('p', Buffer.from(answer)));
    } else if (method === 12 && scram !== null) {
      if (!scram.accepts(body.toString('utf8', 4)))
        return contentFailure({ code: 'sign_in_refused', error: 'it does not know the password' });
    } else return contentFailure({ code: 'sign_in_unknown', error: `method ${method}` });
  }
  throw breakOff(notProtocol('PostgreSQL', ''));
}

async function ask(
  dialogue: Dialogue,
  { query = '', returns, username, password }: DatabaseWish,
): Promise<TalkVerdict> {
  dialogue.send(message('Q', Buffer.from(`${query}\0`)));
  // Undefined: there is no row yet.
  let value: string | null | undefined;
  let failure: Failure | null = null;
  for (let count = 0; count < MAX_MESSAGES; count++) {
    const { type, body } = await readMessage(dialogue);
    if (type === 'D' && value === undefined) value = firstValue(body);
    // A server that asks for data gets none.
    else if (type === 'G') dialogue.send(message('f', Buffer.from('no data\0')));
    else if (type === 'E') {
      const { state, text } = readError(body);
      failure ??= contentFailure({
        code: 'query_failed',
        error: `${state} ${withoutSecrets(text, [query, password, username])}`,
      });
    } else if (type === 'Z') {
      if (failure !== null || returns === undefined || value === returns) return failure;
      return contentFailure({ code: 'value_unexpected', text: returns });
    }
  }
  throw breakOff(notProtocol('PostgreSQL', ''));
}

/** An error of the server: its SQLSTATE, and what it says. */
function readError(body: Buffer): { readonly state: string; readonly text: string } {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
  return { state: /^\w{5}/.exec(fields.get('C') ?? '')?.[0] ?? '?', text: fields.get('M') ?? '' };
}

/** The verdict on an error before the sign-in is over. Without credentials a refusal of ours is an answer as good as any. */
function judgeError(
  body: Buffer,
  isAnonymous: boolean,
  secrets: readonly (string | undefined)[],
): TalkVerdict {
  const { state, text } = readError(body);
  if (CONCERNS_ALL.test(state)) return refusal(`${state} ${text}`, secrets);
  if (isAnonymous) return null;
  const error = `${state} ${withoutSecrets(text, secrets)}`;
  return contentFailure(
    state.startsWith('28') ? { code: 'sign_in_refused', error } : { code: 'server_refuses', error },
  );
}

/** The first value of a row as text; null: there is none. */
function firstValue(body: Buffer): string | null {
  if (body.length < 6 || body.readUInt16BE() === 0) return null;
  const length = body.readInt32BE(2);
  return length < 0 ? null : body.toString('utf8', 6, 6 + length);
}

async function readMessage(dialogue: Dialogue): Promise<{ readonly type: string; readonly body: Buffer }> {
  const head = await dialogue.read(5);
  const [type, length] = [String.fromCharCode(head[0] ?? 0), head.readInt32BE(1)];
  if (!/[A-Za-z0-9]/.test(type) || length < 4 || length > MAX_MESSAGE_BYTES)
    throw breakOff(notProtocol('PostgreSQL', Buffer.concat([head, dialogue.preview(100)])));
  return { type, body: await dialogue.read(length - 4) };
}

function md5Of(username: string, password: string, salt: Uint8Array): string {
  const md5 = (...parts: readonly (string | Uint8Array)[]) => {
    const hash = createHash('md5');
    for (const part of parts) hash.update(part);
    return hash.digest('hex');
  };
  return `md5${md5(md5(password, username), salt)}`;
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(type), untyped(...parts)]);
}

/** A message without a type, as only the first ones are. */
function untyped(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([integer(4 + body.length), body]);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Begins a sign-in by SCRAM-SHA-256 (RFC 5802, RFC 7677), which proves the password to both sides without sending it. `username` is empty where the protocol has sent it already. */
function startScram(username: string, password: string): Scram {
  const own = randomBytes(18).toString('base64');
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
  const bare = `n=${name},r=${own}`;
  let proof = Buffer.alloc(0);
  return {
    first: `n,,${bare}`,
    async answer(challenge) {
      const [, both = '', salt = '', count = ''] =
        /^r=([^,]+),s=([A-Za-z0-9+/=]+),i=(\d{1,9})/.exec(challenge) ?? [];
      const iterations = Number(count);
      if (!both.startsWith(own) || iterations < 1 || iterations > MAX_ITERATIONS) return null;
      const salted = await promisify(pbkdf2)(
        password.normalize('NFKC'),
        Buffer.from(salt, 'base64'),
        iterations,
        32,
        'sha256',
      );
      const unsigned = `c=biws,r=${both}`;
      const messages = `${bare},${challenge},${unsigned}`;
      const clientKey = hmac(salted, 'Client Key');
      const signature = hmac(createHash('sha256').update(clientKey).digest(), messages);
      proof = hmac(hmac(salted, 'Server Key'), messages);
      return `${unsigned},p=${Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))).toString('base64')}`;
    },
    accepts(last) {
      const given = Buffer.from(/^v=([A-Za-z0-9+/=]+)/.exec(last)?.[1] ?? '', 'base64');
      return proof.length > 0 && given.length === proof.length && timingSafeEqual(given, proof);
    },
  };
}

function hmac(key: Uint8Array, text: string): Buffer<ArrayBuffer> {
  return createHmac('sha256', key).update(text).digest() as Buffer<ArrayBuffer>;
}
