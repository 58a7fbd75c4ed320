/** The bounds of what a service chooses about its checks, and refusals of times and regions. */
import type { CheckChoice, CheckTiming } from '../../domain/check-timing.ts';
import {
  type MemberLimits,
  operatorLimits,
  ownerLimits,
  type WrongMember,
} from '../../kinds/check-members.ts';
import { accept, type Outcome, type Principal } from '../kit/change.ts';

/** What bounds the times and regions of checks of owners' services. */
export interface CheckBounds {
  /** The settings `checks.*`, which count for times that a check does not have. */
  readonly usual: CheckTiming;
  /** Minimum interval that an owner may choose, milliseconds (`limits.minInterval`). */
  readonly minIntervalMs: number;
  /** The regions that have nodes now, by name; owners may choose among them. */
  readonly regions: () => readonly string[];
}

/** The bounds for a principal. */
export function limitsFor({ role }: Principal, { usual, minIntervalMs, regions }: CheckBounds): MemberLimits {
  return role === 'operator' ? operatorLimits(usual) : ownerLimits(usual, minIntervalMs, regions());
}

/** The members, or the refusal of each wrong one under its name. */
export function membersOutcome(choice: CheckChoice, wrong: readonly WrongMember[]): Outcome<CheckChoice> {
  if (wrong.length === 0) return accept(choice);
  const refusals = wrong.map(({ member, problem }) => ({
    field: member,
    refusal: { code: 'check_member_invalid', member, problem } as const,
  }));
  return { ok: false, refusals };
}
