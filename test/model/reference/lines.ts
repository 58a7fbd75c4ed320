/**
 * The reference implementation of alerts: what a change makes of what one channel knows. "A" is the section "Which alerts are sent, and
 * when" of docs/alerts.md. Times are epoch milliseconds.
 */
import type { DefinedRule } from '../diary.ts';
import { letsOutAt } from './quiet.ts';
import { forget, type Line, passWords, steadyAt, type Topic, turnLine } from './topics.ts';

/** Makes the rules. `ruleOf`: null for one that is switched off; `isHeld`: whether maintenance holds what is said of a topic. */
export function createLineRules(
  ruleOf: (id: number) => DefinedRule | null,
  isHeld: (topic: Topic) => boolean,
) {
  /** The first of the rules that lets it out; rules that are gone hold nothing. */
  const outAt = (topic: Topic, line: Line, at: number): number => {
    const known = line.rules.map(ruleOf).filter((rule) => rule !== null);
    const words = passWords(topic, line);
    return known.length === 0 ? at : Math.min(...known.map((rule) => letsOutAt(rule, words, at)));
  };

  function changeLine(
    topic: Topic,
    line: Line,
    found: number,
    happenedAt: number,
    at: number,
    askers: readonly DefinedRule[],
  ): void {
    const from = line.level;
    // What no rule of the channel asks for is no news, but it may be the end of what one asks for.
    if (askers.length === 0 && found >= from) return;
    const level = askers.length > 0 ? found : 0;
    const asked = askers.map(({ id }) => id);
    line.rules = from === 0 && line.thread === null ? asked : [...new Set([...line.rules, ...asked])];
    if (from === 0) line.beganAt = happenedAt;
    line.level = level;
    line.since = happenedAt;
    const held = isHeld(topic);
    // A: "an outage that is over sooner is not told. Without it, one that is over within the 30 seconds is told once".
    if (level === 0)
      line.wishes = line.wishes.filter((wish) => !wish.waits && wish.at !== null && wish.at <= at);
    else if (line.thread === null) wish(topic, line, askers, happenedAt, at, held);
    const isReady = askers.some(({ afterMs }) => happenedAt + afterMs <= at);
    count(topic, line, from, isReady, at, held);
    if (line.flaps !== 'no' || line.thread === null) return;
    if (level === 0 && !line.tellsEnd) {
      forget(line);
      return;
    }
    line.changeAt = held ? null : outAt(topic, line, at);
    line.waits = held;
  }

  function wish(
    topic: Topic,
    line: Line,
    askers: readonly DefinedRule[],
    happenedAt: number,
    at: number,
    held: boolean,
  ): void {
    const wishes = new Map(line.wishes.map((one) => [one.rule, one]));
    for (const rule of askers) {
      const ready = Math.max(at, happenedAt + rule.afterMs);
      const out = held ? null : letsOutAt(rule, topic.words, ready);
      const known = wishes.get(rule.id);
      // A: "What gets worse breaks through if `except` names the worse event."
      if (known === undefined || (out !== null && out < (known.at ?? 0)))
        wishes.set(rule.id, { rule: rule.id, at: out, waits: out !== ready });
    }
    line.wishes = [...wishes.values()];
  }

  /** Counts a change towards flapping if a message is sent of it, or only quiet hours hold that message back. */
  function count(topic: Topic, line: Line, from: number, isReady: boolean, at: number, held: boolean): void {
    if (topic.kind !== 'status' || line.level === from || held) return;
    const counts =
      line.flaps !== 'no' || (line.level === 0 ? line.isCounted : line.thread !== null || isReady);
    line.isCounted = line.level > 0 && (counts || line.isCounted);
    if (counts) turn(topic, line, at);
  }

  function turn(topic: Topic, line: Line, at: number): void {
    if (turnLine(line, at)) line.changeAt = outAt(topic, line, at);
  }

  function hold(line: Line): void {
    if (line.thread !== null || line.flaps !== 'no') return;
    line.wishes = line.wishes.map(({ rule }) => ({ rule, at: null, waits: true }));
    if (line.isCounted) line.turns = line.turns.slice(0, -1);
    line.isCounted = false;
  }

  function release(topic: Topic, line: Line, at: number): void {
    line.wishes = line.wishes.map((one) => {
      const rule = ruleOf(one.rule);
      if (one.at !== null || rule === null) return one;
      const ready = Math.max(at, line.since + rule.afterMs);
      const out = letsOutAt(rule, passWords(topic, line), ready);
      return { ...one, at: out, waits: out !== ready };
    });
    if (!line.waits) return;
    line.waits = false;
    line.changeAt = outAt(topic, line, at);
  }

  /** A: "until it has been steady for 30 minutes; then one message says whether it is up or down." */
  function calm(topic: Topic, line: Line, at: number): void {
    if (steadyAt(line) > at) return;
    line.changeAt = outAt(topic, line, at);
    line.flaps = line.flaps === 'told' ? 'over' : 'no';
    line.turns = [];
    line.wishes = [];
    const out = line.changeAt;
    if (line.thread === null && line.level > 0)
      line.wishes = line.rules.map((rule) => ({ rule, at: out, waits: out > at }));
  }

  /**
   * A: "What waits for an alert ... goes on to wait for as long as was left". `byMs`: by how much; `at`: the time by the clock as
   * it is.
   */
  function moveBack(topic: Topic, line: Line, byMs: number, at: number): void {
    for (const time of ['beganAt', 'since', 'toldSince'] as const) line[time] -= byMs;
    line.turns = line.turns.map((time) => time - byMs);
    line.wishes = line.wishes.map((one) => {
      if (one.at === null) return one;
      const moved = one.at - byMs;
      const rule = ruleOf(one.rule);
      if (!one.waits || rule === null) return { ...one, at: moved };
      // A: "Quiet hours follow the clock on the wall".
      const ready = Math.min(moved, Math.max(at, line.since + rule.afterMs));
      const out = letsOutAt(rule, topic.words, ready);
      return { ...one, at: out, waits: out !== ready };
    });
    if (line.changeAt !== null) line.changeAt = outAt(topic, line, Math.min(at, line.changeAt - byMs));
  }

  return { changeLine, turn, hold, release, calm, moveBack };
}
