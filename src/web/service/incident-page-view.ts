/** The page of an incident as plain data for the template. Pure. */
import type { Incident } from '../../domain/incident/incident.ts';
import type { Trouble } from '../../domain/incident/incident-companions.ts';
import type { OwnerIncident } from '../../domain/incident/owner-incident.ts';
import type { Bucket } from '../../domain/sample.ts';
import { lasting, type Phrase, timeToSecond } from '../../language/phrase.ts';
import type { Window } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { inLanguage, stateWord, viewPageIncident } from '../parts/incidents.ts';
import { cutTimeline, textsOf } from '../parts/posts.ts';
import { axisOf } from './incident-axis.ts';

/** The facts that the page shows of an incident. */
export interface IncidentKnowledge extends Trouble {
  /** Name of the service in paths. */
  readonly page: string;
  readonly window: Window;
  /** The checks of the window; null: the store of past checks does not respond. */
  readonly buckets: readonly Bucket[] | null;
  /** True if the vendor's status page of the service is read. */
  readonly hasVendor: boolean;
  /** The owner's post with its markup, if it is the owner's incident. */
  readonly post: OwnerIncident | null;
  /** Number of entries before those that are shown. */
  readonly offset: number;
  readonly now: number;
}

/** The data of the page, beside its neighbours. */
export function viewIncidentPage(known: IncidentKnowledge, language: Language) {
  const { incident, companions, page, now } = known;
  const view = viewPageIncident(incident, page, now, language);
  const axis = axisOf(known, known.window, known.buckets, language);
  const isRepeated = view.timeline.some(({ text }) => text === view.description);
  return {
    incident: view,
    // The first entry of a timeline often says the same.
    description: isRepeated ? '' : view.description,
    headline: headlineOf(known, language),
    axis,
    findings: findingsOf(known, language),
    companions: companions.map((one) => viewPageIncident(one, page, now, language)),
    ...timelineOf(known, axis.offset, language),
  };
}

/** The large figures: how long it lasted, and how long the vendor took. */
function headlineOf({ incident, acknowledgement }: IncidentKnowledge, { texts, formats }: Language) {
  const { startedAt, resolvedAt } = incident;
  const { incidents } = texts;
  const lasted: Phrase = [resolvedAt === null ? lasting(startedAt) : formats.length(resolvedAt - startedAt)];
  const lagMs = acknowledgement?.lagMs ?? null;
  return [
    { name: resolvedAt === null ? incidents.lastsFor : incidents.duration, value: lasted },
    ...(lagMs === null
      ? []
      : [
          {
            name: incidents.vendorFirst,
            value: [incidents.later(formats.length(Math.abs(lagMs)), lagMs < 0)],
          },
        ]),
  ];
}

/** The findings of the axis, in sentences. */
function findingsOf(known: IncidentKnowledge, { texts, formats }: Language): readonly string[] {
  const { incident, acknowledgement, buckets, hasVendor } = known;
  const { incidents } = texts;
  const lagMs = acknowledgement?.lagMs ?? null;
  if (lagMs !== null) return [incidents.vendorLag(formats.length(Math.abs(lagMs)), lagMs < 0)];
  if (incident.severity === 'maintenance') return [];
  if (incident.source === 'own')
    return hasVendor ? [incident.resolvedAt === null ? incidents.vendorSilent : incidents.vendorNever] : [];
  const isWatched = buckets?.some(({ count }) => count > 0) === true;
  const hasFailed = buckets?.some(({ downCount }) => downCount > 0) === true;
  return isWatched && !hasFailed && known.companions.length === 0 ? [incidents.checksFine] : [];
}

/** The entries of the incident and its companions that are shown, newest first; each says who speaks if there are several. */
function timelineOf(
  { incident, companions, post, offset: start }: IncidentKnowledge,
  offset: (at: number) => string,
  { texts }: Language,
) {
  const all = [incident, ...companions].map((one) => inLanguage(one, { texts }));
  const hasVoices = new Set(all.map(({ source }) => source)).size > 1;
  const words = post === null ? null : textsOf(post, { texts });
  const entries = all
    .flatMap((one): Entry[] =>
      one === all[0] && words !== null
        ? words.map(({ at, status, markdown: text }) => ({
            at,
            status,
            text,
            source: one.source,
            isMarkdown: true,
          }))
        : one.updates.map(({ at, status, text }) => ({
            ...{
              at,
              status: stateWord({ severity: one.severity, status }, { texts }),
              text,
              source: one.source,
              isMarkdown: false,
            },
          })),
    )
    .sort((a, b) => b.at - a.at);
  const { shown, next } = cutTimeline(entries, start);
  return {
    timeline: shown.map(({ at, source, ...entry }) => ({
      ...entry,
      source,
      voice: hasVoices ? texts.incidents.voice[source] : null,
      time: [timeToSecond(at)],
      offset: offset(at),
    })),
    next,
  };
}

interface Entry {
  readonly at: number;
  readonly status: string;
  readonly text: string;
  readonly source: Incident['source'];
  readonly isMarkdown: boolean;
}
