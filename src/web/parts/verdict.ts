/** The status of a service on pages: its shape, its pill, and the verdict as a sentence. */
import type { OwnerSeverity } from '../../domain/incident/owner-incident.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import { readStatusWord, type ServiceStatus } from '../../domain/status.ts';
import { age, escapeMarkup, lasting, type Phrase, time } from '../../language/phrase.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import type { Language } from '../language/language.ts';

/** Since when and why, with the cause if it cannot be reached, and without the name of the service: `has been down since ...: it is returning errors (HTTP 503).` */
export function describeVerdict(
  current: CurrentStatus,
  language: Language,
  unreached: Unreached | null = null,
): Phrase {
  const { status, since, latest } = current;
  const { service } = language.texts;
  if (status === 'unknown' || since === null || latest === null) return [service.notChecked];
  const lasted = lasting(since);
  if (status === 'up') return service.up(time(since), lasted);
  const why = explainStatus(current, language, unreached);
  return status === 'slow' ? service.slow(time(since), lasted, why) : service.down(time(since), lasted, why);
}

/** The known facts about a service apart from its status. */
interface AnswerSubject {
  readonly name: string;
  readonly paused: boolean;
  /** The time at which the service was last seen if that is too long ago, epoch milliseconds; null: it is fresh. */
  readonly staleSince: number | null;
  /** Why it cannot be reached; null: it can, as far as that is known. */
  readonly unreached: Unreached | null;
  /** Severity of the worst open incident that its owner reports; null: none is open. */
  readonly reported: OwnerSeverity | null;
}

/** The answer to "is it up?" as one sentence, and for a title, in which no time passes. */
export function describeAnswer(
  { name, paused, staleSince, unreached, reported }: AnswerSubject,
  { status, since, latest }: CurrentStatus,
  { texts }: Language,
): { readonly status: ServiceStatus; readonly sentence: Phrase; readonly title: Phrase } {
  const { answer, answerTitle, symptom } = texts.service;
  const unsure = (sentence: Phrase) => ({ status: 'unknown', sentence, title: sentence }) as const;
  if (paused) return unsure(answer.paused(name));
  if (status === 'unknown' || since === null) return unsure(answer.unknown(name));
  if (staleSince !== null) return unsure(answer.stale(name, age(staleSince)));
  if (reported !== null && status === 'up') {
    const title = answer.reported(name);
    return { status: reported === 'minor' ? 'slow' : 'down', title, sentence: title };
  }
  const failure = latest?.failure ?? null;
  const said =
    unreached === null
      ? failure === null || status !== 'down'
        ? null
        : answer.why(symptom(failure))
      : answer.unreached(texts.service.because(unreached.because));
  const why = said === null ? [] : [said];
  const title = [answerTitle[status](name), ...why];
  return {
    status,
    title,
    sentence: status === 'up' ? title : [...answer[status](name, lasting(since)), ...why],
  };
}

/** Why a service is down or slow, as the end of a sentence; null: it is neither, or the reason is unknown. */
export function explainStatus(
  { status, latest }: Pick<CurrentStatus, 'status' | 'latest'>,
  { texts, formats }: Language,
  unreached: Unreached | null = null,
): string | null {
  const { service } = texts;
  if (unreached !== null) return service.because(unreached.because);
  if (latest === null || (status !== 'slow' && status !== 'down')) return null;
  // A status word that makes a service slow or down is the reason, whatever its response time. A failure contains it.
  const word = latest.reported;
  if (word !== null && latest.failure === null && readStatusWord(word) === status)
    return service.reported(word);
  // Otherwise the reason is the reported latency or a failed run.
  if (latest.source === 'heartbeat' && latest.failure === null) {
    const took = latest.responseTimeMs;
    return service.ownReport(took === null || took === 0 ? null : formats.milliseconds(took));
  }
  if (status === 'slow')
    return latest.responseTimeMs === null
      ? null
      : service.slowAnswer(formats.milliseconds(latest.responseTimeMs));
  if (latest.source === 'silence') return service.noHeartbeat;
  return latest.failure === null ? null : service.reason({ code: 'check_failed', failure: latest.failure });
}

/** A shape for each status, so that colour is not the only sign: an SVG path in a box of 10 by 10. */
export const STATUS_SHAPES: Readonly<Record<ServiceStatus, string>> = {
  up: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z',
  slow: 'M5 .5 10 9.5H0z',
  down: 'M2 0 5 3 8 0l2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3z',
  unknown: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
};

/** The pill of a status: its shape and its word, as markup. */
export function pillMarkup(status: ServiceStatus, word: string): string {
  return `<svg viewBox="0 0 10 10" aria-hidden="true"><path d="${STATUS_SHAPES[status]}"/></svg>${escapeMarkup(word)}`;
}
