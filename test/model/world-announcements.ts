/**
 * What owners and vendors say in random worlds: maintenance that owners announce and change, and what stands on vendors' pages. Plain
 * data; times are whole seconds since the beginning of the world. A vendor's clock is right.
 */
import fc from 'fast-check';

/** Maintenance of an owner. */
export interface Work {
  readonly service: number;
  /** When it is announced. */
  readonly at: number;
  /** How long after that it starts; negative: its start is past when it is announced. */
  readonly startsIn: number;
  readonly lasts: number;
  /** It recurs at the same time of each day. */
  readonly daily: boolean;
  readonly changes: readonly WorkChange[];
}

/** `skip` cancels the occurrence that comes next, `extend` makes the one that runs longer `by` so many seconds. */
export interface WorkChange {
  readonly at: number;
  readonly what: 'end' | 'extend' | 'skip' | 'withdraw';
  readonly by: number;
}

/** One entry of a vendor's page. */
export interface Story {
  /** Number of the page, 0 or 1. */
  readonly page: number;
  /** Which component it concerns; null: the page does not tell. */
  readonly component: string | null;
  /** When the page lists it, and again; after the end of each it is gone. */
  readonly listed: readonly (readonly [from: number, until: number])[];
  readonly about:
    | {
        readonly kind: 'incident';
        /** How long before it was listed it started; null: the page does not tell. */
        readonly startedBefore: number | null;
        readonly steps: readonly IncidentStep[];
        /** Which of its updates are listed. */
        readonly updates: 'all' | 'newest' | 'none';
        readonly tellsEnd: boolean;
      }
    | {
        readonly kind: 'maintenance';
        readonly startsAt: number;
        /** Null: the page names no end. */
        readonly endsAt: number | null;
        /** From these times on the page has this state; before, it is planned. */
        readonly states: readonly { readonly at: number; readonly state: 'planned' | 'running' | 'done' }[];
        readonly tells: boolean;
      };
}

/** A step of a vendor's incident, so long after it was listed. */
export interface IncidentStep {
  readonly after: number;
  readonly status: 'investigating' | 'identified' | 'monitoring' | 'resolved';
  readonly severity: 'minor' | 'major' | 'critical';
}

/** What a page lists of a story. Times are milliseconds since the beginning of the world. */
export type Listed = {
  readonly key: string;
  readonly component: string | null;
  readonly updates: readonly ListedUpdate[];
} & (
  | {
      readonly kind: 'incident';
      readonly severity: IncidentStep['severity'];
      readonly status: IncidentStep['status'];
      readonly startedAt: number | null;
      readonly resolvedAt: number | null;
    }
  | {
      readonly kind: 'maintenance';
      readonly startsAt: number;
      readonly endsAt: number | null;
      readonly state: 'planned' | 'running' | 'done';
    }
);

/** An update as a page lists it. */
export interface ListedUpdate {
  readonly at: number;
  readonly status: IncidentStep['status'];
  readonly text: string;
}

/** What owners and vendors say in a world. */
export interface Announcements {
  readonly works: readonly Work[];
  readonly stories: readonly Story[];
  /** When each page is read; both are read at the beginning. */
  readonly reads: readonly { readonly page: number; readonly at: number }[];
}

/** Page 1 lists only what is open. */
export const OPEN_PAGE = 1;

/** The page that tells of a service, by its index. */
export function pageOf(service: number): number {
  return service % 2;
}

/** The components of a page that concern a service, by its index; null: the whole page does. */
export function componentsOf(service: number): readonly string[] | null {
  return service === 4 ? null : [`s${service}`, service < 2 ? 'web' : 'api'];
}

