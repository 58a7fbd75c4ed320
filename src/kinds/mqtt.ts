/** Kind `mqtt`: a broker takes a client, and sends a message of a topic if one is named (MQTT 3.1.1). */
import { randomBytes } from 'node:crypto';
import { failureOf } from '../domain/failure.ts';
import { Type } from '../json-schema.ts';
import type { Dialogue } from '../outbound/dialogue.ts';
import { matchesExpression } from './assertions.ts';
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
} from './talk.ts';

/** Ports of MQTT without and with TLS. */
const PLAIN_PORT = 1883;
const TLS_PORT = 8883;
/** Maximum number of packets before the message. */
const MAX_PACKETS = 100;

const CONNACK = 2;
const PUBLISH = 3;
const SUBACK = 9;
/** Maximum size of packets by their types, bytes; others are not expected. */
const MAX_BYTES: ReadonlyMap<number, number> = new Map([
  [CONNACK, 2],
  [PUBLISH, 131_072],
  [SUBACK, 3],
]);

/** Reasons of a broker for refusing a connection (3.2.2.3). */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [1, '1 unacceptable protocol version'],
  [2, '2 identifier rejected'],
  [3, '3 server unavailable'],
  [4, '4 bad user name or password'],
  [5, '5 not authorized'],
]);

export const mqttCheck = defineKind({
  settings: Type.Object({
    port: Type.Optional(PortSetting),
    ...securitySettings(['tls', 'plain']),
    ...SIGN_IN_SETTINGS,
    topic: Type.Optional(Type.String({ format: 'password', minLength: 1, maxLength: 1_000 })),
    contains: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    matches: Type.Optional(Type.String({ format: 'expression', maxLength: 500 })),
  }),
  portOf,
  destinationOf: (settings) => `mqtt+${securityOf(settings)}:${portOf(settings)}`,
  refuse: (settings, names) => [
    ...refuseTalk(settings, names, securityOf(settings)),
    ...refuseAlone(names, [
      ['password', 'username'],
      ['contains', 'topic'],
      ['matches', 'topic'],
    ]),
  ],
  prepare: (tools) => (run, settings) =>
    talk(tools, run, {
      ...{ kind: 'mqtt', port: portOf(settings), security: securityOf(settings), settings },
      speak: (dialogue) => speak(dialogue, settings),
      // DISCONNECT
      farewell: Buffer.from([0xe0, 0]),
    }),
});

interface Place {
  readonly port?: number;
  readonly security?: Security;
}

function portOf({ port, security }: Place): number {
  return port ?? (security === 'tls' ? TLS_PORT : PLAIN_PORT);
}

function securityOf({ port, security }: Place): Security {
  return security ?? (port === TLS_PORT ? 'tls' : 'plain');
}

interface Wanted {
  readonly username?: string;
  readonly password?: string;
  readonly topic?: string;
  readonly contains?: string;
  readonly matches?: string;
}

async function speak(dialogue: Dialogue, wanted: Wanted): Promise<TalkVerdict> {
  const { username, password, topic, contains, matches } = wanted;
  // A clean session, so that the broker keeps nothing of it.
  const flags = 2 | (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40);
  dialogue.send(
    packetOf(
      0x10,
      ...[textOf('MQTT'), Buffer.from([4, flags, 0, 60]), textOf(`upbeat-${randomBytes(6).toString('hex')}`)],
      ...[username, password].flatMap((text) => (text === undefined ? [] : [textOf(text)])),
    ),
  );
  const { body } = await readPacket(dialogue, CONNACK);
  const reason = body[1] ?? -1;
  if (reason < 0) throw breakOff(notProtocol('MQTT', body));
  if (reason !== 0) {
    const error = REFUSALS.get(reason) ?? String(reason);
    if (reason !== 4 && reason !== 5) return refusal(error);
    // Without credentials it is an answer as good as any.
    return username === undefined && topic === undefined
      ? null
      : contentFailure({ code: 'sign_in_refused', error });
  }
  if (topic === undefined) return null;
  dialogue.send(packetOf(0x82, Buffer.from([0, 1]), textOf(topic), Buffer.from([0])));
  const isWaiting = contains !== undefined || matches !== undefined;
  for (let count = 0; count < MAX_PACKETS; count++) {
    const packet = await readPacket(dialogue, SUBACK, PUBLISH);
    if (packet.type === SUBACK) {
      if (packet.body[2] === 0x80) return contentFailure({ code: 'topic_refused', text: topic });
      if (!isWaiting) return null;
    }
    if (packet.type === PUBLISH && isWaiting) return judgeMessage(packet.body, wanted);
  }
  throw breakOff(notProtocol('MQTT', ''));
}

/** Judges a message that was published with QoS 0, as the subscription asks for. */
function judgeMessage(body: Buffer, { contains, matches }: Wanted): TalkVerdict {
  if (body.length < 2) throw breakOff(notProtocol('MQTT', body));
  const text = body.toString('utf8', 2 + body.readUInt16BE());
  if (contains !== undefined && !text.includes(contains))
    return failureOf('content', 'body', { code: 'message_lacks', text: contains });
  if (matches !== undefined && !matchesExpression(matches, text))
    return failureOf('content', 'body', { code: 'message_unmatched', text: matches });
  return null;
}

/** The next packet, which must be of one of these types and as long as such packets are. */
async function readPacket(
  dialogue: Dialogue,
  ...types: readonly number[]
): Promise<{ readonly type: number; readonly body: Buffer }> {
  const [head = 0] = await dialogue.read(1);
  const type = head >> 4;
  const stranger = () =>
    breakOff(notProtocol('MQTT', Buffer.concat([Buffer.from([head]), dialogue.preview(100)])));
  if (!types.includes(type)) throw stranger();
  const maxLength = MAX_BYTES.get(type) ?? 0;
  let length = 0;
  // At most four digits of seven bits, the lowest first.
  for (let shift = 0; ; shift += 7) {
    const [digit = 0] = await dialogue.read(1);
    length |= (digit & 0x7f) << shift;
    if (length > maxLength || (shift === 21 && digit > 0x7f)) throw stranger();
    if (digit <= 0x7f) break;
  }
  return { type, body: await dialogue.read(length) };
}

function textOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function packetOf(head: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  for (let rest = body.length; length.length === 0 || rest > 0; rest >>= 7)
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  return Buffer.concat([Buffer.from([head, ...length]), body]);
}
