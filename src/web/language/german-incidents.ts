/** Incidents that our own checks opened, in German: the sentences of `src/domain/own-incident.ts` and their reasons. */
import { parseDuration } from '../../domain/durations.ts';
import type { FailureClass } from '../../domain/failure.ts';
import { CLASS_TEXTS } from '../../domain/failure-text.ts';
import { createFormats } from './formats.ts';
import { germanRecordedFailure } from './german-recorded-failures.ts';

const FORMATS = createFormats('de-DE', 'de');

type Rule = readonly [RegExp, (...found: string[]) => string];

const SENTENCES: readonly Rule[] = [
  [/^(.+) has gone silent$/, (name) => `${name} ist verstummt`],
  [/^(.+) reports a failure$/, (name) => `${name} meldet einen Fehler`],
  [/^(.+) answers with errors$/, (name) => `${name} antwortet mit Fehlern`],
  [/^(.+) cannot be reached securely$/, (name) => `${name} ist nicht sicher erreichbar`],
  [/^(.+) is not reachable$/, (name) => `${name} ist nicht erreichbar`],
  [
    /^Our checks of (\S+) fail( again)?: (.+)\.$/s,
    (domain, again, reason) =>
      `Unsere Prüfungen von ${domain} schlagen${andAgain(again)} fehl: ${germanReason(reason)}.`,
  ],
  [
    /^(\S+) is down( again)?: (.+)\.$/s,
    (domain, again, reason) => `${domain} ist${andAgain(again)} gestört: ${germanReason(reason)}.`,
  ],
  [/^(\S+) answers again\. We watch it\.$/, (domain) => `${domain} antwortet wieder. Wir beobachten es.`],
  [
    /^(\S+) answers again, though slowly: (.+)\. We watch it\.$/s,
    (domain, reason) =>
      `${domain} antwortet wieder, wenn auch langsam: ${germanReason(reason)}. Wir beobachten es.`,
  ],
  [
    /^(\S+) has answered (\d+) checks in a row\.$/,
    (domain, checks) => `${domain} hat auf ${checks} Prüfungen nacheinander geantwortet.`,
  ],
];

const REASONS: readonly Rule[] = [
  [/^no reason is known$/, () => 'ein Grund ist nicht bekannt'],
  [/^it reports that it is down$/, () => 'der Dienst meldet sich gestört'],
  [/^it reports that it is slow$/, () => 'der Dienst meldet sich langsam'],
  [/^it reports that a run failed$/, () => 'der Dienst meldet, dass ein Lauf gescheitert ist'],
  [/^it took ([\d.]+) s to answer$/, (seconds) => `die Antwort brauchte ${decimal(seconds)} s`],
  [
    /^it reports a response time of ([\d.]+) s$/,
    (seconds) => `der Dienst meldet eine Antwortzeit von ${decimal(seconds)} s`,
  ],
  [/^no heartbeat arrived for (\w+)$/, (length) => `seit ${germanLength(length)} kam kein Lebenszeichen`],
];

/** The title or a text of an own incident, in German; what is not of its making stays as it is. */
export function germanIncident(text: string): string {
  return translate(text, SENTENCES) ?? text;
}

function germanReason(reason: string): string {
  for (const [kind, words] of Object.entries(CLASS_TEXTS) as [FailureClass, string][]) {
    if (reason === words) return germanRecordedFailure({ class: kind, detail: '' });
    if (reason.startsWith(`${words} (`) && reason.endsWith(')'))
      return germanRecordedFailure({ class: kind, detail: reason.slice(words.length + 2, -1) });
  }
  const status = /^it (answered with status \d+)$/.exec(reason)?.[1];
  if (status !== undefined) return germanRecordedFailure({ class: 'status', detail: status });
  return translate(reason, REASONS) ?? reason;
}

function translate(text: string, rules: readonly Rule[]): string | null {
  for (const [pattern, say] of rules) {
    const found = pattern.exec(text);
    if (found !== null) return say(...found.slice(1));
  }
  return null;
}

function andAgain(again: string | undefined): string {
  return again === undefined ? '' : ' wieder';
}

/** What `formatDuration` writes, as the pages write lengths. */
function germanLength(text: string): string {
  const ms = parseDuration(text);
  return ms === null ? text : FORMATS.length(ms);
}

function decimal(figure: string): string {
  return figure.replace('.', ',');
}
