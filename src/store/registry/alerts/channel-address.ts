/** The address of an e-mail channel, and the secret by which its receiver stops it: a digest, so nothing is stored for it. */
import { mailboxKey, readMailAddress } from '../../../domain/mail-address.ts';
import type { OpenRegistry } from '../../database/registry-calls.ts';
import type { Row } from '../../database/schema.ts';

/** The secret of the link by which the receiver of a channel stops it; null: the channel has no address. */
export async function stopSecretOf(
  registry: OpenRegistry,
  { id, kind, settings }: Pick<Row<'channels'>, 'id' | 'kind' | 'settings'>,
): Promise<string | null> {
  const address = kind === 'email' ? readMailAddress(await readChannelAddress(registry, settings)) : null;
  return address === null
    ? null
    : `${id}.${await registry.secrets.digest(`stop channel ${id} ${mailboxKey(address)}`)}`;
}

/** The address of an e-mail channel from its encrypted settings. */
export async function readChannelAddress({ secrets }: OpenRegistry, settings: string): Promise<string> {
  const { to } = JSON.parse((await secrets.box()).open(settings)) as { readonly to?: unknown };
  return typeof to === 'string' ? to : '';
}
