/** `upbeat services set`: what an owner may change of a service, without a browser. */
import { CATEGORIES, isCategory } from '../domain/category.ts';
import { parseDuration } from '../domain/durations.ts';
import { type CheckDefinition, type CheckKind, DEFAULT_CHECK, type Service } from '../domain/service.ts';
import type { ServiceEdit } from '../store/ports/services.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printNote } from './output.ts';
import { readName } from './services.ts';

/** What the command is told; what is absent stays. */
export interface SetOptions {
  readonly name?: string;
  readonly category?: string;
  readonly kind?: CheckKind;
  /** A duration such as `1h`, or `default`. */
  readonly period?: string;
  readonly grace?: string;
  readonly paused?: boolean;
  readonly publicDependencies?: boolean;
}

/** No service is expected to be silent for longer: a year. */
const MAX_PERIOD_MS = 365 * 86_400_000;

/** Changes an account's service. */
export async function setService(
  slug: string,
  { config, ...options }: CommonOptions & SetOptions,
): Promise<void> {
  if (Object.values(options).every((value) => value === undefined))
    throw new UsageError('name what is to change: --name, --category, --kind, --period, --grace, --paused …');
  // What no service could be given is wrong usage, whether there is such a service or not.
  editOf({ check: DEFAULT_CHECK }, options);
  await withRegistry(config, async (registry) => {
    const states = await registry.loadServices();
    const service = states.find((state) => state.service.slug === slug.toLowerCase())?.service;
    if (service === undefined || service.origin !== 'owner')
      throw new CommandError(
        `no account has a service "${slug}"; a catalogue service is changed in the catalogue's file`,
      );
    try {
      await registry.changeService(service.slug, editOf(service, options));
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      throw code === 'name_taken' ? new CommandError(message) : error;
    }
    printNote(`${service.slug} is changed`);
  });
}

/** The change that options describe. Throws {@link UsageError} for what they cannot mean. */
export function editOf(service: Pick<Service, 'check'>, options: SetOptions): ServiceEdit {
  const { name, category, kind, period, grace, paused, publicDependencies } = options;
  if (category !== undefined && !isCategory(category))
    throw new UsageError(`unknown category "${category}"; there are ${CATEGORIES.join(', ')}`);
  const check = checkOf(service.check, kind, period, grace);
  return {
    ...(name === undefined ? {} : { name: readName('the name', name) }),
    ...(category === undefined ? {} : { category }),
    ...(paused === undefined ? {} : { paused }),
    ...(publicDependencies === undefined ? {} : { publicDependencies }),
    ...(check === null ? {} : { check }),
  };
}

function checkOf(
  before: CheckDefinition,
  kind: CheckKind | undefined,
  period: string | undefined,
  grace: string | undefined,
): CheckDefinition | null {
  if (kind === undefined && period === undefined && grace === undefined) return null;
  const { periodMs, graceMs, ...rest } = before;
  const nextPeriodMs = lengthOf('--period', period, periodMs, 1_000);
  const nextGraceMs = lengthOf('--grace', grace, graceMs, 0);
  return {
    ...rest,
    kind: kind ?? rest.kind,
    ...(nextPeriodMs === undefined ? {} : { periodMs: nextPeriodMs }),
    ...(nextGraceMs === undefined ? {} : { graceMs: nextGraceMs }),
  };
}

function lengthOf(
  option: string,
  text: string | undefined,
  before: number | undefined,
  minMs: number,
): number | undefined {
  if (text === undefined) return before;
  if (text === 'default') return undefined;
  const ms = parseDuration(text);
  if (ms === null || ms < minMs || ms > MAX_PERIOD_MS)
    throw new UsageError(`${option} must be a duration such as 90s or 1h, at most 365d, or "default"`);
  return ms;
}
