/** Kind `mysql`: a server of MySQL's or MariaDB's protocol takes a client, and answers a query if there are credentials (version 10). */
import { createHash } from 'node:crypto';
import { failureOf } from '../domain/failure.ts';
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

const DEFAULT_PORT = 3306;
/** Maximum size of a packet, bytes. */
const MAX_PACKET_BYTES = 131_072;
/** Maximum number of packets of the server in a sign-in, and in the result of a query. */
const MAX_SIGN_IN_PACKETS = 10;
const MAX_RESULT_PACKETS = 10_000;

const CLIENT_LONG_PASSWORD = 1;
const CLIENT_CONNECT_WITH_DB = 8;
const CLIENT_PROTOCOL_41 = 0x200;
const CLIENT_SSL = 0x800;
const CLIENT_SECURE_CONNECTION = 0x8000;
const CLIENT_PLUGIN_AUTH = 0x80000;
const UTF8MB4 = 45;

/** Errors that concern every client: the server is full, or stops. */
const CONCERNS_ALL: ReadonlySet<number> = new Set([1040, 1041, 1053, 1079]);
/** Errors of a user that may not come in. */
const SIGN_IN_REFUSED: ReadonlySet<number> = new Set([1044, 1045, 1130, 1227, 1698, 3118, 3159]);
/** Our host has broken off too many connections (`max_connect_errors`). */
const HOST_BLOCKED = 1129;

export const mysqlCheck = defineKind({
  settings: Type.Object(databaseSettings(64)),
  defaultPort: DEFAULT_PORT,
  destinationOf: ({ port = DEFAULT_PORT, security = 'plain' }) => `mysql+${security}:${port}`,
  refuse: refuseDatabase,
  prepare: (tools) => (run, settings) => {
    const { port = DEFAULT_PORT, security = 'plain' } = settings;
    return talk(tools, run, {
      ...{ kind: 'mysql', port, security, settings },
      speak: (dialogue, secure) => speak(dialogue, settings, security, secure),
      // COM_QUIT
      farewell: packetOf(0, Buffer.from([1])),
    });
  },
});

/**
 * Without credentials, an unknown user signs in: a connection that ends before that counts against our host, which the server blocks after a
 * hundred of them.
 */
async function speak(
  dialogue: Dialogue,
  wanted: DatabaseWish,
  security: Security,
  secure: () => Promise<void>,
): Promise<TalkVerdict> {
  const first = await readPacket(dialogue);
  if (first.body[0] === 0xff) return judgeError(first.body, wanted);
  const greeting = readGreeting(first.body);
  const { username = 'upbeat', password = '', database } = wanted;
  let { sequence } = first;
  const base =
    CLIENT_LONG_PASSWORD |
    CLIENT_PROTOCOL_41 |
    CLIENT_SECURE_CONNECTION |
    CLIENT_PLUGIN_AUTH |
    (database === undefined ? 0 : CLIENT_CONNECT_WITH_DB);
  const isSecure = security === 'starttls';
  const head = Buffer.alloc(32);
  head.writeUInt32LE(isSecure ? base | CLIENT_SSL : base);
  head.writeUInt32LE(MAX_PACKET_BYTES, 4);
  head[8] = UTF8MB4;
  if (isSecure) {
    if ((greeting.capabilities & CLIENT_SSL) === 0)
      return failureOf('tls', 'tls', { code: 'tls_not_offered' });
    dialogue.send(packetOf(++sequence, head));
    await secure();
  }
  const known = scrambleOf(greeting.plugin, password, greeting.salt);
  // For a method that is not known here, the server asks for another one or refuses.
  const proof = known ?? Buffer.alloc(0);
  const texts = [username, ...(database === undefined ? [] : [database]), greeting.plugin];
  const [user = '', ...others] = texts.map((text) => `${text}\0`);
  dialogue.send(
    packetOf(
      ++sequence,
      head,
      Buffer.from(user),
      Buffer.from([proof.length]),
      proof,
      Buffer.from(others.join('')),
    ),
  );
  const refused = await signIn(dialogue, wanted, greeting, isSecure);
  if (refused !== undefined) return refused;
  return wanted.query === undefined ? null : await ask(dialogue, wanted);
}

/** Completes a sign-in; undefined: the server is ready for a query. */
async function signIn(
  dialogue: Dialogue,
  wanted: DatabaseWish,
  greeting: Greeting,
  isSecure: boolean,
): Promise<TalkVerdict | undefined> {
  const { password = '' } = wanted;
  let { plugin } = greeting;
  for (let count = 0; count < MAX_SIGN_IN_PACKETS; count++) {
    const { sequence, body } = await readPacket(dialogue);
    if (body[0] === 0) return undefined;
    if (body[0] === 0xff) return judgeError(body, wanted);
    let proof: Buffer | null = Buffer.alloc(0);
    if (body[0] === 0xfe) {
      const [name = ''] = body.toString('latin1', 1).split('\0');
      plugin = name;
      proof = scrambleOf(plugin, password, body.subarray(2 + name.length, 22 + name.length));
      if (plugin === 'mysql_clear_password') proof = Buffer.from(`${password}\0`);
    } else if (body[0] === 1 && plugin === 'caching_sha2_password') {
      // 3: the server knew the password; 4: it wants to see it.
      if (body[1] === 3) continue;
      proof = Buffer.from(`${password}\0`);
      plugin = 'mysql_clear_password';
    } else throw breakOff(notProtocol('MySQL', body.subarray(0, 100)));
    if (wanted.username === undefined) proof = Buffer.alloc(0);
    else if (proof === null)
      return contentFailure({ code: 'sign_in_unknown', error: withoutSecrets(plugin, []) });
    else if (plugin === 'mysql_clear_password' && !isSecure)
      return failureOf('tls', 'tls', { code: 'password_in_clear' });
    dialogue.send(packetOf(sequence + 1, proof));
  }
  throw breakOff(notProtocol('MySQL', ''));
}

