/** A service as a list names it, and what of a list cannot be carried over. */

import type { Category } from '../../domain/category.ts';
import { readHostName } from '../../domain/host-name.ts';
import { describeHostNameProblem } from '../../domain/refusal-text.ts';
import type { AcceptRule, CheckKind } from '../../domain/service.ts';

/** A service as a list names it. */
export interface ListedService {
  readonly domain: string;
  readonly name: string;
  readonly category: Category;
  readonly kind: CheckKind;
  /** Address to check instead of the domain's own; null: `https://<domain>/` or its health endpoint. */
  readonly url: string | null;
  readonly method: 'HEAD' | 'GET' | null;
  readonly accept: readonly AcceptRule[] | null;
  readonly paused: boolean;
  /** Heartbeats: from one to the next, milliseconds; null: the setting `heartbeats.silence` counts. */
  readonly periodMs: number | null;
  /** Heartbeats: how much later it may come, milliseconds; null: not at all. */
  readonly graceMs: number | null;
  readonly publicDependencies: boolean;
}

/** A service where a list says no more than its domain. */
export const PLAIN_SERVICE: Omit<ListedService, 'domain' | 'name'> = {
  category: 'developer',
  kind: 'root',
  url: null,
  method: null,
  accept: null,
  paused: false,
  periodMs: null,
  graceMs: null,
  publicDependencies: false,
};

/** A field of an entry that has no equal here. */
export interface LostField {
  readonly field: string;
  /** What that means, or what there is instead. */
  readonly reason: string;
}

/** What became of an entry: a service without some fields, or why there is none. */
export type EntryReading =
  | { readonly service: ListedService; readonly lost: readonly LostField[] }
  | { readonly problem: string };

/** An entry as it stands in a file. */
export type Row = Readonly<Record<string, unknown>>;

/** The value as an object; anything else has no members. */
export function asRow(value: unknown): Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

/** The value as text without blanks around it; null: it is none, or empty. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** Whether a field says nothing: absent, null, false, 0, or empty. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A text in a message: short, between quotation marks. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A service of a domain and what else is known. */
export function listService(
  domainText: string | null,
  name: string | null,
  more: Partial<Omit<ListedService, 'domain' | 'name'>>,
  lost: readonly LostField[] = [],
): EntryReading {
  const reading = readHostName(domainText ?? '');
  if (!reading.ok)
    return { problem: `domain ${quote(domainText ?? '')} ${describeHostNameProblem(reading.problem)}` };
  const { domain } = reading;
  return { service: { ...PLAIN_SERVICE, ...more, domain, name: name ?? domain }, lost };
}

/** A service that is asked at an address. User and password in it, which nothing would send, are lost. */
export function listAddress(
  url: string | null,
  name: string | null,
  more: Partial<Omit<ListedService, 'domain' | 'name' | 'url'>>,
  lost: readonly LostField[] = [],
): EntryReading {
  if (url === null) return { problem: 'it has no address' };
  const address = URL.parse(url);
  if (address === null) return { problem: `address ${quote(url)} cannot be read` };
  if (address.protocol !== 'http:' && address.protocol !== 'https:')
    return { problem: `addresses that begin with ${address.protocol} have no equal here` };
  const isSecret = address.username !== '' || address.password !== '';
  address.username = '';
  address.password = '';
  address.hash = '';
  const { hostname, href } = address;
  return listService(hostname, name, { ...more, url: href === `https://${hostname}/` ? null : href }, [
    ...lost,
    ...(isSecret
      ? [{ field: 'url', reason: 'user and password of an address are not kept: checks sign in nowhere' }]
      : []),
  ]);
}

/** `HEAD` or `GET`; another method is lost. */
export function readMethod(value: unknown): { method: 'HEAD' | 'GET' | null; lost: readonly LostField[] } {
  const method = asText(value)?.toUpperCase() ?? null;
  if (method === null || method === 'HEAD' || method === 'GET') return { method, lost: [] };
  return {
    method: null,
    lost: [{ field: 'method', reason: `checks ask by HEAD or GET, not by ${quote(method)}` }],
  };
}

/** Codes as classes such as `2xx` where a whole hundred is among them. */
export function groupCodes(codes: ReadonlySet<number>): readonly AcceptRule[] {
  const rules: AcceptRule[] = [];
  for (const hundred of [1, 2, 3, 4, 5]) {
    const ofClass = [...codes].filter((code) => Math.floor(code / 100) === hundred).sort((a, b) => a - b);
    if (ofClass.length === 100) rules.push(`${hundred}xx` as AcceptRule);
    else rules.push(...ofClass);
  }
  return rules;
}
