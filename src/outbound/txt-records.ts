/** TXT records of a name, for proofs of control over a domain. */
import { Resolver } from 'node:dns/promises';

/** How the question is asked. */
export interface TxtSettings {
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  readonly timeoutMs: number;
}

const TRIES = 2;

/** Every TXT record of the name, its parts joined; none where the name has none or nobody answers. Never rejects. */
export async function readTxtRecords(
  name: string,
  { nameservers, timeoutMs }: TxtSettings,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: timeoutMs / TRIES, tries: TRIES });
  if (nameservers.length > 0) resolver.setServers(nameservers);
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
  } catch {
    return [];
  }
}
