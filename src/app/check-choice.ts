/** Reads what a service chooses about its checks beside their kind: times, regions, and the method of a root check. */
import type { CheckChoice, CheckTiming } from '../domain/check-timing.ts';
import type { CheckDefinition } from '../domain/service.ts';
import {
  type CheckMembers,
  changeMembers,
  type MemberLimits,
  type MemberTexts,
  operatorLimits,
  ownerLimits,
  parseMembers,
  refuseMembers,
  type WrongMember,
} from '../kinds/check-members.ts';
import { accept, type Outcome, type Principal, refuse } from './change.ts';

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

/** Reads times and regions in a document that its schema has accepted; those of `before` may stay. Refused with `check_member_invalid`. */
export function readMembers(
  members: CheckMembers,
  limits: MemberLimits,
  before?: CheckDefinition,
): Outcome<CheckChoice> {
  const choice = parseMembers(members);
  return membersOutcome(choice, refuseMembers(choice, limits, before));
}

/** Reads times and regions of a check as texts. Refused with `check_member_invalid`. */
export function readMemberTexts(
  before: CheckDefinition,
  texts: MemberTexts,
  limits: MemberLimits,
): Outcome<CheckChoice> {
  const { choice, wrong } = changeMembers(before, texts);
  return membersOutcome(choice, [...wrong, ...refuseMembers(choice, limits, before)]);
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

/** Reads the method of a root check. Refused with `method_invalid` or `method_of_root`. */
export function readMethod(
  text: string | null | undefined,
  kind: string,
  before: CheckDefinition['method'],
): Outcome<CheckDefinition['method']> {
  if (text === undefined) return accept(before);
  if (text === null || text === '') return accept(null);
  if (kind !== 'root') return refuse({ code: 'method_of_root' });
  return text === 'HEAD' || text === 'GET' ? accept(text) : refuse({ code: 'method_invalid' });
}
