/**
 * Parses the text of an item of RSS or Atom into updates. Several vendors write each update as a line with its time,
 * followed by a line that begins with its state (`Monitoring - A fix is out.`); others write only the newest state.
 */
import { DAY_MS } from '../domain/durations.ts';
import { endRank, LEADING_SIGNS, meaningOf, type WordMeaning } from './item-vocabulary.ts';
import { englishMonth, readLocalTime, readTime } from './read-time.ts';

interface ItemUpdate {
  /** Epoch milliseconds; null: the text contains no time. */
  readonly at: number | null;
  readonly meaning: WordMeaning;
  readonly text: string;
}

export interface ItemTimeline {
  /** Oldest first, as far as the text says; empty: it contains no label. */
  readonly updates: readonly ItemUpdate[];
  /** The state in a line `Status: …` above dated updates; null: there is none. */
  readonly state: WordMeaning | null;
  /** Start and end of the incident in a sentence; null: there is none. */
  readonly span: { readonly startsAt: number; readonly endsAt: number | null } | null;
  /** Start and end of the announced maintenance; null: there is none. */
  readonly window: { readonly startsAt: number; readonly endsAt: number | null } | null;
  readonly isMaintenance: boolean;
  readonly components: readonly string[];
  /** The rest of the text. */
  readonly text: string;
}

/** Begins the lines of the items of a list. */
export const LIST_MARK = '⁃';

const MAX_LINES = 5_000;

/** A clock, half of the day and zone. */
const CLOCK = String.raw`(?<clock>\d{1,2}:\d\d(?::\d\d)?)(?: ?(?<half>am|pm)| Uhr)?(?: ?(?<zone>\S{1,8}))?$`;

/** `Sep 20, 10:00 UTC`, `Wed, Okt 20, 2026 10:00 MEZ`, `9月 20, 19:00 JST`. */
const MONTH_DAY = new RegExp(
  String.raw`^(?:\p{L}{2,9}\.?,? )?(?<month>\p{L}{3,9}\.?|\d{1,2}月) (?<day>\d{1,2})(?:,? (?<year>\d{4}))?,?(?: at)? ${CLOCK}`,
  'iu',
);

/** `20. Okt. 2026, 10:00 MEZ`, `20 de outubro de 2026, 10:00 BRT`. */
const DAY_MONTH = new RegExp(
  String.raw`^(?:\p{L}{2,9}\.?,? )?(?<day>\d{1,2})\.?(?: de)? (?<month>\p{L}{3,9}\.?)(?:,?(?: de)? (?<year>\d{4}))?,?(?: (?:um|à|às|a las))? ${CLOCK}`,
  'iu',
);

/** `2026年9月20日 19:00 JST`. */
const DAY_IN_CHARACTERS =
  /^(?:(?<year>\d{4})年)?(?<month>\d{1,2}月)(?<day>\d{1,2})日 ?(?<clock>\d{1,2}:\d\d(?::\d\d)?) ?(?<zone>\S{1,8})$/u;

/** `Status: Resolved` before a text, with or without punctuation between them. */
const STATE =
  /^(?:current )?(?:status|state|zustand|statut|état|estado|当前状态|状态|狀態|ステータス|状況)\s*[:：]\s*(.*)$/is;