async function ask(
  dialogue: Dialogue,
  { query = '', returns, username, password }: DatabaseWish,
): Promise<TalkVerdict> {
  // COM_QUERY
  dialogue.send(packetOf(0, Buffer.from([3]), Buffer.from(query)));
  // Undefined: there is no row yet.
  let value: string | null | undefined;
  // The definitions of the columns end with a packet of their own, as the rows do.
  let ends = 0;
  for (let count = 0; count < MAX_RESULT_PACKETS; count++) {
    const { body } = await readPacket(dialogue);
    const [kind] = body;
    if (kind === 0xff) {
      const { number, text } = readError(body);
      const error = `${number} ${withoutSecrets(text, [query, password, username])}`;
      return contentFailure({ code: 'query_failed', error });
    }
    const isEnd = kind === 0xfe && body.length < 9;
    if (isEnd) ends++;
    // A server that asks for a file gets none.
    if (count === 0 && kind === 0xfb) throw breakOff(notProtocol('MySQL', body.subarray(0, 100)));
    if (ends === 1 && !isEnd && value === undefined) value = firstValue(body);
    if (ends === 2 || (count === 0 && kind === 0))
      return returns === undefined || value === returns
        ? null
        : contentFailure({ code: 'value_unexpected', text: returns });
  }
  throw breakOff(notProtocol('MySQL', ''));
}

/** The verdict on an error before the sign-in is over. Without credentials a refusal of ours is an answer as good as any. */
function judgeError(body: Buffer, { username, password }: DatabaseWish): TalkVerdict {
  const { number, text } = readError(body);
  if (number === HOST_BLOCKED) return 'blocked';
  const error = `${number} ${text}`;
  if (CONCERNS_ALL.has(number)) return refusal(error);
  if (username === undefined) return null;
  if (!SIGN_IN_REFUSED.has(number)) return refusal(error, [password, username]);
  return contentFailure({ code: 'sign_in_refused', error: withoutSecrets(error, [password, username]) });
}

function readError(body: Buffer): { readonly number: number; readonly text: string } {
  if (body.length < 3) throw breakOff(notProtocol('MySQL', body));
  return { number: body.readUInt16LE(1), text: body.toString('utf8', 3).replace(/^#.{5}/, '') };
}

interface Greeting {
  readonly capabilities: number;
  readonly salt: Buffer;
  /** Name of the method of the sign-in. */
  readonly plugin: string;
}

function readGreeting(body: Buffer): Greeting {
  const at = body.indexOf(0) + 1;
  // Version 10, the version of the server, and 44 bytes more.
  if (body[0] !== 10 || at < 2 || body.length < at + 44)
    throw breakOff(notProtocol('MySQL', body.subarray(0, 100)));
  const capabilities = (body.readUInt16LE(at + 13) | (body.readUInt16LE(at + 18) << 16)) >>> 0;
  const salt = Buffer.concat([body.subarray(at + 4, at + 12), body.subarray(at + 31, at + 43)]);
  const length = Math.max(13, (body[at + 20] ?? 0) - 8);
  const [plugin = ''] = body.toString('latin1', at + 31 + length).split('\0');
  return { capabilities, salt, plugin: plugin === '' ? 'mysql_native_password' : plugin };
}

/** The proof of the password; null: the method is not known. */
function scrambleOf(plugin: string, password: string, salt: Uint8Array): Buffer | null {
  if (password === '') return Buffer.alloc(0);
  if (plugin === 'mysql_native_password') {
    const once = hashOf('sha1', password);
    return xor(once, hashOf('sha1', salt, hashOf('sha1', once)));
  }
  if (plugin !== 'caching_sha2_password') return null;
  const once = hashOf('sha256', password);
  return xor(once, hashOf('sha256', hashOf('sha256', once), salt));
}

function hashOf(name: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash(name);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}

/** The first value of a row as text; null: there is none. */
function firstValue(row: Buffer): string | null {
  const [size = 0xfb] = row;
  if (size < 0xfb) return row.toString('utf8', 1, 1 + size);
  return size === 0xfc && row.length > 2 ? row.toString('utf8', 3, 3 + row.readUInt16LE(1)) : null;
}

async function readPacket(dialogue: Dialogue): Promise<{ readonly sequence: number; readonly body: Buffer }> {
  const head = await dialogue.read(4);
  const [length, sequence] = [head.readUIntLE(0, 3), head[3] ?? 0];
  if (length === 0 || length > MAX_PACKET_BYTES)
    throw breakOff(notProtocol('MySQL', Buffer.concat([head, dialogue.preview(100)])));
  return { sequence, body: await dialogue.read(length) };
}

function packetOf(sequence: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence & 0xff;
  return Buffer.concat([head, body]);
}
