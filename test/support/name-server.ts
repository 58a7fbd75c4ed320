/** A name server on loopback that answers as a test tells it, over UDP (RFC 1035). */
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** What one question is answered with. */
export type NameAnswer =
  | { readonly texts: readonly string[] }
  | { readonly addresses: readonly string[]; readonly ttl?: number }
  /** 0: the name is there but has no such record. 2: SERVFAIL, 3: NXDOMAIN, 5: REFUSED. */
  | { readonly code: number }
  | 'silence';

/** A question as it came. */
export interface NameQuestion {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'TXT' | 'other';
}

/** The running server. */
export interface NameServer {
  /** `127.0.0.1:port`, as `checks.nameservers` wants it. */
  readonly address: string;
  readonly questions: readonly NameQuestion[];
  close(): Promise<void>;
}

/** Starts it. IPv4 addresses only answer A, IPv6 addresses only AAAA. */
export async function startNameServer(answer: (question: NameQuestion) => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: NameQuestion[] = [];
  socket.on('message', (packet, from) => {
    const question = readQuestion(packet);
    questions.push(question);
    const said = answer(question);
    if (said !== 'silence') socket.send(writeAnswer(packet, question, said), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, NameQuestion['type']>> = { 1: 'A', 16: 'TXT', 28: 'AAAA' };

function readQuestion(packet: Buffer): NameQuestion {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = packet.readUInt16BE(at + 1);
  return { name: labels.join('.').toLowerCase(), type: TYPES[type] ?? 'other' };
}

function writeAnswer(packet: Buffer, question: NameQuestion, said: Exclude<NameAnswer, 'silence'>): Buffer {
  const questionEnd = packet.indexOf(0, HEADER_BYTES) + 5;
  const ttl = 'addresses' in said ? (said.ttl ?? 60) : 60;
  const addresses = 'addresses' in said ? said.addresses : [];
  const records = addresses
    .filter((address) => question.type === (address.includes(':') ? 'AAAA' : 'A'))
    .map((address) =>
      address.includes(':')
        ? writeRecord(28, ipv6Bytes(address), ttl)
        : writeRecord(1, Buffer.from(address.split('.').map(Number)), ttl),
    );
  if ('texts' in said && question.type === 'TXT')
    for (const text of said.texts)
      records.push(writeRecord(16, Buffer.concat([Buffer.of(text.length), Buffer.from(text)]), ttl));
  const header = Buffer.alloc(HEADER_BYTES);
  packet.copy(header, 0, 0, 2);
  // An answer, recursion desired and available.
  header.writeUInt16BE(0x8180 | ('code' in said ? said.code : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, packet.subarray(HEADER_BYTES, questionEnd), ...records]);
}

function writeRecord(type: number, data: Buffer, ttl: number): Buffer {
  const record = Buffer.alloc(12);
  // The name of the question, by pointer.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const words = (part: string) => (part === '' ? [] : part.split(':'));
  const gap = 8 - words(head).length - words(tail).length;
  const all = [...words(head), ...new Array<string>(gap).fill('0'), ...words(tail)];
  return Buffer.from(all.map((word) => word.padStart(4, '0')).join(''), 'hex');
}
