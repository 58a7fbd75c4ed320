/** Records of a name beside a connection to it: for proofs of control over a domain, and for where it leads. */
import { Resolver } from 'node:dns/promises';

/** How the question is asked. */
export interface NameQuestionSettings {
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  readonly timeoutMs: number;
}

const TRIES = 2;

/** Every TXT record of the name, its parts joined; none where the name has none or nobody answers. Never rejects. */
export async function readTxtRecords(name: string, settings: NameQuestionSettings): Promise<string[]> {
  try {
    return (await openResolver(settings).resolveTxt(name)).map((parts) => parts.join(''));
  } catch {
    return [];
  }
}

/** Every address of the name, of both families; none where it has none or nobody answers. Never rejects. */
export async function readAddresses(name: string, settings: NameQuestionSettings): Promise<string[]> {
  const resolver = openResolver(settings);
  const none = () => [];
  const found = await Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)]);
  return found.flat();
}

function openResolver({ nameservers, timeoutMs }: NameQuestionSettings): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs / TRIES, tries: TRIES });
  if (nameservers.length > 0) resolver.setServers(nameservers);
  return resolver;
}
