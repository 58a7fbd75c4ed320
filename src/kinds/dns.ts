/** Kind `dns`: a query for records of a name, by the system's name servers or one that the owner names, and what they must be. */
import { isIP } from 'node:net';
import { type Failure, failureOf } from '../domain/failure.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';
import { Type } from '../json-schema.ts';
import type { AddressGuard, AddressLoad } from '../outbound/address-guard.ts';
import type { Deadline } from '../outbound/deadline.ts';
import {
  busyFault,
  connectFault,
  type Fault,
  nameFault,
  targetFault,
  timeoutFault,
} from '../outbound/fault.ts';
import { createNameClient, type NameResult } from '../outbound/name-client.ts';
import { type NameRecord, normalRecordText, type RecordType } from '../outbound/name-message.ts';
import {
  attemptOf,
  defineKind,
  PortSetting,
  type ProbeTools,
  type Run,
  type WrongSetting,
} from './check-kind.ts';

const RECORDS: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'CAA', 'SRV', 'SOA', 'PTR'];
/** The port of name servers (RFC 1035, 4.2). Checks may connect to it whatever `checks.ports` says. */
const DNS_PORT = 53;
/** Maximum number of addresses of a name server that are queried. */
const MAX_ADDRESSES = 8;
/** The time after the deadline at which a query ends by itself, milliseconds, since the deadline may be extended. */
const GRACE_MS = MAX_RETURNED_MS + 50;

export const dnsCheck = defineKind({
  settings: Type.Object({
    record: Type.Optional(Type.Unsafe<RecordType>({ type: 'string', enum: [...RECORDS] })),
    prefix: Type.Optional(Type.String({ format: 'labels', maxLength: 200 })),
    server: Type.Optional(Type.String({ format: 'host', maxLength: 253 })),
    port: Type.Optional(PortSetting),
    values: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 20 })),
    exact: Type.Optional(Type.Boolean()),
  }),
  defaultPort: DNS_PORT,
  openPort: DNS_PORT,
  refuse({ record = 'A', server, port, values = [], exact }) {
    const wrong: WrongSetting[] = [];
    if (port !== undefined && server === undefined)
      wrong.push({ setting: 'server', problem: { code: 'missing' } });
    if (exact === true && values.length === 0)
      wrong.push({ setting: 'values', problem: { code: 'missing' } });
    const family = { A: 4, AAAA: 6 }[record as string];
    if (family !== undefined && values.some((value) => isIP(value.trim()) !== family))
      wrong.push({ setting: 'values', problem: { code: 'format', example: `IPv${family} addresses` } });
    return wrong;
  },
  prepare: (tools) => async (run, settings) => {
    const { record = 'A', prefix, server, port = DNS_PORT, values = [], exact = false } = settings;
    const { clock, parts } = tools;
    const { deadline, target } = run;
    const name = prefix === undefined ? target.domain : `${prefix}.${target.domain}`;
    const query = { name: name.toLowerCase(), type: record };
    const startedAt = clock.monotonic();
    const until = deadline.startedAt + deadline.timeoutMs;
    const timing = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: null };
    const failed = (fault: Fault, answered = false, dnsMs: number | null = null) =>
      attemptOf(run, 'dns', {
        answered,
        timing: { ...timing, dnsMs },
        fault,
        failure: null,
        lostMs: deadline.lostMs,
      });

    let dnsMs: number | null = null;
    let result: NameResult | null;
    let ownFault = false;
    let sentAt = startedAt;
    if (server === undefined) {
      const asked = parts.resolver.ask(query, until);
      const answer = await within(deadline, asked.answer, asked.cancel);
      if (answer === null)
        return failed(timeoutFault('dns', deadline.timeoutMs, parts.resolver.silentSince(startedAt)));
      ({ result, ownFault } = answer);
    } else {
      const found = await findServer(tools, run, server, port);
      if ('fault' in found) return failed(found.fault);
      ({ dnsMs } = found);
      sentAt = clock.monotonic();
      const { load } = found;
      let waitMs = 0;
      const asked = found.addresses.filter((address) => {
        const busyMs = load?.open(address) ?? 0;
        waitMs = Math.max(waitMs, busyMs);
        return busyMs === 0;
      });
      if (asked.length === 0) return failed(busyFault(waitMs), false, dnsMs);
      const list = asked.map((address) => formatServer(address, port));
      const client = createNameClient(() => list, clock);
      result = await within(deadline, client.query(query, until, GRACE_MS).result, client.close);
      client.close();
      for (const address of asked) load?.close(address);
      // A server that was not asked might have answered.
      if (waitMs > 0 && result?.kind !== 'records') return failed(busyFault(waitMs), false, dnsMs);
      if (result === null) return failed(timeoutFault('first_byte', deadline.timeoutMs, false), false, dnsMs);
    }
    deadline.step();
    const endedAt = clock.monotonic();
    if (result.kind === 'failed') {
      const fault =
        server === undefined
          ? nameFault(result.code, ownFault)
          : serverFault(result.code, deadline.timeoutMs);
      return failed(fault, server !== undefined && REPLIES.has(result.code), dnsMs);
    }
    const failure =
      result.kind === 'none'
        ? judgeMissing(result.code, record)
        : judgeRecords(record, result.records, values, exact);
    // What is not in a truncated reply may stand in the rest of it.
    if (failure?.cause.code === 'record_lacks' && result.kind === 'records' && result.cut) {
      const code = 'ETRUNCATED';
      if (server === undefined) return failed(nameFault(code, true));
      return failed(serverFault(code, deadline.timeoutMs), true, dnsMs);
    }
    return attemptOf(run, 'dns', {
      // Without records, the system's name servers may say so because the prober is offline.
      answered: server !== undefined || result.kind === 'records',
      timing: { ...timing, dnsMs, firstByteMs: endedAt - sentAt, totalMs: endedAt - startedAt },
      fault: null,
      failure,
      lostMs: deadline.lostMs,
    });
  },
});