/** Random announcements in a world of so many seconds; `some` makes lists of them, up to a length. */
export function announcements(
  seconds: number,
  interval: number,
  services: number,
  some: <T>(one: fc.Arbitrary<T>, most: number) => fc.Arbitrary<T[]>,
): fc.Arbitrary<Announcements> {
  const time = fc.integer({ min: 0, max: seconds - 1 });
  const length = fc.oneof(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 15 * interval }));
  const service = fc.nat({ max: services - 1 });
  const change: fc.Arbitrary<WorkChange> = fc.record({
    at: time,
    what: fc.constantFrom('end', 'extend', 'extend', 'skip', 'withdraw'),
    by: fc.integer({ min: 1, max: 10 * interval }),
  });
  const work: fc.Arbitrary<Work> = fc.record({
    service,
    at: time,
    startsIn: fc.oneof(fc.constantFrom(-60, -2, 0), fc.integer({ min: 0, max: 6 * interval })),
    lasts: fc.integer({ min: 60, max: 60 + 6 * interval }),
    daily: fc.constantFrom(false, false, true),
    changes: fc.array(change, { maxLength: 3 }).map((all) => all.sort((a, b) => a.at - b.at)),
  });
  const step: fc.Arbitrary<IncidentStep> = fc.record({
    after: fc.integer({ min: 0, max: 10 * interval }),
    status: fc.constantFrom('investigating', 'identified', 'monitoring', 'resolved'),
    severity: fc.constantFrom('minor', 'major', 'critical'),
  });
  const spans = fc.array(
    fc
      .tuple(time, fc.integer({ min: 1, max: seconds }))
      .map(([from, lasts]) => [from, from + lasts] as const),
    { minLength: 1, maxLength: 2 },
  );
  const incident: fc.Arbitrary<Story['about']> = fc.record({
    kind: fc.constant('incident' as const),
    startedBefore: fc.oneof(fc.constant(null), fc.constantFrom(0, 5), length),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }).map((all) => all.sort((a, b) => a.after - b.after)),
    updates: fc.constantFrom('all', 'all', 'newest', 'none'),
    tellsEnd: fc.boolean(),
  });
  const maintenance: fc.Arbitrary<Story['about']> = fc
    .record({
      startsAt: time,
      lasts: fc.option(length, { freq: 5 }),
      states: fc.array(fc.record({ at: time, state: fc.constantFrom('planned', 'running', 'done') }), {
        maxLength: 2,
      }),
      tells: fc.boolean(),
    })
    .map(({ startsAt, lasts, states, tells }) => ({
      ...{ kind: 'maintenance' as const, startsAt, endsAt: lasts === null ? null : startsAt + lasts, tells },
      states: states.sort((a, b) => a.at - b.at),
    }));
  const component = fc.oneof(
    fc.constantFrom(null, 'web', 'api'),
    service.map((index) => `s${index}`),
  );
  const story: fc.Arbitrary<Story> = fc.record({
    page: fc.constantFrom(0, 1),
    component,
    listed: spans,
    about: fc.oneof(incident, maintenance),
  });
  return fc.record({
    works: some(work, 2),
    stories: some(story, 3),
    reads: some(fc.record({ page: fc.constantFrom(0, 1), at: time }), 12),
  });
}

/** What a page lists so many seconds after the beginning. */
export function listingOf(stories: readonly Story[], page: number, at: number): Listed[] {
  return stories.flatMap((story, index): Listed[] => {
    const span = story.listed.find(([from, until]) => at >= from && at < until);
    if (story.page !== page || span === undefined) return [];
    const { component, about } = story;
    const named = { key: `story-${index}`, component };
    if (about.kind === 'incident') return [{ ...named, ...listIncident(about, span[0], at) }];
    const { startsAt, endsAt, states, tells } = about;
    const past = states.filter((one) => one.at <= at);
    return [
      {
        ...named,
        kind: 'maintenance' as const,
        startsAt: startsAt * 1_000,
        endsAt: endsAt === null ? null : endsAt * 1_000,
        state: past.at(-1)?.state ?? 'planned',
        updates: tells
          ? past.map((one) => ({
              at: one.at * 1_000,
              status: one.state === 'done' ? ('resolved' as const) : ('identified' as const),
              text: one.state,
            }))
          : [],
      },
    ];
  });
}

function listIncident(about: Extract<Story['about'], { kind: 'incident' }>, from: number, at: number) {
  const { startedBefore, steps, updates, tellsEnd } = about;
  const past = steps.filter(({ after }) => from + after <= at);
  const { status, severity } = past.at(-1) ?? { status: 'investigating', severity: 'minor' };
  const ended = past.findLast((one) => one.status === 'resolved');
  const all = past.map(
    (one, index): ListedUpdate => ({
      ...{ at: (from + one.after) * 1_000, status: one.status, text: `step ${index}` },
    }),
  );
  return {
    ...{ kind: 'incident' as const, status, severity },
    startedAt: startedBefore === null ? null : (from - startedBefore) * 1_000,
    resolvedAt:
      status === 'resolved' && tellsEnd && ended !== undefined ? (from + ended.after) * 1_000 : null,
    updates: updates === 'all' ? all : updates === 'newest' ? all.slice(-1) : [],
  };
}
