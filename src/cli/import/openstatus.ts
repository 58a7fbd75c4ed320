/** Reads monitors of OpenStatus (`openstatus.yaml`). */
import { readAssertion } from '../../kinds/assertions.ts';
import { ANY_STATUS, acceptCodes, type Expectation, listRequest, PLAIN_REQUEST } from './http-request.ts';
import { Collection, type DocumentReader } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  isEmpty,
  type LostField,
  listKind,
  listOf,
  type Row,
  textOf,
  withNote,
  withTimes,
} from './listed-service.ts';

/** A map of monitors by their keys. */
export const openstatus: DocumentReader = {
  expected: 'monitors with "kind", "frequency" and "request" (OpenStatus)',
  recognises(root) {
    const monitors = Object.values(root).map(asRow);
    return (
      monitors.length > 0 &&
      monitors.every(
        ({ kind, request, frequency }) => !isEmpty(kind) && !isEmpty(request) && !isEmpty(frequency),
      )
    );
  },
  read({ root }) {
    const found = new Collection();
    for (const [key, given] of Object.entries(root)) {
      const row = asRow(given);
      found.add(textOf(row.name) ?? key, row, readMonitor(row, key));
    }
    return found.reading('openstatus');
  },
};

const KNOWN = new Set(['name', 'description', 'frequency', 'active', 'public', 'kind', 'request']);
const TIMES = new Set(['timeout', 'degradedAfter', 'assertions']);
const REASONS: Readonly<Record<string, string>> = {
  regions: 'checks are made from the regions of this installation',
  retry: 'failures are confirmed by the re-checks of the settings "checks.confirmAfter"',
  openTelemetry: 'measurements are read as Prometheus metrics or from the API',
};

function readMonitor(row: Row, key: string): EntryReading {
  const name = textOf(row.name) ?? key;
  const kind = asText(row.kind);
  const request = asRow(row.request);
  const more = {
    name,
    paused: row.active !== true,
    visibility: row.public === true ? ('public' as const) : ('private' as const),
  };
  const lost = findLost(row, (field) => KNOWN.has(field) || TIMES.has(field), REASONS);
  let reading: EntryReading;
  if (kind === 'http') reading = readRequest(row, request, more, lost);
  else if (kind === 'tcp')
    reading = listKind(
      'tcp',
      { port: Number(request.port) },
      { ...more, domain: asText(request.host) },
      isEmpty(row.assertions)
        ? lost
        : [...lost, { field: 'assertions', reason: 'a connection is all that counts' }],
    );
  else return { problem: `monitors of the kind "${kind ?? ''}" have no equal in this import` };
  return withNote(
    withTimes(reading, {
      interval: asText(row.frequency),
      timeout: msOf(row.timeout),
      slowOver: msOf(row.degradedAfter),
    }),
    [asText(row.description) ?? ''],
  );
}

function msOf(value: unknown): string | null {
  return typeof value === 'number' && value > 0 ? `${value}ms` : null;
}

function readRequest(
  row: Row,
  request: Row,
  { name, ...more }: { name: string; paused: boolean; visibility: 'public' | 'private' },
  lost: readonly LostField[],
): EntryReading {
  const { accept, expectations, lost: lostAssertions } = readAssertions(row.assertions);
  return listRequest(
    {
      ...PLAIN_REQUEST,
      url: asText(request.url),
      method: asText(request.method)?.toUpperCase() ?? null,
      headers: Object.entries(asRow(request.headers)).map(
        ([header, value]) => [header, String(value ?? '')] as const,
      ),
      body: typeof request.body === 'string' && request.body !== '' ? request.body : null,
      followRedirects: request.followRedirects === false ? false : null,
      expectations,
    },
    name,
    { ...more, accept },
    [...lost, ...lostAssertions],
  );
}

const NUMBER_TESTS: Readonly<Record<string, (code: number, target: number) => boolean>> = {
  eq: (code, target) => code === target,
  not_eq: (code, target) => code !== target,
  gt: (code, target) => code > target,
  gte: (code, target) => code >= target,
  lt: (code, target) => code < target,
  lte: (code, target) => code <= target,
};
const TEXT_OPERATORS: Readonly<Record<string, string>> = {
  eq: 'is',
  not_eq: 'is not',
  contains: 'contains',
  not_contains: 'lacks',
};

/** Without assertions statuses of 200 to 299 are good; with some, they alone decide. */
function readAssertions(value: unknown) {
  const assertions = (listOf(value) ?? []).map(asRow);
  if (assertions.length === 0) return { accept: ['2xx' as const], expectations: [], lost: [] };
  const expectations: Expectation[] = [];
  const lost: LostField[] = [];
  let codes: ReadonlySet<number> = ANY_STATUS;
  for (const assertion of assertions) {
    const { kind, target } = assertion;
    const compare = asText(assertion.compare) ?? '';
    const test = Object.hasOwn(NUMBER_TESTS, compare) ? NUMBER_TESTS[compare] : undefined;
    if (kind === 'statusCode' && test !== undefined && Number.isSafeInteger(target)) {
      codes = new Set([...codes].filter((code) => test(code, Number(target))));
      continue;
    }
    const line = textLine(assertion, compare);
    if (line !== null && readAssertion(line) !== null) expectations.push({ field: 'assertions', line });
    else
      lost.push({
        field: `assertions ${textOf(kind) ?? ''}`.trim(),
        reason: `the comparison "${compare}" with "${textOf(target) ?? ''}" has no equal here`,
      });
  }
  const rules = acceptCodes(codes, 'assertions statusCode');
  return { ...rules, expectations: [...rules.expectations, ...expectations], lost: [...rules.lost, ...lost] };
}

function textLine({ kind, key, target }: Row, compare: string): string | null {
  const subject = kind === 'textBody' ? 'body' : kind === 'header' ? `header ${textOf(key) ?? ''}` : null;
  if (subject === null) return null;
  if (compare === 'not_empty') return kind === 'header' ? `${subject} exists` : `${subject} matches \\S`;
  if (compare === 'empty') return kind === 'header' ? `${subject} missing` : null;
  const operator = Object.hasOwn(TEXT_OPERATORS, compare) ? TEXT_OPERATORS[compare] : undefined;
  return operator === undefined ? null : `${subject} ${operator} ${textOf(target) ?? ''}`;
}