/** Codes of replies that say nothing of the name. */
const REPLIES = new Set(['ESERVFAIL', 'EREFUSED', 'ETRUNCATED']);

/** The result, or null if the deadline ends before. */
function within<T>(deadline: Deadline, result: Promise<T>, cancel: () => void): Promise<T | null> {
  return new Promise((resolve) => {
    const settle = (value: T | null) => {
      deadline.interrupt = null;
      resolve(value);
    };
    const interrupt = () => {
      settle(null);
      cancel();
    };
    if (!deadline.interruptBy(interrupt)) return;
    void result.then(settle);
  });
}

/** The addresses of a name server that the guard allows. */
async function findServer(
  { parts, clock, guardOf }: ProbeTools,
  { target, deadline, options }: Run,
  server: string,
  port: number,
): Promise<
  | {
      readonly addresses: readonly string[];
      readonly dnsMs: number | null;
      readonly load: AddressLoad | undefined;
    }
  | { readonly fault: Fault }
> {
  const guard = guardOf(target, port);
  const { load } = guard;
  if (isIP(server) !== 0) {
    const refusal = guard.judge(server, port);
    if (refusal !== null) return { fault: targetFault('forbidden_address', 'connect', refusal) };
    return { addresses: [server], dnsMs: null, load };
  }
  const startedAt = clock.monotonic();
  const fresh = options.number > 0;
  const until = deadline.startedAt + deadline.timeoutMs;
  const lookups = ([4, 6] as const).map((family) => parts.resolver.lookup(server, family, fresh, until));
  const answers = await within(deadline, Promise.all(lookups), () => {});
  const dnsMs = clock.monotonic() - startedAt;
  if (answers === null)
    return { fault: timeoutFault('dns', deadline.timeoutMs, parts.resolver.silentSince(startedAt)) };
  const addresses = answers.flatMap((answer) => (answer.kind === 'addresses' ? [...answer.addresses] : []));
  if (addresses.length === 0) {
    const failed = answers.find((answer) => answer.kind === 'failed');
    const none = answers.find((answer) => answer.kind === 'none');
    return {
      fault:
        failed === undefined
          ? nameFault(none?.code ?? 'ENODATA', false)
          : nameFault(failed.code, failed.ownFault),
    };
  }
  const allowed = addresses.filter((address) => isAllowed(guard, address, port)).slice(0, MAX_ADDRESSES);
  if (allowed.length > 0) return { addresses: allowed, dnsMs, load };
  for (const address of addresses) {
    const refusal = guard.judge(address, port);
    if (refusal !== null) parts.onForbidden?.({ host: server, address, refusal });
  }
  // Causes of failures are public, so this one does not reveal the private address behind a name.
  const refusal = guard.judge(addresses[0] ?? '', port);
  const cause = refusal?.code === 'port_forbidden' ? refusal : ({ code: 'name_not_public' } as const);
  return { fault: targetFault('forbidden_address', 'connect', cause) };
}

function isAllowed(guard: AddressGuard, address: string, port: number): boolean {
  return guard.judge(address, port) === null;
}

function formatServer(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The fault of a name server that the owner named: its errors are those of the target. */
function serverFault(code: string, timeoutMs: number): Fault {
  switch (code) {
    case 'ESERVFAIL':
      return targetFault('dns', 'first_byte', { code: 'server_failed' });
    case 'EREFUSED':
      return targetFault('dns', 'first_byte', { code: 'server_refused' });
    case 'ETRUNCATED':
      return targetFault('dns', 'first_byte', { code: 'server_truncates' });
    case 'ETIMEOUT':
      return timeoutFault('first_byte', timeoutMs, false);
    default:
      return connectFault(Object.assign(new Error(code), { code }));
  }
}

function judgeMissing(code: string, record: RecordType): Failure {
  return code === 'ENODATA'
    ? failureOf('content', 'body', { code: 'record_missing', record })
    : failureOf('content', 'body', { code: code === 'EBADNAME' ? 'name_invalid' : 'name_not_found' });
}

/**
 * The failure of records that are not as expected; null: they are. Each expected value must be that of a record; for MX and
 * SRV, its host name is enough. `exact`: no other records may be there.
 */
export function judgeRecords(
  record: RecordType,
  records: readonly NameRecord[],
  values: readonly string[],
  exact: boolean,
): Failure | null {
  const found = records.map(({ text }) => normalRecordText(record, text));
  const wanted = values.map((value) => normalRecordText(record, value));
  const isSame = (text: string, value: string) =>
    text === value || ((record === 'MX' || record === 'SRV') && text.split(' ').at(-1) === value);
  const missing = wanted.findIndex((value) => !found.some((text) => isSame(text, value)));
  if (missing !== -1)
    return failureOf('content', 'body', { code: 'record_lacks', record, text: values[missing] ?? '' });
  if (exact && found.some((text) => !wanted.some((value) => isSame(text, value))))
    return failureOf('content', 'body', { code: 'record_unexpected', record });
  return null;
}
