/** Encrypts the credentials among the settings of checks before they are stored. */
import type { CheckDefinition, CheckSettings } from '../../domain/service.ts';
import { destinationOf } from '../../kinds/settings.ts';
import type { CredentialStore } from '../../store/ports/services.ts';

/** A check of a domain with new credentials in clear text; undefined: there are none. */
export interface OpenCheck {
  readonly domain: string;
  readonly check: CheckDefinition;
  readonly secrets?: CheckSettings | undefined;
}

/** Which credentials of a check are new, and the sealed texts of those that are stored already. */
export interface ComparedCheck {
  readonly fresh: CheckSettings;
  readonly kept: Readonly<Record<string, string>>;
}

/**
 * Compares the credentials of checks with those of `before`, the stored ones. The result is in the order of the input.
 */
export async function compareSecrets(
  registry: CredentialStore,
  checks: readonly (OpenCheck & { readonly before: CheckDefinition | undefined })[],
): Promise<ComparedCheck[]> {
  const stored = credentialsOf(checks).flatMap((credential) => {
    const sealed = checks[credential.index]?.before?.sealed?.[credential.setting];
    return sealed === undefined ? [] : [{ ...credential, sealed }];
  });
  const matches =
    stored.length === 0
      ? []
      : await registry.matchCredentials(stored.map(({ place, text, sealed }) => ({ place, text, sealed })));
  const same = stored.filter((_, index) => matches[index] === true);
  return checks.map(({ secrets = {} }, index) => {
    const kept = same.filter((one) => one.index === index).map(({ setting, sealed }) => [setting, sealed]);
    const known: Record<string, string> = Object.fromEntries(kept);
    const fresh = Object.entries(secrets).filter(([setting]) => !(setting in known));
    return { kept: known, fresh: Object.fromEntries(fresh) };
  });
}

function credentialsOf(checks: readonly OpenCheck[]) {
  return checks.flatMap(({ domain, check, secrets = {} }, index) =>
    Object.entries(secrets).map(([setting, value]) => ({
      index,
      setting,
      place: { domain, kind: check.kind, destination: destinationOf(check), setting },
      text: JSON.stringify(value),
    })),
  );
}

/** The checks with their credentials encrypted, in the order of the input. Credentials that are stored already stay. */
export async function sealSettings(
  registry: CredentialStore,
  checks: readonly OpenCheck[],
): Promise<CheckDefinition[]> {
  const credentials = credentialsOf(checks);
  if (credentials.length === 0) return checks.map(({ check }) => check);
  const texts = await registry.sealCredentials(credentials.map(({ place, text }) => ({ place, text })));
  return checks.map(({ check }, index) => {
    const own = credentials.flatMap((credential, at) =>
      credential.index === index ? [[credential.setting, texts[at] ?? ''] as const] : [],
    );
    return own.length === 0 ? check : { ...check, sealed: { ...check.sealed, ...Object.fromEntries(own) } };
  });
}
