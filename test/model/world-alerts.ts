/** Who is told what in random worlds: rules of the account, when they are switched, and when somebody acknowledges an alert. */
import fc from 'fast-check';

/** The words of rules, as docs/alerts.md lists them; worlds have no certificates, and heartbeats of whole runs are not sent. */
export const RULE_WORDS = [
  'down',
  'up',
  'slow',
  'incident',
  'incident_update',
  'vendor_incident',
  'maintenance',
  'heartbeat_missed',
  'scope',
] as const;
export type RuleWord = (typeof RULE_WORDS)[number];

/** Quiet hours: times of the day in minutes. */
export interface QuietScript {
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
  readonly except: readonly RuleWord[];
}

/**
 * A rule. `of`: all services of the account, those of a category that all have or that none has, or public ones of theirs, of which
 * there are none; or some services by their index. Times are seconds.
 */
export interface RuleScript {
  readonly of: 'own' | 'category' | 'other-category' | 'public-category' | readonly number[];
  readonly events: readonly RuleWord[];
  /** Numbers of channels, from 1. */
  readonly channels: readonly number[];
  readonly after: number;
  readonly repeat: number | null;
  readonly quiet: QuietScript | null;
}

/** Who is told what in a world. Beside these rules there is one that tells channel 1 of what goes down and comes back. */
export interface AlertScript {
  readonly rules: readonly RuleScript[];
  /** A rule, by its index, is switched off, or on again. */
  readonly switches: readonly { readonly at: number; readonly rule: number }[];
  /** Somebody takes an alert: of those that are open, one by its number. */
  readonly takes: readonly { readonly at: number; readonly nth: number }[];
}

/** Channels of worlds, of these kinds; their IDs are 1, 2 and 3. */
export const CHANNELS = ['slack', 'ntfy', 'mattermost'] as const;

/** The channel whose messages stand alone. */
export const THREADLESS = 2;

/** Worlds begin at 23:55 UTC. */
const AT = (hour: number, minute: number) => hour * 60 + minute;
const QUIET: readonly Omit<QuietScript, 'except'>[] = [
  { from: AT(23, 50), to: AT(23, 58), timeZone: 'UTC' },
  { from: AT(23, 57), to: AT(0, 0), timeZone: 'UTC' },
  { from: AT(23, 57), to: AT(23, 57), timeZone: 'UTC' },
  { from: AT(0, 56), to: AT(0, 58), timeZone: 'Europe/Berlin' },
  { from: AT(18, 58), to: AT(18, 57), timeZone: 'America/New_York' },
];

/** Quiet hours of worlds of many days. */
const NIGHTS: readonly Omit<QuietScript, 'except'>[] = [
  { from: AT(22, 0), to: AT(7, 0), timeZone: 'Europe/Berlin' },
  { from: AT(9, 0), to: AT(17, 30), timeZone: 'America/New_York' },
];

/** The part of a world that its alerts are made for. */
export interface AlertSetting {
  /** Its length. */
  readonly seconds: number;
  readonly services: number;
  /** Null: a world of minutes. Otherwise alerts are waited for and repeated so much slower, by night and by day, and there are more of them. */
  readonly slower: number | null;
}

/** Random alerts. */
export function alertScripts({ seconds, services, slower }: AlertSetting): fc.Arbitrary<AlertScript> {
  const pace = slower ?? 1;
  const most = slower === null ? 1 : 5;
  const time = fc.integer({ min: 0, max: seconds - 1 });
  const service = fc.nat({ max: services - 1 });
  const words = fc.oneof(
    fc.constantFrom<readonly RuleWord[]>(['down', 'up'], ['down', 'slow', 'up'], ['up'], RULE_WORDS),
    fc.uniqueArray(fc.constantFrom(...RULE_WORDS), { minLength: 1, maxLength: 4 }),
  );
  const quiet = fc
    .record({
      hours: fc.constantFrom(...(slower === null ? QUIET : NIGHTS)),
      except: fc.constantFrom<readonly RuleWord[]>([], [], ['down'], ['up'], ['slow', 'scope']),
    })
    .map(({ hours, except }): QuietScript => ({ ...hours, except }));
  const rule: fc.Arbitrary<RuleScript> = fc.record({
    of: fc.oneof(
      fc.constantFrom('own' as const, 'own' as const, 'category' as const),
      fc.constantFrom('own' as const, 'other-category' as const, 'public-category' as const),
      fc.uniqueArray(service, { minLength: 1 }),
    ),
    events: words,
    channels: fc.uniqueArray(fc.integer({ min: 1, max: CHANNELS.length }), { minLength: 1 }),
    after: fc.constantFrom(0, 0, 20, 45, 120).map((each) => each * pace),
    repeat: fc.constantFrom(null, 60, 100).map((each) => each && each * pace),
    quiet: fc.option(quiet, { freq: 2 }),
  });
  return fc.record({
    rules: fc.array(rule, { minLength: slower === null ? 0 : 2, maxLength: 4 }),
    switches: fc
      .array(fc.record({ at: time, rule: fc.nat({ max: 3 }) }), { maxLength: 2 * most })
      .map((all) => all.sort((a, b) => a.at - b.at)),
    takes: fc
      .array(fc.record({ at: time, nth: fc.nat({ max: 2 }) }), { maxLength: 4 * most })
      .map((all) => all.sort((a, b) => a.at - b.at)),
  });
}
