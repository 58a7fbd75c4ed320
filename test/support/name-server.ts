/** A name server on loopback that answers as a test tells it, over UDP and TCP (RFC 1035). */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What one question is answered with. */
export type NameResult =
  | { readonly texts: readonly string[] }
  /** `alias`: the addresses are those of another name, to which a CNAME record leads. */
  | { readonly addresses: readonly string[]; readonly ttl?: number; readonly alias?: string }
  /** These addresses in a truncated message; `within`: the last one is incomplete. */
  | { readonly addresses: readonly string[]; readonly cut: 'between' | 'within' }
  /** 0: the name is there but has no such record. 2: SERVFAIL, 3: NXDOMAIN, 5: REFUSED. */
  | { readonly code: number }
  /** Does not fit into the datagram; over TCP the whole answer is asked for again. */
  | 'truncated'
  /** Bytes that are no message. */
  | 'garbage'
  | 'silence';

/** A question as it came. */
export interface NameQuestion {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'TXT' | 'other';
}

/** How a question came. */
export interface NameDelivery {
  readonly transport: 'udp' | 'tcp';
  /** Whether it announces EDNS (RFC 6891). */
  readonly edns: boolean;
  /** Port that it was sent from. */
  readonly port: number;
}

/** Says what a question is answered with, at once or later. */
export type AnswerName = (question: NameQuestion, delivery: NameDelivery) => NameResult | Promise<NameResult>;

/** The running server. */
export interface NameServer {
  /** `127.0.0.1:port`, as `checks.nameservers` wants it. */
  readonly address: string;
  readonly questions: readonly NameQuestion[];
  /** Refuses connections over TCP from now on. */
  refuseTcp(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it, on a free port or on `port`. IPv4 addresses only answer A, IPv6 addresses only AAAA. */
export async function startNameServer(answer: AnswerName, port = 0): Promise<NameServer> {
  const questions: NameQuestion[] = [];
  const open = new Set<Socket>();
  let closed = false;
  const reply = async (packet: Buffer, delivery: NameDelivery, send: (reply: Buffer) => void) => {
    const question = readQuestion(packet);
    questions.push(question);
    const said = await answer(question, delivery);
    if (said !== 'silence' && !closed) send(writeAnswer(packet, question, said));
  };
  const hasEdns = (packet: Buffer) => packet.readUInt16BE(10) > 0;
  const { udp, tcp } = await bindBoth(port);
  udp.on('message', (packet, from) => {
    const delivery = { transport: 'udp', edns: hasEdns(packet), port: from.port } as const;
    void reply(packet, delivery, (bytes) => udp.send(bytes, from.port, from.address));
  });
  tcp.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    socket.once('data', (message: Buffer) => {
      const packet = message.subarray(2);
      const delivery = { transport: 'tcp', edns: hasEdns(packet), port: socket.remotePort ?? 0 } as const;
      void reply(packet, delivery, (bytes) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        // In two pieces, as a network may deliver it.
        socket.write(length);
        socket.write(bytes);
      });
    });
  });
  const refuseTcp = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  };
  return {
    address: `127.0.0.1:${udp.address().port}`,
    questions,
    refuseTcp,
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([new Promise<void>((resolve) => udp.close(resolve)), refuseTcp()]);
    },
  };
}

/** Opens both at one port; `wanted`: 0 is any. Another program may have the other socket of a free port. */
export async function bindBoth(wanted: number): Promise<{ udp: UdpSocket; tcp: Server }> {
  for (;;) {
    const tcp = createServer();
    tcp.listen(wanted, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    udp.bind(port, '127.0.0.1');
    try {
      await once(udp, 'listening');
      return { udp, tcp };
    } catch (error) {
      tcp.close();
      if (wanted !== 0) throw error;
    }
  }
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

function writeAnswer(packet: Buffer, question: NameQuestion, said: Exclude<NameResult, 'silence'>): Buffer {
  if (said === 'garbage') return Buffer.concat([packet.subarray(0, 2), Buffer.alloc(40, 0xc0)]);
  const questionEnd = packet.indexOf(0, HEADER_BYTES) + 5;
  const records = said === 'truncated' ? [] : recordsOf(question, said);
  const header = Buffer.alloc(HEADER_BYTES);
  packet.copy(header, 0, 0, 2);
  // An answer, recursion desired and available.
  const code = said !== 'truncated' && 'code' in said ? said.code : 0;
  const cut = said === 'truncated' ? 'between' : 'cut' in said ? said.cut : null;
  header.writeUInt16BE(0x8180 | (cut === null ? 0 : 0x0200) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const message = Buffer.concat([header, packet.subarray(HEADER_BYTES, questionEnd), ...records]);
  return cut === 'within' ? message.subarray(0, -2) : message;
}

function recordsOf(question: NameQuestion, said: Exclude<NameResult, string>): Buffer[] {
  if ('texts' in said) {
    if (question.type !== 'TXT') return [];
    return said.texts.map((text) =>
      writeRecord(16, Buffer.concat([Buffer.of(text.length), Buffer.from(text)]), 60),
    );
  }
  if ('code' in said) return [];
  const { addresses, ttl = 60, alias = undefined } = 'cut' in said ? { addresses: said.addresses } : said;
  const records = addresses
    .filter((address) => question.type === (address.includes(':') ? 'AAAA' : 'A'))
    .map((address) =>
      address.includes(':')
        ? writeRecord(28, ipv6Bytes(address), ttl, alias)
        : writeRecord(1, Buffer.from(address.split('.').map(Number)), ttl, alias),
    );
  return alias === undefined ? records : [writeRecord(5, writeName(alias), ttl), ...records];
}

function writeRecord(type: number, data: Buffer, ttl: number, owner?: string): Buffer {
  // Without an owner: the name of the question, by pointer.
  const name = owner === undefined ? Buffer.of(0xc0, 0x0c) : writeName(owner);
  const record = Buffer.alloc(10);
  record.writeUInt16BE(type, 0);
  record.writeUInt16BE(1, 2);
  record.writeUInt32BE(ttl, 4);
  record.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, record, data]);
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const words = (part: string) => (part === '' ? [] : part.split(':'));
  const gap = 8 - words(head).length - words(tail).length;
  const all = [...words(head), ...new Array<string>(gap).fill('0'), ...words(tail)];
  return Buffer.from(all.map((word) => word.padStart(4, '0')).join(''), 'hex');
}
