/** Encodes DNS queries and decodes their replies (RFC 1035; EDNS by RFC 6891) with dns-packet. */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type * as DnsPacket from 'dns-packet';
import type { Answer, OptAnswer, Packet } from 'dns-packet';
import ipaddr from 'ipaddr.js';

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'TXT' | 'CAA' | 'SRV' | 'SOA' | 'PTR';

export interface NameQuery {
  /** Lower-case ASCII; `.` is the root. */
  readonly name: string;
  readonly type: RecordType;
}

/**
 * A record of the reply. The text is an address, a name, the joined parts of a TXT record, or the fields of MX
 * (`10 mail.example`), SRV (`0 5 5060 sip.example`) and CAA (`0 issue ca.example`); of SOA, its two names.
 */
export interface NameRecord {
  readonly text: string;
  /** Seconds. */
  readonly ttl: number;
}

export interface NameReply {
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL` and so on. */
  readonly code: string;
  /** True if not all records fitted into the datagram, so that the query must be repeated over TCP. */
  readonly truncated: boolean;
  /** Records of the queried type that are complete, in the order of the reply. */
  readonly records: readonly NameRecord[];
}

/** Maximum size of a reply over UDP: it fits into every path without fragmentation (DNS flag day 2020). */
const MAX_DATAGRAM_BYTES = 1232;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 253;

const load = createRequire(import.meta.url);
let codec: typeof DnsPacket | undefined;

/** Loaded for the first query, since commands that know the kinds of checks send none. */
function loadCodec(): typeof DnsPacket {
  codec ??= load('dns-packet') as typeof DnsPacket;
  return codec;
}

/** Returns true if a name is valid in a query (RFC 1035, 2.3.4). A trailing dot is allowed. */
export function isQueryableName(name: string): boolean {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  return (
    bare.length <= MAX_NAME_BYTES &&
    bare.split('.').every((label) => label.length > 0 && label.length <= MAX_LABEL_BYTES)
  );
}

/** Encodes a query. `edns` announces support for larger datagrams; some old servers refuse it. */
export function encodeQuery(id: number, { name, type }: NameQuery, edns: boolean): Buffer {
  const packet: Packet = {
    id,
    type: 'query',
    flags: loadCodec().RECURSION_DESIRED,
    questions: [{ type, name, class: 'IN' }],
  };
  if (!edns) return loadCodec().encode(packet);
  const option: OptAnswer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: MAX_DATAGRAM_BYTES,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  return loadCodec().encode({ ...packet, additionals: [option] });
}

/** Decodes a packet; null: it is not a reply to this query. */
export function decodeReply(packet: Buffer, query: NameQuery): NameReply | null {
  const message = decodeOrNull(packet);
  if (message === null || message.type !== 'response') return null;
  const { rcode: code = 'SERVFAIL', questions = [], answers = [], flag_tc: truncated = false } = message;
  const [asked] = questions;
  if (asked === undefined) {
    if (truncated && code === 'NOERROR') return { code, truncated, records: [] };
    // A server that could not parse the question need not repeat it.
    return code === 'NOERROR' || code === 'NXDOMAIN' ? null : { code, truncated: false, records: [] };
  }
  if (asked.type !== query.type || asked.name.toLowerCase() !== withoutDot(query.name)) return null;
  const records = answers.flatMap((answer) => readRecord(answer, query.type));
  // The codec reads past the end of a truncated message.
  const family = { A: 4, AAAA: 6 }[query.type as string];
  if (family !== undefined && records.some(({ text }) => isIP(text) !== family)) return null;
  return { code, truncated, records };
}

/** Bytes of the head of a message, of the shortest question, and of the shortest record (RFC 1035, 4.1). */
const HEAD_BYTES = 12;
const MIN_QUESTION_BYTES = 5;
const MIN_RECORD_BYTES = 11;

/** The fields of a decoded message that the package's types leave out. */
interface Message extends Packet {
  readonly rcode?: string;
  readonly flag_tc?: boolean;
}

/** Offsets of the flags and of the numbers of questions and answers in a message, and the flag of a truncated one (RFC 1035, 4.1.1). */
const FLAGS_AT = 2;
const QUESTIONS_AT = 4;
const ANSWERS_AT = 6;
const TRUNCATED = 0x0200;

function decodeOrNull(packet: Buffer): Message | null {
  const message = decodeWhole(packet);
  const isCut = packet.length >= HEAD_BYTES && (packet.readUInt16BE(FLAGS_AT) & TRUNCATED) !== 0;
  return message ?? (isCut ? decodeCut(packet) : null);
}

/** Decodes a truncated message that ends within a record, with the answers before it, or within its question. */
function decodeCut(packet: Buffer): Message | null {
  const shorter = Buffer.from(packet);
  shorter.fill(0, ANSWERS_AT, HEAD_BYTES);
  const withAnswers = (count: number) => {
    shorter.writeUInt16BE(count, ANSWERS_AT);
    return decodeWhole(shorter);
  };
  let found = withAnswers(0);
  if (found === null) {
    shorter.writeUInt16BE(0, QUESTIONS_AT);
    return withAnswers(0);
  }
  let low = 0;
  let high = packet.readUInt16BE(ANSWERS_AT);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const message = withAnswers(middle);
    if (message === null) high = middle - 1;
    else {
      found = message;
      low = middle;
    }
  }
  return found;
}

function decodeWhole(packet: Buffer): Message | null {
  if (!holdsItsEntries(packet)) return null;
  try {
    const { decode } = loadCodec();
    const message = decode(packet) as Message;
    // The codec reads past the end of a truncated message.
    return decode.bytes > packet.length ? null : message;
  } catch {
    return null;
  }
}

/**
 * Returns true if the packet is long enough for the entries that its head counts. The codec reads as many, also past the end,
 * so that the 12 bytes of a hostile server would take most of a second.
 */
function holdsItsEntries(packet: Buffer): boolean {
  if (packet.length < HEAD_BYTES) return false;
  const [questions = 0, ...records] = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at));
  const entries = records.reduce((sum, count) => sum + count, 0);
  return HEAD_BYTES + questions * MIN_QUESTION_BYTES + entries * MIN_RECORD_BYTES <= packet.length;
}

function readRecord(answer: Answer, type: RecordType): NameRecord[] {
  // CNAME records are skipped: a recursive server sends the whole chain.
  if (answer.type !== type) return [];
  const ttl = 'ttl' in answer ? (answer.ttl ?? 0) : 0;
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return [{ text: answer.data, ttl }];
    case 'TXT':
      return [{ text: textOf(answer.data), ttl }];
    case 'MX':
      return [{ text: `${answer.data.preference ?? 0} ${answer.data.exchange}`, ttl }];
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = answer.data;
      return [{ text: `${priority} ${weight} ${port} ${target}`, ttl }];
    }
    case 'CAA':
      return [{ text: `${answer.data.flags ?? 0} ${answer.data.tag} ${answer.data.value}`, ttl }];
    case 'SOA':
      return [{ text: `${answer.data.mname} ${answer.data.rname}`, ttl }];
    default:
      return [];
  }
}

/**
 * A text of {@link NameRecord}, or one that a person has written, in the form in which texts of that type are compared: addresses
 * in their shortest form, names in lower case without a final dot, one space between fields, no quotation marks around values.
 */
export function normalRecordText(type: RecordType, text: string): string {
  const bare = text.trim();
  switch (type) {
    case 'A':
    case 'AAAA':
      return ipaddr.isValid(bare) ? ipaddr.parse(bare).toString() : bare;
    case 'TXT':
      return /^".*"$/s.test(bare) ? bare.slice(1, -1) : bare;
    case 'CAA':
      return bare.replace(
        /^(\d+)\s+(\S+)\s+"?(.*?)"?$/s,
        (_, flags, tag: string, value) => `${flags} ${tag.toLowerCase()} ${value}`,
      );
    default:
      return bare.toLowerCase().split(/\s+/).map(withoutDot).join(' ');
  }
}

function textOf(data: string | Buffer | readonly (string | Buffer)[]): string {
  if (typeof data === 'string') return data;
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return data.map((part) => part.toString()).join('');
}

function withoutDot(name: string): string {
  return name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name;
}
