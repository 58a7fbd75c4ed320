/** The operator as the principal of changes, and refusals as errors of commands. */

import { describeRefusal, type Refusal } from '../domain/refusal.ts';
import type { Outcome, Principal } from '../resources/kit/change.ts';
import { CommandError, UsageError } from './command.ts';

/** The operator, who may change what belongs to any account. */
export const OPERATOR = { role: 'operator', accountId: null } as const satisfies Principal;

/** Refusals of arguments that are invalid for every account. */
const WRONG_ARGUMENTS: ReadonlySet<Refusal['code']> = new Set<Refusal['code']>([
  'key_name_missing',
  'service_name_missing',
  'name_invalid',
  'lifetime_invalid',
  'scopes_invalid',
  'category_invalid',
  'kind_invalid',
  'kind_unavailable',
  'duration_invalid',
  'schedule_invalid',
  'timezone_invalid',
  'setting_invalid',
  'accept_invalid',
  'channel_name_missing',
  'member_invalid',
  'subject_missing',
  'maintenance_past',
  'maintenance_length',
  'recurrence_invalid',
  'page_slug_invalid',
  'page_slug_reserved',
  'page_title_missing',
  'page_colour_invalid',
  'page_domain_of_site',
  'page_domain_public',
  'page_text_too_long',
  'page_text_character',
  'page_entry_unnamed',
  'page_has_service',
  'page_services_full',
  'page_groups_full',
  'page_password_missing',
  'page_password_unused',
  'password_length',
  'password_weak',
]);

/** Advice to the operator about a refusal. */
const HINTS: { readonly [Code in Refusal['code']]?: string } = {
  no_account: '"upbeat accounts list" shows all; "upbeat keys create" and "upbeat services add" make one.',
  no_key: '"upbeat keys list" shows their numbers.',
  no_maintenance: '"upbeat maintenances list" shows them.',
  no_incident: '"upbeat incidents list" shows them.',
  no_page: '"upbeat pages list" shows them.',
  no_page_service: '"upbeat services list" shows the services.',
  no_owned_service: "A service of the catalogue is changed in the catalogue's file.",
};

/**
 * The result of a change. Throws {@link UsageError} if arguments are wrong, and {@link CommandError} for other refusals. `advice`: in place of
 * the usual one; null: the usual one.
 */
export function resultOf<T>(outcome: Outcome<T>, advice: string | null = null): T {
  if (outcome.ok) return outcome.value;
  const refusals = outcome.refusals.map(({ refusal }) => refusal);
  const text = refusals.map((refusal) =>
    [describeRefusal(refusal), advice ?? HINTS[refusal.code] ?? []].flat().join(' '),
  );
  const isUsage = refusals.every(({ code }) => WRONG_ARGUMENTS.has(code));
  throw new (isUsage ? UsageError : CommandError)(text.join(' '));
}
