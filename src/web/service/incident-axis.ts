/**
 * An incident on one axis of time: our checks, what our incident says, and what the vendor or the owner says, with the lag
 * between the first failed check and the vendor's first entry. Across, lengths are percent of the window, so that the
 * drawing fits every screen and its text keeps its size; down, they are pixels. Pure.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts';
import type { Trouble } from '../../domain/incident/acknowledgement.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import { type Bucket, dayKindOf } from '../../domain/sample.ts';
import { time } from '../../language/phrase.ts';
import { stepFor, type Window } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { stateWord } from '../parts/incidents.ts';

/** Maximum number of cells of checks: on a phone each is 4 pixels wide. */
const MAX_CELLS = 60;
/** Part of the window that is shown before and after. */
const MARGIN = 0.08;
const MIN_SPAN_MS = 10 * MINUTE_MS;
const MAX_TICKS = 5;
const TICK_STEPS_MS = [
  ...[1, 2, 5, 15].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 30, 90].map((days) => days * DAY_MS),
];

/** Pixels: the rows of the drawing from above. */
const NAME_HEIGHT = 20;
const CELLS_HEIGHT = 24;
const LINE_HEIGHT = 20;
const LAG_HEIGHT = 24;
const TICKS_HEIGHT = 22;
const MARK_RADIUS = 5;
/** Heights of cells, so that colour is not the only sign. */
const CELL_HEIGHTS = { up: 10, slow: 17, down: CELLS_HEIGHT, suspect: 10, none: 3 } as const;

type Voice = Incident['source'];
const VOICES: readonly Voice[] = ['own', 'vendor', 'owner'];

/** The window that shows an incident and its companions, with the steps of its cells. */
export function axisWindow({ incident, companions }: Trouble, intervalMs: number, now: number): Window {
  const all = [incident, ...companions];
  const begin = Math.min(...all.map(beginOf));
  const end = Math.max(...all.map(({ resolvedAt, updates }) => resolvedAt ?? updates.at(-1)?.at ?? now));
  const isOpen = all.some(({ resolvedAt }) => resolvedAt === null);
  const marginMs = MARGIN * Math.max(MIN_SPAN_MS, (isOpen ? now : end) - begin);
  const to = isOpen ? now : Math.min(now, end + marginMs);
  const stepMs = stepFor(to - begin + marginMs, intervalMs, MAX_CELLS);
  const from = Math.floor((begin - marginMs) / stepMs) * stepMs;
  return { from, to: Math.max(to, from + 1), stepMs };
}

/** The drawing. `buckets`: the checks of the window; null: the store of past checks does not respond. */
export function axisOf(
  { incident, companions, acknowledgement }: Trouble,
  { from, to }: Window,
  buckets: readonly Bucket[] | null,
  { texts, formats }: Language,
) {
  const xOf = (at: number) => percent((Math.min(Math.max(at, from), to) - from) / (to - from));
  const offset = (at: number) => (at === zero ? '' : signed(at - zero, formats.length));
  const all = [incident, ...companions];
  const zero = zeroOf(all);
  const hasCells = buckets?.some(({ count, suspectCount }) => count + suspectCount > 0) === true;
  let y = 0;
  const lanes = VOICES.flatMap((voice) => {
    const ofVoice = all.filter(({ source }) => source === voice);
    const cellsBelong = voice === 'own' && hasCells;
    if (ofVoice.length === 0 && !cellsBelong) return [];
    // Our name is above our lane, and theirs are below: between them is room for the lag.
    const isOurs = voice === 'own';
    if (voice === 'vendor' && acknowledgement !== null) y += LAG_HEIGHT;
    const top = y;
    const cellsY = top + (isOurs ? NAME_HEIGHT : 0);
    const lineY = cellsY + (cellsBelong ? CELLS_HEIGHT : 0) + LINE_HEIGHT / 2;
    const bottom = ofVoice.length === 0 ? cellsY + CELLS_HEIGHT : lineY + LINE_HEIGHT / 2;
    y = bottom + (isOurs ? 0 : NAME_HEIGHT);
    return [
      {
        voice,
        name: texts.incidents.voice[voice],
        nameY: isOurs ? cellsY - 7 : y - 7,
        cells: cellsBelong
          ? buckets.map((bucket) => {
              const kind = dayKindOf(bucket);
              const height = CELL_HEIGHTS[kind];
              const x = xOf(bucket.startAt);
              const width = percent((xOf(bucket.endAt) - x) / 100);
              return { kind, x, width, y: cellsY + CELLS_HEIGHT - height, height };
            })
          : [],
        lines: ofVoice.map((one) => ({
          y: lineY,
          from: xOf(beginOf(one)),
          to: xOf(one.resolvedAt ?? to),
          isOpen: one.resolvedAt === null,
          marks: one.updates.map(({ at, status }) => ({
            x: xOf(at),
            isEnd: status === 'resolved',
            title: `${offset(at) || '0'}: ${stateWord({ severity: one.severity, status }, { texts })}`,
          })),
        })),
        lineY,
      },
    ];
  });
  return {
    height: y + TICKS_HEIGHT,
    bottom: y,
    radius: MARK_RADIUS,
    lanes,
    lag: lagOf(lanes, acknowledgement, xOf, (lagMs) =>
      texts.incidents.later(formats.length(Math.abs(lagMs)), lagMs < 0),
    ),
    ticks: ticksOf(from - zero, to - zero).map((ms) => ({
      x: xOf(zero + ms),
      anchor: ms === 0 ? 'middle' : anchorOf(xOf(zero + ms)),
      text: ms === 0 ? '0' : signed(ms, formats.length),
    })),
    zero: acknowledgement !== null || incident.source === 'own' ? 'check' : 'entry',
    begins: [time(from)],
    ends: [time(to)],
    /** The time of an entry as the axis has it; empty at its 0. */
    offset,
  } as const;
}

