/**
 * Signed addresses of the badges of private services, which show them to anyone with the address. A code proves that this installation
 * made the address for the account that has the service, since its last renewal, so nothing but the renewals is stored. The id of the
 * service beside it is masked: two addresses have nothing in common.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Service } from '../domain/service.ts';

export type BadgeAddresses = ReturnType<typeof createBadgeAddresses>;

const KEY_BYTES = 32;
const ID_BYTES = 6;
const CODE_BYTES = 24;
/** Base64url of both, without spare bits. */
const TOKEN = /^[A-Za-z0-9_-]{40}$/;

/** Creates the addresses of an installation from its key of secrets. `siteUrl` is without a slash at its end. */
export function createBadgeAddresses(secretKey: Uint8Array, siteUrl: string) {
  const keyOf = (use: string) => Buffer.from(hkdfSync('sha256', secretKey, '', use, KEY_BYTES));
  const [codeKey, maskKey] = [keyOf('upbeat badge addresses'), keyOf('upbeat badge addresses, masks')];
  const codeOf = (id: number, { accountId, badgeRenewals = 0 }: Partial<Service>) =>
    createHmac('sha256', codeKey)
      .update(`${id}.${accountId ?? 0}.${badgeRenewals}`)
      .digest()
      .subarray(0, CODE_BYTES);
  /** Masks the bytes of an id that stand before a code, or takes the mask off. */
  const mask = (id: Buffer, code: Buffer) => {
    const bytes = createHmac('sha256', maskKey).update(code).digest();
    return id.map((byte, index) => byte ^ (bytes[index] ?? 0));
  };
  return {
    /** The address of a service's badge, to which an ending may be added; null: it is not private, and needs none. */
    urlOf(service: Service): string | null {
      if (service.visibility !== 'private') return null;
      const id = Buffer.alloc(ID_BYTES);
      id.writeUIntBE(service.id, 0, ID_BYTES);
      const code = codeOf(service.id, service);
      return `${siteUrl}/badge/${Buffer.concat([mask(id, code), code]).toString('base64url')}`;
    },
    /** The private service whose present address ends with the token; null: there is none. */
    find(token: string, { byId }: { readonly byId: (id: number) => Service | null }): Service | null {
      if (!TOKEN.test(token)) return null;
      const bytes = Buffer.from(token, 'base64url');
      const code = bytes.subarray(ID_BYTES);
      const id = Buffer.from(mask(bytes.subarray(0, ID_BYTES), code)).readUIntBE(0, ID_BYTES);
      const service = byId(id);
      // Of a service that there is not, a code is computed too: the time tells nothing.
      const isPresent = timingSafeEqual(code, codeOf(id, service ?? {}));
      return isPresent && service?.visibility === 'private' ? service : null;
    },
  };
}

/** A label in place of a name that tells the host. */
export const UNNAMED = 'Status';

/** The name of a private service for strangers: its display name, unless that is or contains the name of its host. */
export function nameWithoutHost({ name, domain }: Pick<Service, 'name' | 'domain'>): string {
  const isPart = /[.:]/.test(domain) && name.toLowerCase().includes(domain);
  return isPart || name === domain ? UNNAMED : name;
}
