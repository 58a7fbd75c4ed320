/** What is wrong with the settings of checks, which each alone may have these values. Pure. */
import ipaddr from 'ipaddr.js';
import { DAY_MS, formatDuration } from '../domain/durations.ts';
import type { SchemaProblem } from './describe-errors.ts';

/** The settings that matter, of `checks` and of `limits`. */
interface CheckSettings {
  readonly checks: {
    readonly ports: readonly number[];
    readonly allowPrivate: readonly string[];
    readonly confirmAfterMs: readonly number[];
  };
  readonly limits: { readonly minIntervalMs: number };
}

/** Later a failure is not confirmed any more, milliseconds. */
const MAX_CONFIRM_MS = 3_600_000;

/** Finds settings with which checks cannot work, or mean something else than they say. */
export function findCheckProblems({ checks, limits }: CheckSettings): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  if (checks.ports.length === 0)
    problems.push({
      parts: ['checks', 'ports'],
      message: 'is empty, so that nothing could be checked: the defaults are 80 and 443',
    });
  checks.allowPrivate.forEach((block, index) => {
    if (!isPrivateBlock(block))
      problems.push({
        parts: ['checks', 'allowPrivate', String(index)],
        message: `${block} has public addresses, which need no permission: name the private blocks, such as 10.0.0.0/8`,
      });
  });
  const confirmMs = checks.confirmAfterMs.reduce((sum, ms) => sum + ms, 0);
  if (confirmMs > MAX_CONFIRM_MS)
    problems.push({
      parts: ['checks', 'confirmAfter'],
      message: `adds up to ${formatDuration(confirmMs)}, in which an outage stays unreported: at most ${formatDuration(MAX_CONFIRM_MS)}`,
    });
  if (limits.minIntervalMs > DAY_MS)
    problems.push({
      parts: ['limits', 'minInterval'],
      message: 'must not be longer than 24h, the longest interval of a service',
    });
  return problems;
}

/** Whether a canonical block has no address of the public Internet. */
function isPrivateBlock(block: string): boolean {
  const [first] = ipaddr.parseCIDR(block);
  const last =
    first instanceof ipaddr.IPv4
      ? ipaddr.IPv4.broadcastAddressFromCIDR(block)
      : ipaddr.IPv6.broadcastAddressFromCIDR(block);
  return first.range() !== 'unicast' && first.range() === last.range();
}
