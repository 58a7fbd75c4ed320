/** The destinations that owners may name, as far as they are known before anything connects to them. */
import type { SettingProblem } from './input-problem.ts';

/** The rules for what owners name. */
export interface AllowedDestinations {
  /** Ports to which checks of owners' services may connect (`checks.ports`); null: any. */
  readonly ports: readonly number[] | null;
  /** True if the account is trusted: it may name addresses, single labels and private suffixes too, and needs no proof of a host. */
  readonly anyHost: boolean;
  /**
   * Why nothing connects to a host, which is an address in any notation or a name; null: it may be connected to, as far as its
   * text tells. The addresses of a name are judged when they are connected to.
   */
  readonly refuseHost: (host: string) => SettingProblem | null;
}

/** The rules for an account, as they are now. */
export type DestinationsOf = (accountId: number) => Promise<AllowedDestinations>;

/** Everything is allowed at public names. */
export const ANY_DESTINATION: AllowedDestinations = { ports: null, anyHost: false, refuseHost: () => null };

/** Why nothing connects to the host of a URL; null as {@link AllowedDestinations.refuseHost}, and for a text that is no URL. */
export function refuseUrl({ refuseHost }: AllowedDestinations, url: string): SettingProblem | null {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  return host === '' ? null : refuseHost(host);
}
