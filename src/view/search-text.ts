/** Text as a search compares it: the same letters in any case, however they are encoded. */
import { domainToUnicode } from 'node:url';
import type { Service } from '../domain/service.ts';

/** Characters that a text may have without any of them needing Unicode's rules. */
const IS_ASCII = /^[\0-\x7f]*$/;

/**
 * Folds the case of `text` in the forms of NFKC: "STRASSE" equals "straße", and a letter with its combining accent
 * equals the composed one. Accents are kept. Lower, upper and lower again is Unicode's full case folding, but for the
 * Greek final sigma.
 */
export function foldText(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFKC');
}

/**
 * The searched text of a service, folded: name, domain (an internationalised one also as people write it) and
 * slug, each on a line, so that no match spans two of them.
 */
export function searchTextOf({ name, domain, slug }: Pick<Service, 'name' | 'domain' | 'slug'>): string {
  const written = domain.includes('xn--') ? `${domain}\n${domainToUnicode(domain)}` : domain;
  return foldText(`${name}\n${written}\n${slug}`);
}
