/** `upbeat services set`: changes an owner's service. */
import { type EditReading, readServiceEdit } from '../app/edit-service.ts';
import { CATEGORIES } from '../domain/category.ts';
import { describeGivenTextProblem } from '../domain/refusal-text.ts';
import { type CheckKind, DEFAULT_CHECK, type Service } from '../domain/service.ts';
import type { ServiceEdit } from '../store/ports/services.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printNote } from './output.ts';

/** The options of the command; what is absent stays as it is. */
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

/** Changes an account's service. */
export async function setService(
  slug: string,
  { config, ...options }: CommonOptions & SetOptions,
): Promise<void> {
  if (Object.values(options).every((value) => value === undefined))
    throw new UsageError('name what is to change: --name, --category, --kind, --period, --grace, --paused …');
  // An option that is not valid for any service is wrong usage, whether the service exists or not.
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

/** The change that options describe. Throws {@link UsageError} for an option that is not valid. */
export function editOf({ check }: Pick<Service, 'check'>, options: SetOptions): ServiceEdit {
  const { period, grace, ...rest } = options;
  const reading = readServiceEdit(check, { ...rest, period: lengthOf(period), grace: lengthOf(grace) });
  if (reading.ok) return reading.edit;
  throw new UsageError(describeProblem(reading, options));
}

/** A length of time as {@link readServiceEdit} takes it. */
function lengthOf(text: string | undefined): string | null | undefined {
  return text === 'default' ? null : text;
}

function describeProblem(reading: Extract<EditReading, { ok: false }>, options: SetOptions): string {
  switch (reading.field) {
    case 'name':
      return `the name ${describeGivenTextProblem(reading.problem)}`;
    case 'category':
      return `unknown category "${options.category}"; there are ${CATEGORIES.join(', ')}`;
    case 'kind':
      return `unknown kind "${options.kind}"; there are root, health and heartbeat`;
    default:
      return `--${reading.field} must be a duration such as 90s or 1h, at most 365d, or "default"`;
  }
}
