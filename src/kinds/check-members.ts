/**
 * Members that a check of any kind may have: its times and its regions. They have these names in the catalogue, in files of
 * owners, in the API and in forms; a member that is absent leaves the matter to the settings `checks.*`.
 */
import { type CheckChoice, type CheckTiming, timingOf } from '../domain/check-target.ts';
import { DAY_MS, formatDuration, MINUTE_MS, parseDuration, SECOND_MS } from '../domain/durations.ts';
import type { MemberProblem } from '../domain/input-problem.ts';
import { isRegionName } from '../domain/node.ts';
import { type Static, Type } from '../json-schema.ts';

/** Maximum interval of a check. */
const MAX_INTERVAL_MS = DAY_MS;
/** Maximum number of re-checks, as for `checks.confirmAfter`. */
const MAX_RECHECKS = 10;
/** Maximum delay of a re-check. */
const MAX_RECHECK_DELAY_MS = 10 * MINUTE_MS;
const MAX_REGIONS = 64;
/** The text of an empty list of re-checks, since an empty text means the setting. */
export const NO_RECHECKS = 'none';

/** Durations as `parseDuration` reads them. */
const DURATION_PATTERN = '^\\d+(?:\\.\\d+)?(?:ms|s|m|h|d|w|y)$';
/** Names of regions as `isRegionName` accepts them. */
const REGION_PATTERN = '^[a-z0-9-]{1,32}$';

/** Examples of the patterns of members, for messages. */
export const PATTERN_EXAMPLES: ReadonlyMap<string, string> = new Map([
  [DURATION_PATTERN, 'a duration such as 30s, 5m or 1h'],
  [REGION_PATTERN, 'a name of 1 to 32 of a-z, 0-9 and -'],
]);

const duration = (description: string) => Type.String({ pattern: DURATION_PATTERN, description });

/** The members as a document has them, in the order in which they are shown. */
export const CHECK_MEMBERS = {
  interval: Type.Optional(
    duration('Time between two checks, at most 24h. Default: the setting `checks.interval`.'),
  ),
  timeout: Type.Optional(
    duration('Timeout of one attempt, at most the interval. Default: the setting `checks.timeout`.'),
  ),
  slowOver: Type.Optional(
    duration(
      'A good response that takes longer makes the service slow; at most the timeout. Default: the setting `checks.slowOver`.',
    ),
  ),
  confirmAfter: Type.Optional(
    Type.Array(Type.String({ pattern: DURATION_PATTERN }), {
      maxItems: MAX_RECHECKS,
      description:
        'Delays of the re-checks of a failed attempt, each from the failure before; an empty list turns them off. Default: the setting `checks.confirmAfter`.',
    }),
  ),
  regions: Type.Optional(
    Type.Array(Type.String({ pattern: REGION_PATTERN }), {
      minItems: 1,
      maxItems: MAX_REGIONS,
      uniqueItems: true,
      description: 'The regions from which the service is checked. Default: every region.',
    }),
  ),
};

const Members = Type.Object(CHECK_MEMBERS);

export type CheckMembers = Static<typeof Members>;

export type MemberName = keyof CheckMembers;

/** The names in the order in which they are shown. */
export const MEMBER_NAMES: readonly MemberName[] = [
  'interval',
  'timeout',
  'slowOver',
  'confirmAfter',
  'regions',
];

/**
 * Members as texts, as forms and commands have them: durations such as `30s`, delays such as `2s 4s` or `none`, and names of
 * regions such as `eu us`. Null or empty: the setting counts. Absent: the member stays as it is.
 */
export type MemberTexts = { readonly [Name in MemberName]?: string | null | undefined };

export interface WrongMember {
  readonly member: MemberName;
  readonly problem: MemberProblem;
}

/** The members that were read; those that are `wrong` stay as they were. */
export interface MembersReading {
  readonly choice: CheckChoice;
  readonly wrong: readonly WrongMember[];
}

/** The bounds of members; durations in milliseconds. */
export interface MemberLimits {
  /** The settings, which count for absent members; null: they are not known, and only the members are compared. */
  readonly usual: CheckTiming | null;
  readonly minIntervalMs: number;
  readonly maxTimeoutMs: number;
  readonly minRecheckDelayMs: number;
  /** The regions that may be named; null: any. */
  readonly regions: readonly string[] | null;
  /** The region of this process, from which private hosts are checked by default where there are several; absent: from every one. */
  readonly ownRegion?: string | undefined;
  /** True if `check.url` may name another host than the domain and names below it, whose owner has not agreed to checks. */
  readonly anyHost: boolean;
}

