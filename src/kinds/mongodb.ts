/** Kind `mongodb`: a server answers `hello`, with which every client begins, and is one that clients may read from (OP_MSG). */
import { failureOf } from '../domain/failure.ts';
import { Type } from '../json-schema.ts';
import type { Dialogue } from '../outbound/dialogue.ts';
import { defineKind, PortSetting } from './check-kind.ts';
import {
  breakOff,
  notProtocol,
  refusal,
  refuseTalk,
  securitySettings,
  type TalkVerdict,
  talk,
} from './talk.ts';

const DEFAULT_PORT = 27_017;
/** Maximum size of a message, bytes. */
const MAX_MESSAGE_BYTES = 131_072;
/** Maximum number of members of the answer. */
const MAX_MEMBERS = 1_000;
const OP_MSG = 2013;
/** Bytes of the head of a message, its flags, and the type of its section. */
const HEAD_BYTES = 16;
const BEFORE_DOCUMENT = 5;

/** The check of a MongoDB server. */
export const mongodbCheck = defineKind({
  settings: Type.Object({ port: Type.Optional(PortSetting), ...securitySettings(['tls', 'plain']) }),
  defaultPort: DEFAULT_PORT,
  destinationOf: ({ port = DEFAULT_PORT, security = 'plain' }) => `mongodb+${security}:${port}`,
  refuse: (settings, names) => refuseTalk(settings, names, settings.security ?? 'plain'),
  prepare: (tools) => (run, settings) => {
    const { port = DEFAULT_PORT, security = 'plain' } = settings;
    return talk(tools, run, { ...{ kind: 'mongodb', port, security, settings }, speak });
  },
});

async function speak(dialogue: Dialogue): Promise<TalkVerdict> {
  dialogue.send(HELLO);
  const head = await dialogue.read(HEAD_BYTES);
  const [length, answersTo, operation] = [head.readInt32LE(), head.readInt32LE(8), head.readInt32LE(12)];
  const isMessage = operation === OP_MSG && answersTo === 1 && length > HEAD_BYTES + BEFORE_DOCUMENT;
  if (!isMessage || length > MAX_MESSAGE_BYTES)
    throw breakOff(notProtocol('MongoDB', Buffer.concat([head, dialogue.preview(100)])));
  const members = readMembers((await dialogue.read(length - HEAD_BYTES)).subarray(BEFORE_DOCUMENT));
  if (members === null) throw breakOff(notProtocol('MongoDB', ''));
  if (members.get('ok') !== 1) return refusal(String(members.get('errmsg') ?? 'no reason'));
  // A router of a sharded cluster says `isdbgrid`. A member that starts or recovers is none of these.
  const isReady =
    ['isWritablePrimary', 'ismaster', 'secondary', 'arbiterOnly'].some(
      (name) => members.get(name) === true,
    ) || members.get('msg') === 'isdbgrid';
  return isReady ? null : failureOf('content', 'body', { code: 'member_not_ready' });
}

/** Sizes of values by their types in BSON; those of texts and documents begin with their length. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [0x01, 8],
  [0x07, 12],
  [0x08, 1],
  [0x09, 8],
  [0x0a, 0],
  [0x10, 4],
  [0x11, 8],
  [0x12, 8],
  [0x13, 16],
]);

/** The members of a document of BSON that are numbers, texts and booleans; null: it cannot be read. */
export function readMembers(bytes: Buffer): ReadonlyMap<string, string | number | boolean> | null {
  const members = new Map<string, string | number | boolean>();
  let at = 4;
  for (let count = 0; count < MAX_MEMBERS; count++) {
    const type = bytes[at];
    if (type === 0) return members;
    const end = bytes.indexOf(0, at + 1);
    if (type === undefined || end === -1) return null;
    const name = bytes.toString('utf8', at + 1, end);
    at = end + 1;
    const size = SIZES.get(type) ?? sizeOf(type, bytes, at);
    if (size < 0 || at + size > bytes.length) return null;
    if (type === 0x01) members.set(name, bytes.readDoubleLE(at));
    else if (type === 0x02) members.set(name, bytes.toString('utf8', at + 4, at + size - 1));
    else if (type === 0x08) members.set(name, bytes[at] === 1);
    else if (type === 0x10) members.set(name, bytes.readInt32LE(at));
    at += size;
  }
  return null;
}

/** The size of a value that says it itself; -1: the type is not known, or the value ends early. */
function sizeOf(type: number, bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) return -1;
  const length = bytes.readInt32LE(at);
  if (type === 0x02) return length < 1 ? -1 : 4 + length;
  // Documents and lists count their length.
  if (type === 0x03 || type === 0x04) return length < 5 ? -1 : length;
  return type === 0x05 && length >= 0 ? 5 + length : -1;
}

/** The message `{ hello: 1, $db: "admin" }` with the number 1. */
const HELLO = helloMessage();

function helloMessage(): Buffer {
  const document = Buffer.from('\0\0\0\0\x10hello\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0', 'latin1');
  document.writeInt32LE(document.length);
  const head = Buffer.alloc(HEAD_BYTES + BEFORE_DOCUMENT);
  head.writeInt32LE(head.length + document.length);
  head.writeInt32LE(1, 4);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, document]);
}
