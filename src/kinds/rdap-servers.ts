/**
 * The RDAP servers of common top-level domains (RFC 9224), compared in November 2026 with a copy of IANA's registry from March 2025 and,
 * for what that lacks or what has moved since (io, me, co, us, and the domains of Radix), with the lists of public clients from 2026. A
 * check may name another one by its setting `server`. Registries that do not publish when a registration ends, such as those of de, eu and
 * ch, are left out.
 */

const IDENTITY_DIGITAL = 'https://rdap.identitydigital.services/rdap/';
const GOOGLE = 'https://pubapi.registry.google/rdap/';
const RADIX = 'https://rdap.radix.host/rdap/';
const CENTRAL_NIC = 'https://rdap.centralnic.com/';

/** Base addresses by top-level domains in ASCII. */
export const RDAP_SERVERS: ReadonlyMap<string, string> = new Map([
  ['com', 'https://rdap.verisign.com/com/v1/'],
  ['net', 'https://rdap.verisign.com/net/v1/'],
  ['org', 'https://rdap.publicinterestregistry.org/rdap/'],
  ['biz', 'https://rdap.nic.biz/'],
  ...[
    'info',
    'io',
    'ai',
    'me',
    'pro',
    'live',
    'life',
    'email',
    'network',
    'systems',
    'tools',
    'world',
    'zone',
  ].map((tld) => [tld, IDENTITY_DIGITAL] as const),
  ...['app', 'dev', 'page', 'new', 'zip'].map((tld) => [tld, GOOGLE] as const),
  ...['online', 'site', 'store', 'tech', 'space', 'website', 'host', 'press'].map(
    (tld) => [tld, RADIX] as const,
  ),
  ...['xyz'].map((tld) => [tld, `${CENTRAL_NIC}${tld}/`] as const),
  ['co', 'https://rdap.registry.co/co/'],
  ['us', 'https://rdap.nic.us/'],
  ['uk', 'https://rdap.nominet.uk/uk/'],
  ['fr', 'https://rdap.nic.fr/'],
  ['nl', 'https://rdap.sidn.nl/'],
  ['cz', 'https://rdap.nic.cz/'],
  ['br', 'https://rdap.registro.br/'],
  ['ca', 'https://rdap.ca.fury.ca/rdap/'],
  ['cloud', 'https://rdap.registry.cloud/rdap/'],
]);