/** `Resolved - This incident has been resolved.`, or the word alone. */
const LABEL = /^(\p{L}[\p{L}\p{M}ー’' -]{1,30}?)\s*(?:[-–—:](?:\s+(.*)|)|：\s*(.*)|[.。]?)$/isu;

/** `API (Degraded performance)`; text in parentheses that is not a state belongs to the name. */
const PART_STATE = /\s?\(([^()]{1,60})\)$/;

/** `Affected components` above a list, `Affected Components: API, Chat` with it. */
const PARTS =
  /^(?:affected (?:components|services|systems|products|locations)|(?:components|services|systems|services\/components) affected)\s*(?::\s*(.*))?$/i;

/** Google: `Incident began at 2022-03-31 08:30 and ended at 2022-03-31 15:54 (all times are US/Pacific).` */
const SPAN =
  /^incident began at ([\d-]{10} [\d:]{5})(?: and ended at ([\d-]{10} [\d:]{5}))? ?\(all times are ([a-z/]{2,20})\)/i;

const MAX_PARTS = 1_000;

/** `[Identified] Thu, 01 Oct 2026 10:30:00 +0000: …`, as Cachet writes updates; the first has no state. */
const MARKED =
  /^(?:[[]([^[\]]{1,40})[\]] )?([a-z]{3}, \d\d? [a-z]{3} \d{4} [\d:]{5,8} \S{1,8}):(?:\s(.*))?$/i;

/** Time and state in either order, and a text: `Sep 20, 10:00 UTC - Resolved - It is back.` Also a state before its time alone. */
const HEADING = /^(?:- )?(\S.{1,60}?) [-–—|·] (\S.{1,60}?)(?: [-–—|·] (.*))?$/s;
const STATE_AND_TIME = /^(\p{L}{2,20}(?: \p{L}{2,20})??) ((?:\p{L}{3,9} \d|\d).{4,50})$/u;

const SCHEDULED = /^this (?:is|was) a scheduled event\b\s*(.*)$/i;

const WINDOW_LABEL = /^(?:scheduled for|scheduled|maintenance window|when|planned):?\s+(.+)$/i;

/**
 * Parses plain text. `near` (epoch milliseconds) is a time of the item, which gives the year of times without one; null:
 * such times are ignored.
 */
export function readTimeline(plain: string, near: number | null): ItemTimeline {
  const marked = plain.split('\n', MAX_LINES).map((line) => line.trim());
  const lines = marked.map((line) => (line.startsWith(LIST_MARK) ? line.slice(1).trim() : line));
  const found = {
    window: null as ItemTimeline['window'],
    span: null as ItemTimeline['span'],
    isMaintenance: false,
    components: [] as string[],
  };
  const rest: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const scheduled = SCHEDULED.exec(line);
    const parts = PARTS.exec(line);
    const span = SPAN.exec(line);
    if (scheduled !== null) {
      found.isMaintenance = true;
      found.window ??= readWindow(scheduled[1] ?? '', near);
    } else if (span !== null) found.span ??= readSpan(span);
    else if (/^type: *(?:scheduled |planned )?maintenance$/i.test(line)) found.isMaintenance = true;
    else if (/^(?:type: *incident|duration: .*)$/i.test(line)) continue;
    else if (parts !== null) {
      const listed = parts[1] ?? '';
      const end = listed === '' ? endOfList(marked, index + 1) : index + 1;
      const names = listed === '' ? lines.slice(index + 1, end) : listed.split(/,\s*/, MAX_PARTS);
      found.components.push(
        ...names.map((name) => withoutState(name.replace(/^- /, ''))).filter((name) => name !== ''),
      );
      index = end - 1;
    } else {
      const window = WINDOW_LABEL.exec(line);
      found.window ??= window === null ? null : readWindow(window[1] ?? '', near);
      rest.push(line);
    }
  }
  return { ...found, ...readUpdates(rest, near), text: rest.join('\n').trim() };
}

function readUpdates(lines: readonly string[], near: number | null) {
  const first = lines.findIndex((line) => line !== '');
  const head = first === -1 ? '' : (lines[first] ?? '');
  const dated = readDated(lines, near);
  if (dated.length > 0) {
    return { updates: dated, state: parseState(STATE.exec(head)?.[1] ?? '')?.meaning ?? null };
  }
  // A label after the first line is part of a text.
  const label = readLabel(head);
  if (label === null) return { updates: [], state: null };
  const text = [label.text, ...lines.slice(first + 1)].join('\n').trim();
  // An update without a state has that of the one below it.
  const below = label.meaning.kind !== 'update' ? null : lines.slice(first + 1).map(readLabel);
  const meaning =
    below?.find((one) => one !== null && one.meaning.kind !== 'update')?.meaning ?? label.meaning;
  return { updates: [{ at: null, meaning, text }], state: null };
}

function readSpan([, from = '', to, zone = '']: RegExpExecArray): ItemTimeline['span'] {
  const startsAt = readLocalTime(from, zone);
  const endsAt = to === undefined ? null : readLocalTime(to, zone);
  return startsAt === null ? null : { startsAt, endsAt };
}

/** Updates that begin with a line with a time and a line with a state. Text before the first one is ignored. */
function readDated(lines: readonly string[], near: number | null): ItemUpdate[] {
  const updates: { at: number; meaning: WordMeaning; texts: string[] }[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const headed = readHeading(line, near) ?? readMarked(line, updates.length === 0);
    const at = headed?.at ?? readDate(line, near);
    const label = at === null || headed !== null ? null : readLabel(lines[index + 1] ?? '');
    if (headed !== null) updates.push(headed);
    else if (at !== null && label !== null) {
      updates.push({ at, meaning: label.meaning, texts: [label.text] });
      index += 1;
    } else updates.at(-1)?.texts.push(line);
  }
  // A first text with a time alone is no list of updates.
  if (updates.length === 1 && lines.some((line) => /^[^[]/.test(line) && MARKED.test(line))) return [];
  // Most texts list the newest first, also within one minute.
  const isOldestFirst = (updates[0]?.at ?? 0) < (updates.at(-1)?.at ?? 0);
  return (isOldestFirst ? updates : updates.toReversed())
    .sort((a, b) => a.at - b.at || endRank(a) - endRank(b))
    .map(({ at, meaning, texts }) => ({ at, meaning, text: texts.join('\n').trim() }));
}

function readDate(line: string, near: number | null): number | null {
  return readMonthDay(line, near) ?? (/\d{4}/.test(line) ? readTime(line) : null);
}

/** A line with time and state: `Sep 20, 10:00 UTC - Resolved`, in either order, and perhaps a text; null: another line. */
function readHeading(line: string, near: number | null) {
  const [, first = '', second = '', text] = HEADING.exec(line) ?? STATE_AND_TIME.exec(line) ?? [];
  for (const [time, word] of [
    [first, second],
    [second, first],
  ] as const) {
    const at = readDate(time, near);
    const meaning = at === null ? null : meaningOf(word);
    if (at !== null && meaning !== null) return { at, meaning, texts: text === undefined ? [] : [text] };
  }
  return null;
}

/** An update as {@link MARKED} has it; null: another line. `isFirst`: it needs no state. */
function readMarked(line: string, isFirst: boolean) {
  const [, word, time = '', text = ''] = MARKED.exec(line) ?? [];
  const at = readTime(time);
  const meaning = word === undefined && isFirst ? ({ kind: 'update' } as const) : meaningOf(word ?? '');
  return at === null || meaning === null ? null : { at, meaning, texts: [text] };
}

function readLabel(line: string): { readonly meaning: WordMeaning; readonly text: string } | null {
  const state = STATE.exec(line);
  if (state !== null) return parseState(state[1] ?? '');
  const [, label = '', rest, text = rest ?? ''] = LABEL.exec(line.replace(LEADING_SIGNS, '')) ?? [];
  const meaning = meaningOf(label);
  return meaning === null ? null : { meaning, text: text.trim() };
}

/** The longest label at the beginning of a text. */
function parseState(said: string): { readonly meaning: WordMeaning; readonly text: string } | null {
  const words = said.split(/\s+|(?<=[。，：；])/, 4);
  for (let count = Math.min(3, words.length); count > 0; count--) {
    const label = words
      .slice(0, count)
      .join(' ')
      .replace(/[-–—:.,。，：；]$/, '');
    const meaning = meaningOf(label);
    if (meaning === null) continue;
    const end =
      new RegExp(`^(?:[^\\s。，：；]+[。，：；]?\\s*){${count}}`).exec(said)?.[0].length ?? said.length;
    return { meaning, text: said.slice(end).replace(/^[-–—:.。，：；\s]+/, '') };
  }
  return null;
}

/** `Sep 20, 10:00 - 12:00 UTC`, `Sep 20, 22:00 - Sep 21, 02:00 UTC`, `2026-09-20 10:00 UTC - 2026-09-20 12:00 UTC`. */
function readWindow(text: string, near: number | null): ItemTimeline['window'] {
  const [from = '', to = ''] = text.trim().split(/\s+(?:-|–|—|to|until)\s+/i);
  const zone = /\s(\S{1,8})$/.exec(to)?.[1] ?? '';
  const startsAt = readMoment(from, near) ?? readMoment(`${from} ${zone}`, near);
  if (startsAt === null) return null;
  const zoned = readMoment(`${from} ${zone}`, near) ?? startsAt;
  const day = /^(.*?)\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?(?: Uhr)?(?: \S{1,8})?$/i.exec(from)?.[1];
  const sameDay = day !== undefined && /^\d{1,2}:\d\d/.test(to) ? readMoment(day + to, near) : null;
  // `22:00 - 02:00` ends on the next day.
  const clockEnd = sameDay !== null && sameDay < zoned ? sameDay + DAY_MS : sameDay;
  return { startsAt: zoned, endsAt: readMoment(to, near) ?? clockEnd };
}

function readMoment(text: string, near: number | null): number | null {
  return readMonthDay(text.trim(), near) ?? readTime(text);
}

/** A time without a year is in the year in which it is nearest to `near`. */
function readMonthDay(line: string, near: number | null): number | null {
  if (line.length > 60) return null;
  const text = line.replace(/\s+/g, ' ');
  const { groups } = MONTH_DAY.exec(text) ?? DAY_MONTH.exec(text) ?? DAY_IN_CHARACTERS.exec(text) ?? {};
  const month = englishMonth(groups?.month ?? '');
  if (groups === undefined || month === null) return null;
  const { day, year, clock = '', half, zone = '' } = groups;
  const time = half === undefined ? clock : toDayClock(clock, half.toLowerCase());
  // In Chinese it is the time of China, not that of Chicago.
  const offset = groups.month?.endsWith('月') && /^cst$/i.test(zone) ? '+0800' : zone;
  const inYear = (number: number | string) => readTime(`${day} ${month} ${number} ${time} ${offset}`.trim());
  if (year !== undefined) return inYear(year);
  if (near === null) return null;
  const nearYear = new Date(near).getUTCFullYear();
  const times = [nearYear - 1, nearYear, nearYear + 1].map(inYear).filter((at) => at !== null);
  return times.sort((a, b) => Math.abs(a - near) - Math.abs(b - near))[0] ?? null;
}

/** `1:05` and `pm` as `13:05`. */
function toDayClock(clock: string, half: string): string {
  const [hour = '', ...rest] = clock.split(':');
  return [(Number(hour) % 12) + (half === 'pm' ? 12 : 0), ...rest].join(':');
}

/** A list ends with its last item, else before the first line without parentheses at its end. */
function endOfList(lines: readonly string[], start: number): number {
  const mark = [LIST_MARK, '- '].find((one) => lines[start]?.startsWith(one));
  let end = start;
  while (end < lines.length && end - start < MAX_PARTS) {
    const line = lines[end] ?? '';
    if (!(mark === undefined ? PART_STATE.test(line) : line.startsWith(mark))) break;
    end += 1;
  }
  return end;
}

/** `API (Degraded performance)` is the component `API`. */
function withoutState(name: string): string {
  const state = meaningOf(PART_STATE.exec(name)?.[1] ?? '');
  return (state === null ? name : name.replace(PART_STATE, '')).trim();
}
