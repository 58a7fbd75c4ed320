/** Encrypts the credentials among the settings of checks before they are stored. */
import type { CheckDefinition, CheckSettings } from '../domain/service.ts';
import { destinationOf } from '../kinds/settings.ts';
import type { CredentialStore } from '../store/ports/credentials.ts';

/** A check of a domain with new credentials in clear text; undefined: there are none. */
export interface OpenCheck {
  readonly domain: string;
  readonly check: CheckDefinition;
  readonly secrets: CheckSettings | undefined;
}

/** The checks with their credentials encrypted, in the order of the input. Credentials that are stored already stay. */
export async function sealSettings(
  registry: CredentialStore,
  checks: readonly OpenCheck[],
): Promise<CheckDefinition[]> {
  const credentials = checks.flatMap(({ domain, check, secrets = {} }, index) =>
    Object.entries(secrets).map(([setting, value]) => ({
      index,
      setting,
      place: { domain, kind: check.kind, destination: destinationOf(check), setting },
      text: JSON.stringify(value),
    })),
  );
  if (credentials.length === 0) return checks.map(({ check }) => check);
  const texts = await registry.sealCredentials(credentials.map(({ place, text }) => ({ place, text })));
  return checks.map(({ check }, index) => {
    const own = credentials.flatMap((credential, at) =>
      credential.index === index ? [[credential.setting, texts[at] ?? ''] as const] : [],
    );
    return own.length === 0 ? check : { ...check, sealed: { ...check.sealed, ...Object.fromEntries(own) } };
  });
}
