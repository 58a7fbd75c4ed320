/** The phases of the last check as a waterfall: what happened when, and where it failed. */
import type { LatestCheck } from '../../domain/current.ts';
import type { Phase } from '../../domain/failure.ts';
import type { Language } from '../language/language.ts';

const WIDTH = 1_000;
/** Rest of a check beyond its phases that is worth a row, milliseconds: redirects make one, rounding does not. */
const REST_MS = 1;

/**
 * The waterfall of a check; `label` says it in one line. Null: there was no request, as with a heartbeat. Phases that did
 * not happen are absent; one without a time did not end, or was not measured.
 */
export function waterfallOf(latest: LatestCheck | null, { words, formats }: Language) {
  if (latest === null || latest.source === 'heartbeat' || latest.source === 'silence') return null;
  const { timing, failure } = latest;
  const measured: Readonly<Record<Phase, number | null>> = {
    dns: timing.dnsMs,
    connect: timing.connectMs,
    tls: timing.tlsMs,
    first_byte: timing.firstByteMs,
    body: null,
  };
  const known = Object.entries(measured) as [Phase, number | null][];
  const sumMs = known.reduce((sum, [, ms]) => sum + (ms ?? 0), 0);
  const totalMs = Math.max(sumMs, timing.totalMs ?? 0);
  const widthOf = (ms: number) => (totalMs === 0 ? 0 : (ms / totalMs) * WIDTH);
  let passedMs = 0;
  const barOf = (ms: number | null) => {
    if (ms === null) return null;
    const bar = { x: round(widthOf(passedMs)), width: round(widthOf(ms)) };
    passedMs += ms;
    return bar;
  };
  const failed = failure === null ? null : words.page.failure(failure);
  const rows: {
    kind: Phase | 'other';
    name: string;
    ms: string | null;
    bar: ReturnType<typeof barOf>;
    failure: string | null;
  }[] = known
    .filter(([kind, ms]) => ms !== null || failure?.phase === kind)
    .map(([kind, ms]) => ({
      kind,
      name: words.page.phase[kind],
      ms: ms === null ? null : formats.milliseconds(ms),
      bar: barOf(ms),
      failure: failure?.phase === kind ? failed : null,
    }));
  const restMs = totalMs - sumMs;
  if (restMs > REST_MS)
    rows.push({
      kind: 'other',
      name: words.page.otherPhase,
      ms: formats.milliseconds(restMs),
      bar: barOf(restMs),
      failure: null,
    });
  if (rows.length === 0) return null;
  const total = totalMs === 0 ? null : formats.milliseconds(totalMs);
  return {
    width: WIDTH,
    rows,
    total,
    label: total === null ? words.page.phases : words.page.phasesLabel(total),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
