/** DNS queries in import files of others, as checks of the kind `dns`. */
import { isIP } from 'node:net';
import type { CheckSettings } from '../../domain/service.ts';
import { isConnected, parseCondition, wordTest } from './gatus-condition.ts';
import { conditionsOf, lostCondition } from './gatus-expectations.ts';
import { asRow, asText, type LostField, type Row } from './listed-service.ts';

/** A query: the domain that it is about, the settings of the check, and what these cannot express. */
export interface ListedQuery {
  readonly domain: string | null;
  readonly settings: CheckSettings;
  readonly lost: readonly LostField[];
}

/** Settings with the name server of a text such as `1.1.1.1`, `[::1]:5353` or `ns.example.com:53`; of several, the first. */
function serverOf(text: string | null): { settings: CheckSettings; isFirst: boolean } {
  const [first = '', ...others] = (text ?? '').split(',').map((one) => one.trim());
  if (first === '') return { settings: {}, isFirst: false };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(first) ?? [];
  const host = isIP(first) !== 0 ? first : (bracketed ?? plain ?? first);
  const isOther = port !== undefined && port !== '53' && isIP(first) === 0;
  return {
    settings: { server: host, ...(isOther ? { port: Number(port) } : {}) },
    isFirst: others.length > 0,
  };
}

/** The query of a monitor of Uptime Kuma. */
export function readKumaQuery(row: Row): ListedQuery {
  const { settings, isFirst } = serverOf(asText(row.dns_resolve_server));
  const port = Number(row.port);
  const value = readKumaValue(row.conditions);
  const lost: LostField[] = [];
  if (isFirst) lost.push({ field: 'dns_resolve_server', reason: 'a check asks one name server' });
  if (value === null) lost.push({ field: 'conditions', reason: 'a check takes the values of records alone' });
  return {
    domain: asText(row.hostname),
    settings: {
      record: asText(row.dns_resolve_type)?.toUpperCase() ?? 'A',
      ...settings,
      ...(settings.server !== undefined && Number.isSafeInteger(port) && port !== 53 && port > 0
        ? { port }
        : {}),
      ...(typeof value === 'string' ? { values: [value] } : {}),
    },
    lost,
  };
}

/** The value of the only condition; undefined: there is no condition. Null: the conditions say something else. */
function readKumaValue(given: unknown): string | null | undefined {
  let conditions: unknown = given;
  if (typeof given === 'string' && given !== '') {
    try {
      conditions = JSON.parse(given);
    } catch {
      return null;
    }
  }
  if (!Array.isArray(conditions) || conditions.length === 0) return undefined;
  const { type, variable, operator, value } = asRow(conditions[0]);
  const isValue = type === 'expression' && variable === 'record' && operator === 'equals';
  return isValue && conditions.length === 1 ? asText(value) : null;
}

/** The query of an endpoint of Gatus, or why it cannot be asked; null: the endpoint is another one. */
export function readGatusQuery(row: Row): ListedQuery | { readonly problem: string } | null {
  const query = asRow(row.dns);
  const name = asText(query['query-name']);
  if (name === null) return null;
  const values: string[] = [];
  const lost: LostField[] = [];
  for (const text of conditionsOf(row.conditions)) {
    const condition = parseCondition(text);
    const { placeholder, operator = '==', value = '', path, wrapper } = condition ?? {};
    const isOfCode = placeholder === 'DNS_RCODE' && wrapper === '';
    const codeTest = isOfCode ? wordTest(operator, value) : null;
    if (codeTest?.('NOERROR') === false)
      return { problem: 'it is healthy only where there is no such name, which has no equal here' };
    const isBody = placeholder === 'BODY' && path === '';
    const isAnything =
      isBody &&
      ((wrapper === 'has' && (value === 'true') === (operator === '==')) ||
        (wrapper === 'len' && ['> 0', '>= 1', '!= 0'].includes(`${operator} ${value}`)));
    if (isBody && wrapper === '' && operator === '==' && !/^(?:pat|any)\(/.test(value)) values.push(value);
    else if (codeTest === null && !isAnything && (condition === null || !isConnected(condition)))
      lost.push(lostCondition(text, 'a check takes the values of records alone'));
  }
  return {
    domain: name.replace(/\.$/, ''),
    settings: {
      record: asText(query['query-type'])?.toUpperCase() ?? 'A',
      ...serverOf(asText(row.url)?.replace(/^dns:\/\//i, '') ?? null).settings,
      ...(values.length === 0 ? {} : { values }),
    },
    lost,
  };
}
