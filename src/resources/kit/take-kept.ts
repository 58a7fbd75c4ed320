/** Secrets that stay as they are stored: those for which a whole document has null. */
import { accept, type Outcome, type Refused } from './change.ts';
import { isObject } from './merge-patch.ts';

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
  if (missing.length > 0) return refuseSecrets(missing, 'secret_missing', 'settings');
  const rest = Object.entries(settings).filter(([name]) => !kept.includes(name));
  return accept({ document: { ...document, settings: Object.fromEntries(rest) }, kept });
}

/** Refuses secrets, whose settings are at that path. */
export function refuseSecrets(
  names: readonly string[],
  code: 'secret_missing' | 'secret_again',
  path: string,
): Refused {
  const refusals = names.map((setting) => ({
    field: `${path}.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem: { code } } as const,
  }));
  return { ok: false, refusals };
}
