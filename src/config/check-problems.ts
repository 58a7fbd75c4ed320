/** Problems of settings of checks that are each valid alone. Pure. */
import ipaddr from 'ipaddr.js';
import { isPrivateRange, PRIVATE_RANGES } from '../domain/address/private-ranges.ts';
import { metadataPurposeOf, readAddress } from '../domain/address/special-address.ts';
import { DAY_MS, formatDuration } from '../domain/durations.ts';
import type { SchemaProblem } from './describe-errors.ts';

/** The settings that matter, of `checks` and of `limits`. */
interface CheckSettings {
  readonly checks: {
    readonly ports: readonly number[];
    readonly allowPrivate: readonly string[];
    readonly trustedPrivate: readonly string[];
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
  const judge = (name: 'allowPrivate' | 'trustedPrivate', find: (block: string) => string | null) =>
    checks[name].forEach((block, index) => {
      const problem = find(block);
      if (problem !== null)
        problems.push({ parts: ['checks', name, String(index)], message: `${block} ${problem}` });
    });
  judge('allowPrivate', findBlockProblem);
  judge('trustedPrivate', (range) => (isPrivateRange(range) ? null : findRangeProblem(range)));
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

/** Why a canonical block cannot be opened; null: it can. */
function findBlockProblem(block: string): string | null {
  const [address = '', bits] = block.split('/');
  const found = bits === '32' || bits === '128' ? readAddress(address) : null;
  if (found !== null && metadataPurposeOf(found) !== null)
    return 'is an address at which clouds hand out secrets, which is never connected to';
  return isPrivateBlock(block)
    ? null
    : 'has public addresses, which need no permission: name the private blocks, such as 10.0.0.0/8';
}

/** Why a canonical block is no part of a private network; null: it is one. */
function findRangeProblem(block: string): string | null {
  const networks: readonly string[] = Object.values(PRIVATE_RANGES).flat();
  if (networks.some((network) => isWithin(block, network))) return findBlockProblem(block);
  return findBlockProblem(block) ?? `is no network of hosts: name a part of ${networks.join(', ')}`;
}

function isWithin(block: string, range: string): boolean {
  const [[first, bits], [base, baseBits]] = [ipaddr.parseCIDR(block), ipaddr.parseCIDR(range)];
  return first.kind() === base.kind() && bits >= baseBits && first.match(base, baseBits);
}

/** Returns true if a canonical block has no address of the public Internet. */
function isPrivateBlock(block: string): boolean {
  const [first] = ipaddr.parseCIDR(block);
  const last =
    first instanceof ipaddr.IPv4
      ? ipaddr.IPv4.broadcastAddressFromCIDR(block)
      : ipaddr.IPv6.broadcastAddressFromCIDR(block);
  return first.range() !== 'unicast' && first.range() === last.range();
}