/** The bounds for the operator's catalogue and commands. */
export function operatorLimits(usual: CheckTiming | null): MemberLimits {
  return {
    usual,
    minIntervalMs: SECOND_MS,
    maxTimeoutMs: 10 * MINUTE_MS,
    minRecheckDelayMs: 1,
    regions: null,
    anyHost: true,
  };
}

/** The bounds for owners: `limits.minInterval`, the regions that have nodes, and the host that the owner has proved. */
export function ownerLimits(
  usual: CheckTiming,
  minIntervalMs: number,
  regions: readonly string[],
  ownRegion?: string,
): MemberLimits {
  const times = { usual, minIntervalMs, maxTimeoutMs: MINUTE_MS, minRecheckDelayMs: SECOND_MS };
  return { ...times, regions, ownRegion, anyHost: false };
}

/** Changes members by texts. Bounds are judged by {@link refuseMembers}. */
export function changeMembers(before: CheckChoice, texts: MemberTexts): MembersReading {
  const wrong: WrongMember[] = [];
  const read = <T>(member: MemberName, known: T | undefined, parse: (text: string) => T | null) => {
    const text = texts[member];
    if (text === undefined) return known;
    if (text === null || text.trim() === '') return undefined;
    const value = parse(text);
    if (value === null) wrong.push({ member, problem: { code: 'format' } });
    return value ?? known;
  };
  const choice = choiceOf({
    intervalMs: read('interval', before.intervalMs, parseDuration),
    timeoutMs: read('timeout', before.timeoutMs, parseDuration),
    slowOverMs: read('slowOver', before.slowOverMs, parseDuration),
    confirmAfterMs: read('confirmAfter', before.confirmAfterMs, readDelays),
    regions: read('regions', before.regions, readRegions),
  });
  return { choice, wrong };
}

/** The members of a document that its schema has accepted. */
export function parseMembers({
  interval,
  timeout,
  slowOver,
  confirmAfter,
  regions,
}: CheckMembers): CheckChoice {
  const msOf = (text: string | undefined) => (text === undefined ? undefined : (parseDuration(text) ?? 0));
  return choiceOf({
    intervalMs: msOf(interval),
    timeoutMs: msOf(timeout),
    slowOverMs: msOf(slowOver),
    confirmAfterMs: confirmAfter?.map((text) => parseDuration(text) ?? 0),
    regions,
  });
}

export function writeMembers({
  intervalMs,
  timeoutMs,
  slowOverMs,
  confirmAfterMs,
  regions,
}: CheckChoice): CheckMembers {
  return {
    ...(intervalMs === undefined ? {} : { interval: formatDuration(intervalMs) }),
    ...(timeoutMs === undefined ? {} : { timeout: formatDuration(timeoutMs) }),
    ...(slowOverMs === undefined ? {} : { slowOver: formatDuration(slowOverMs) }),
    ...(confirmAfterMs === undefined ? {} : { confirmAfter: confirmAfterMs.map(formatDuration) }),
    ...(regions === undefined ? {} : { regions: [...regions] }),
  };
}

/** The members as texts; absent ones are left out. */
export function memberTexts(choice: CheckChoice): Readonly<Partial<Record<MemberName, string>>> {
  const { confirmAfter, regions, ...durations } = writeMembers(choice);
  return {
    ...durations,
    ...(confirmAfter === undefined ? {} : { confirmAfter: textOfList(confirmAfter) }),
    ...(regions === undefined ? {} : { regions: textOfList(regions) }),
  };
}

export function textOfList(items: readonly unknown[]): string {
  return items.length === 0 ? NO_RECHECKS : items.join(' ');
}

/**
 * Finds members out of their bounds. Those that equal `before` are not judged again: bounds may have changed since, or the
 * operator may have set them. Absent `before`: all are judged.
 */