/** The first failed check that is known, otherwise the first entry, epoch milliseconds. */
function zeroOf(all: readonly Incident[]): number {
  const own = all.filter(({ source }) => source === 'own');
  return Math.min(...(own.length > 0 ? own : all).map(beginOf));
}

function beginOf({ startedAt, updates }: Incident): number {
  return Math.min(startedAt, updates[0]?.at ?? startedAt);
}

/** The bracket between the two first signs, in the gap above the vendor's lane. */
function lagOf(
  lanes: readonly { readonly voice: Voice; readonly lineY: number }[],
  acknowledgement: Trouble['acknowledgement'],
  xOf: (at: number) => number,
  say: (lagMs: number) => string,
) {
  const ours = lanes.find(({ voice }) => voice === 'own');
  const theirs = lanes.find(({ voice }) => voice === 'vendor');
  const { acknowledgedAt = null, startedAt = 0, lagMs = null } = acknowledgement ?? {};
  if (ours === undefined || theirs === undefined || acknowledgedAt === null || lagMs === null) return null;
  const [from, to] = [xOf(startedAt), xOf(acknowledgedAt)];
  // Beside the bracket, where there is more room.
  const isBefore = Math.min(from, to) > 100 - Math.max(from, to);
  return {
    ours: from,
    theirs: to,
    above: ours.lineY + MARK_RADIUS + 2,
    below: theirs.lineY - MARK_RADIUS - 2,
    y: (ours.lineY + theirs.lineY) / 2,
    labelX: isBefore ? Math.min(from, to) : Math.max(from, to),
    side: isBefore ? 'before' : 'after',
    text: say(lagMs),
  } as const;
}

/** Multiples of a round step between two offsets, milliseconds. */
function ticksOf(from: number, to: number): readonly number[] {
  const stepMs =
    TICK_STEPS_MS.find((step) => (to - from) / step < MAX_TICKS) ??
    Math.ceil((to - from) / MAX_TICKS / DAY_MS) * DAY_MS;
  const first = Math.ceil(from / stepMs);
  return Array.from({ length: Math.floor(to / stepMs) - first + 1 }, (_, index) => (first + index) * stepMs);
}

/** `+10 min`, `−10 min`. */
function signed(ms: number, length: (ms: number) => string): string {
  return `${ms < 0 ? '−' : '+'}${length(Math.abs(ms))}`;
}

/** The anchor with which a text does not leave the drawing. */
function anchorOf(x: number): 'start' | 'middle' | 'end' {
  if (x < 10) return 'start';
  return x > 90 ? 'end' : 'middle';
}

function percent(share: number): number {
  return Math.round(share * 10_000) / 100;
}
