/** Secrets that stay as they are stored: those for which a document of `apply` has null, and those that a change does not name. */
import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import { type CheckDefinition, MONITORING_KINDS } from '../../domain/service.ts';
import type { MemberLimits } from '../../kinds/check-members.ts';
import { destinationOf, type SealedSettings, settingFields } from '../../kinds/settings.ts';
import { accept, type Outcome, type Refused, refuse } from '../kit/change.ts';
import { isObject } from '../kit/merge-patch.ts';
import { type ReadPage, readPageDocument } from '../pages/page-document.ts';
import type { Registration } from './register-services.ts';
import { readServiceDocument } from './service-document.ts';

/** A document without the secrets that are kept, and the names of their settings. */
interface KeptSecrets {
  readonly document: unknown;
  readonly kept: readonly string[];
}

/**
 * Takes secrets that are null out of the `settings` of a document. `secrets`: names of settings that are secret; `stored`: those that
 * have a value. Refused with `setting_invalid` if there is none to keep; the fields are paths such as `settings.token`.
 */
export function takeKept(
  document: unknown,
  secrets: readonly string[],
  stored: object = {},
): Outcome<KeptSecrets> {
  if (!isObject(document) || !isObject(document.settings)) return accept({ document, kept: [] });
  const { settings } = document;
  const kept = secrets.filter((name) => settings[name] === null);
  const missing = kept.filter((name) => !Object.hasOwn(stored, name));
  if (missing.length > 0) return refuseSettings(missing, 'secret_missing');
  const rest = Object.entries(settings).filter(([name]) => !kept.includes(name));
  return accept({ document: { ...document, settings: Object.fromEntries(rest) }, kept });
}

/** Refuses credentials of a check that stay and would be sent elsewhere; null: there are none. */
export function refuseMoved(
  before: CheckDefinition,
  after: CheckDefinition,
  kept: SealedSettings,
): Refused | null {
  const settings = Object.keys(kept);
  if (settings.length === 0 || destinationOf(before) === destinationOf(after)) return null;
  return inCheck(refuseSettings(settings, 'secret_again'));
}

/** Reads a service of a document, in which null stands for a credential that stays. Refused as {@link readServiceDocument}. */
export function readWantedService(
  document: unknown,
  destinations: AllowedDestinations,
  limits: MemberLimits,
  before: CheckDefinition | undefined,
): Outcome<Registration> {
  const { check: given }: { readonly check?: unknown } = Object(document);
  const { kind: wanted = 'root' }: { readonly kind?: unknown } = Object(given);
  const kind = MONITORING_KINDS.find((one) => one === wanted);
  if (kind === undefined) return readServiceDocument(document, destinations, limits);
  const names = settingFields(kind).flatMap(({ name, secret }) => (secret ? [name] : []));
  const stored: SealedSettings = (before?.kind === kind ? before.sealed : undefined) ?? {};
  const taken = takeKept(given, names, stored);
  if (!taken.ok) return inCheck(taken);
  const { document: check, kept } = taken.value;
  const rest = kept.length === 0 ? document : { ...Object(document), check };
  const reading = readServiceDocument(
    rest,
    destinations,
    limits,
    before === undefined ? {} : { before, kept },
  );
  if (!reading.ok || kept.length === 0 || before === undefined) return reading;
  const sealed = Object.fromEntries(kept.map((name) => [name, stored[name] ?? '']));
  const after = { ...reading.value.check, sealed };
  return refuseMoved(before, after, sealed) ?? accept({ ...reading.value, check: after });
}

/** Reads a page of a document, in which null stands for a password that stays. Refused as {@link readPageDocument}. */
export function readWantedPage(
  document: unknown,
  find: Parameters<typeof readPageDocument>[1],
): Outcome<ReadPage> {
  if (!isObject(document) || document.password !== null) return readPageDocument(document, find);
  const { password: _, ...rest } = document;
  const reading = readPageDocument(rest, find);
  if (!reading.ok || reading.value.access === 'password') return reading;
  return refuse({ code: 'page_password_unused' }, 'password');
}

/** Refusals of the settings of a check with their paths in the document of its service. */
function inCheck({ refusals }: Refused): Refused {
  return { ok: false, refusals: refusals.map((one) => ({ ...one, field: `check.${one.field}` })) };
}

function refuseSettings(names: readonly string[], code: 'secret_missing' | 'secret_again'): Refused {
  const refusals = names.map((setting) => ({
    field: `settings.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem: { code } } as const,
  }));
  return { ok: false, refusals };
}