export function refuseMembers(
  choice: CheckChoice,
  limits: MemberLimits,
  before: CheckChoice = {},
): WrongMember[] {
  const { usual, minIntervalMs, maxTimeoutMs, minRecheckDelayMs } = limits;
  const { intervalMs, timeoutMs, slowOverMs, confirmAfterMs } = choice;
  const times = timingOf(choice, usual ?? UNLIMITED);
  const isNewInterval = intervalMs !== before.intervalMs;
  const isNewTimeout = timeoutMs !== before.timeoutMs;
  const problems: readonly (readonly [MemberName, boolean, MemberProblem | null])[] = [
    ['interval', isNewInterval, outside(intervalMs, minIntervalMs, MAX_INTERVAL_MS)],
    ['timeout', isNewTimeout, outside(timeoutMs, 10, maxTimeoutMs)],
    ['timeout', isNewTimeout || isNewInterval, above('over_interval', timeoutMs, times.intervalMs)],
    ['slowOver', slowOverMs !== before.slowOverMs, outside(slowOverMs, 1, maxTimeoutMs)],
    [
      'slowOver',
      slowOverMs !== before.slowOverMs || isNewTimeout || isNewInterval,
      above('over_timeout', slowOverMs, times.timeoutMs),
    ],
    [
      'confirmAfter',
      String(confirmAfterMs) !== String(before.confirmAfterMs),
      refuseDelays(confirmAfterMs, minRecheckDelayMs),
    ],
    [
      'regions',
      String(choice.regions) !== String(before.regions),
      refuseRegions(choice.regions, before.regions, limits.regions),
    ],
  ];
  const wrong = new Map<MemberName, WrongMember>();
  for (const [member, isNew, problem] of problems)
    if (isNew && problem !== null && !wrong.has(member)) wrong.set(member, { member, problem });
  return [...wrong.values()];
}

/** Settings against which no member is compared. */
const UNLIMITED: CheckTiming = {
  intervalMs: Number.POSITIVE_INFINITY,
  timeoutMs: Number.POSITIVE_INFINITY,
  slowOverMs: 0,
  confirmAfterMs: [],
};

function outside(ms: number | undefined, minMs: number, maxMs: number): MemberProblem | null {
  if (ms === undefined) return null;
  if (ms < minMs) return { code: 'minimum', limitMs: minMs };
  return ms > maxMs ? { code: 'maximum', limitMs: maxMs } : null;
}

function above(
  code: 'over_interval' | 'over_timeout',
  ms: number | undefined,
  limitMs: number,
): MemberProblem | null {
  return ms !== undefined && ms > limitMs ? { code, limitMs } : null;
}

function refuseDelays(delaysMs: readonly number[] = [], minMs: number): MemberProblem | null {
  if (delaysMs.length > MAX_RECHECKS) return { code: 'count', max: MAX_RECHECKS };
  return (
    delaysMs.map((ms) => outside(ms, minMs, MAX_RECHECK_DELAY_MS)).find((problem) => problem !== null) ?? null
  );
}

function refuseRegions(
  regions: readonly string[] = [],
  before: readonly string[] = [],
  known: readonly string[] | null,
): MemberProblem | null {
  if (regions.length > MAX_REGIONS) return { code: 'count', max: MAX_REGIONS };
  const unknown = regions.find(
    (region) => known !== null && !known.includes(region) && !before.includes(region),
  );
  return unknown === undefined ? null : { code: 'region_unknown', region: unknown, regions: known ?? [] };
}

function readDelays(text: string): readonly number[] | null {
  if (text.trim() === NO_RECHECKS) return [];
  const delays = wordsOf(text).map(parseDuration);
  return delays.includes(null) ? null : delays.filter((ms) => ms !== null);
}

function readRegions(text: string): readonly string[] | null {
  const names = [...new Set(wordsOf(text))];
  return names.length > 0 && names.every(isRegionName) ? names : null;
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** The choices of a check, without its other members. */
function choiceOf(check: ChoiceValues): CheckChoice {
  const { intervalMs, timeoutMs, slowOverMs, confirmAfterMs, regions } = check;
  return {
    ...(intervalMs === undefined ? {} : { intervalMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(slowOverMs === undefined ? {} : { slowOverMs }),
    ...(confirmAfterMs === undefined ? {} : { confirmAfterMs }),
    ...(regions === undefined ? {} : { regions }),
  };
}

type ChoiceValues = { readonly [Name in keyof CheckChoice]: CheckChoice[Name] | undefined };
