/** Kind `ssh`: a server names its version and offers its algorithms, with which every session begins (RFC 4253, 4.2 and 7.1). */
import { Type } from '../json-schema.ts';
import type { Dialogue } from '../outbound/dialogue.ts';
import { defineKind, PortSetting } from './check-kind.ts';
import { breakOff, notProtocol, refusal, type TalkVerdict, talk } from './talk.ts';

const DEFAULT_PORT = 22;
/** Maximum length of the identification without its end (RFC 4253, 4.2). */
const MAX_LINE_LENGTH = 255;
/** Maximum number of lines before the identification. */
const MAX_LINES = 50;
/** Maximum length of a packet (RFC 4253, 6.1). */
const MAX_PACKET_BYTES = 35_000;
const SSH_MSG_KEXINIT = 20;
/** The text of OpenSSH to a client that it turns away, because it was penalised. */
const TURNED_AWAY = /^Not allowed at this time/;

export const sshCheck = defineKind({
  settings: Type.Object({ port: Type.Optional(PortSetting) }),
  defaultPort: DEFAULT_PORT,
  prepare: (tools) => {
    const [product = ''] = tools.userAgent.split(' ');
    const identification = `SSH-2.0-${product.replace(/[^\x21-\x7e]|-/g, '_')}\r\n`;
    return (run, { port = DEFAULT_PORT }) =>
      talk(tools, run, {
        ...{ kind: 'ssh', port, security: 'plain', settings: {} },
        speak: (dialogue) => speak(dialogue, identification),
        farewell: DISCONNECT,
      });
  },
});

async function speak(dialogue: Dialogue, identification: string): Promise<TalkVerdict> {
  dialogue.send(identification);
  for (let lines = 0; ; lines++) {
    const line = await dialogue.readLine(MAX_LINE_LENGTH);
    if (line === null || lines === MAX_LINES)
      throw breakOff(notProtocol('SSH', line ?? dialogue.preview(100)));
    if (TURNED_AWAY.test(line)) return 'blocked';
    if (/^Exceeded MaxStartups/.test(line)) return refusal(line);
    if (/^SSH-(?:2\.0|1\.99)-/.test(line)) break;
    // Lines before the identification are text in UTF-8; no other protocol begins so.
    if (/^SSH-|^HTTP\/|[^\x20-\x7e\x80-\xff\t]/.test(line)) throw breakOff(notProtocol('SSH', line));
  }
  const length = (await dialogue.read(4)).readUInt32BE();
  if (length < 12 || length > MAX_PACKET_BYTES) throw breakOff(notProtocol('SSH', dialogue.preview(100)));
  // After the length of the padding comes the type of the message.
  const packet = await dialogue.read(length);
  if (packet[1] !== SSH_MSG_KEXINIT) throw breakOff(notProtocol('SSH', packet.subarray(1, 100)));
  return null;
}

/** The message that ends a session: the client has what it wanted (RFC 4253, 11.1, `SSH_DISCONNECT_BY_APPLICATION`). */
const DISCONNECT = packetOf(Buffer.from([1, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0]));

/** A packet before encryption: length, length of the padding, message, padding to a multiple of 8 bytes, at least 4. */
function packetOf(message: Buffer): Buffer {
  const padding = 4 + ((8 - ((5 + message.length + 4) % 8)) % 8);
  const packet = Buffer.alloc(5 + message.length + padding);
  packet.writeUInt32BE(1 + message.length + padding);
  packet[4] = padding;
  message.copy(packet, 5);
  return packet;
}
