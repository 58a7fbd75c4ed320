/** Intervals, timeouts and re-checks in import files of others. */
import { parseDuration } from '../../domain/durations.ts';
import { describeMemberProblem } from '../../domain/input-problem.ts';
import { changeMembers, type MemberTexts, operatorLimits, refuseMembers } from '../../kinds/check-members.ts';
import { asRow, asText, type EntryReading, isEmpty, type LostField, type Row } from './listed-service.ts';

/** Maximum number of re-checks that are read; more are refused in any case. */
const MAX_RETRIES = 100;

/** The entry with these times, if its service is checked; times that a check cannot have are lost. */
export function withTimes(reading: EntryReading, texts: MemberTexts): EntryReading {
  if ('problem' in reading || reading.service.kind === 'heartbeat') return reading;
  const lost: LostField[] = [];
  let kept: MemberTexts = texts;
  for (;;) {
    const { choice, wrong: unread } = changeMembers({}, kept);
    const wrong = [...unread, ...refuseMembers(choice, operatorLimits(null))];
    if (wrong.length === 0)
      return { service: { ...reading.service, choice }, lost: [...reading.lost, ...lost] };
    for (const { member, problem } of wrong) {
      lost.push({ field: member, reason: `${member} ${describeMemberProblem(member, problem)}` });
      kept = { ...kept, [member]: null };
    }
  }
}

/** The times of a monitor of Uptime Kuma, in seconds there. Without retries, the re-checks are those of the settings. */
export function readKumaTimes({ interval, timeout, maxretries, retryInterval }: Row): MemberTexts {
  const retries = Math.min(MAX_RETRIES, Number(maxretries));
  return {
    ...(isEmpty(interval) ? {} : { interval: `${Number(interval)}s` }),
    ...(isEmpty(timeout) ? {} : { timeout: `${Number(timeout)}s` }),
    ...(retries > 0 ? { confirmAfter: `${Number(retryInterval)}s `.repeat(retries) } : {}),
  };
}

/** The time between two checks of Gatus where an endpoint names none. */
const GATUS_INTERVAL = '1m';

/** The times of an endpoint of Gatus. */
export function readGatusTimes(row: Row): MemberTexts {
  const interval = readGoDuration(asText(row.interval)) ?? GATUS_INTERVAL;
  const timeout = readGoDuration(asText(asRow(row.client).timeout));
  return { interval, ...(timeout === null ? {} : { timeout }) };
}

/** A duration of Go such as `1m30s` with one unit; other texts stay as they are. */
function readGoDuration(text: string | null): string | null {
  if (text === null || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h)){2,}$/.test(text)) return text;
  return `${goDurationMs(text)}ms`;
}

/** A duration of Go, milliseconds; null: it is none. */
export function goDurationMs(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return null;
  const parts = text.match(/[\d.]+[a-z]+/g) ?? [];
  return parts.reduce((sum, part) => sum + (parseDuration(part) ?? 0), 0);
}
