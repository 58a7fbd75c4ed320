/** Refusals of changes as errors of the API: the status and code of each, and what is wrong with each field. */

import { describeRefusal, type Refusal } from '../../domain/refusal.ts';
import { HttpError, type ProblemCode } from '../../http/problem.ts';
import type { Outcome, Refused } from './change.ts';

/** Codes of errors by those of refusals. All others concern the body. */
const PROBLEM_OF: { readonly [Code in Refusal['code']]?: ProblemCode } = {
  no_owned_service: 'service_not_found',
  no_service: 'service_not_found',
  catalogue_service: 'service_not_found',
  no_page: 'page_not_found',
  no_incident: 'incident_not_found',
  no_maintenance: 'maintenance_not_found',
  no_key: 'key_not_found',
  no_webhook: 'webhook_not_found',
  no_channel: 'channel_not_found',
  no_rule: 'rule_not_found',
  no_message: 'message_not_found',
  no_alert: 'alert_not_found',
  foreign_domain: 'forbidden_domain',
  catalogue_domain: 'forbidden_domain',
  too_many_domains: 'domain_limit',
  too_many_registrations: 'domain_limit',
  too_many_keys: 'account_limit',
  too_many_pages: 'account_limit',
  too_many_incidents: 'account_limit',
  too_many_maintenances: 'account_limit',
  too_many_updates: 'account_limit',
  too_much_text: 'account_limit',
  incident_too_large: 'account_limit',
  no_running_maintenance: 'conflict',
  no_next_maintenance: 'conflict',
  too_many_webhooks: 'account_limit',
  too_many_channels: 'account_limit',
  too_many_rules: 'account_limit',
  scope_beyond_key: 'insufficient_scope',
  domain_taken: 'conflict',
  slug_taken: 'conflict',
  page_slug_taken: 'conflict',
  channel_name_taken: 'conflict',
  rule_name_taken: 'conflict',
  channel_unconfirmed: 'conflict',
  page_slug_of_service: 'conflict',
  shared_address: 'conflict',
  proof_missing: 'domain_unverified',
  no_page_domain: 'conflict',
  idempotency_mismatch: 'idempotency_mismatch',
  service_stale: 'precondition_failed',
  page_stale: 'precondition_failed',
  channel_stale: 'precondition_failed',
  rule_stale: 'precondition_failed',
  incident_stale: 'precondition_failed',
  maintenance_stale: 'precondition_failed',
};

/** The value of a change. Throws the error of a refused one; `members`: further members of its body. */
export function resultOf<T>(outcome: Outcome<T>, members: Readonly<Record<string, unknown>> = {}): T {
  if (outcome.ok) return outcome.value;
  throw refusedError(outcome, members);
}

/** The error of a refused change. */
export function refusedError(
  { refusals }: Refused,
  members: Readonly<Record<string, unknown>> = {},
): HttpError {
  const errors = refusals.map(({ field, refusal }) => ({
    field,
    code: refusal.code,
    message: describeRefusal(refusal),
  }));
  const codes = refusals.map(({ refusal }) => PROBLEM_OF[refusal.code] ?? 'invalid_body');
  // What is wrong with the body is put right first.
  const code = codes.includes('invalid_body') ? 'invalid_body' : (codes[0] ?? 'invalid_body');
  const [first] = refusals;
  const scope = first?.refusal.code === 'scope_beyond_key' ? { scope: first.refusal.scope } : {};
  return new HttpError(code, errors.map(({ message }) => message).join(' '), {
    errors,
    ...scope,
    ...members,
  });
}
