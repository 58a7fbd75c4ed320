/** Slugs of services beside the first one of their host, and those that owners choose. */
import { dashDomain, type Service } from './service.ts';

/** Maximum number of characters of a slug. */
const MAX_SLUG_LENGTH = 300;
/** Maximum number of characters that the name of a service gives to its slug. */
const MAX_WORD_LENGTH = 40;

/** Returns true if a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG_LENGTH && /^[a-z0-9][a-z0-9_-]*$/.test(text);
}

/** Returns true if a slug is the dashed form of the domain, or begins with it, so that it cannot pass for another domain. */
export function isSlugOfHost(slug: string, domain: string): boolean {
  const form = dashDomain(domain);
  return slug === form || slug.startsWith(`${form}-`);
}

/** Returns true if a slug is the dashed form of the domain, or that with a number: the registry has chosen it. */
export function isFormOf(slug: string, domain: string): boolean {
  return isSlugOfHost(slug, domain) && /^(?:-\d+)?$/.test(slug.slice(domain.length));
}

/** The slug of another service of a host: the dashed domain, followed by its name or, where it has none, its kind. */
export function furtherSlug({ domain, name, check }: Pick<Service, 'domain' | 'name' | 'check'>): string {
  const form = dashDomain(domain);
  const word = name === domain ? '' : slugWord(name);
  if (word.startsWith(`${form}-`)) return word;
  return `${form}-${word === '' || word === form ? check.kind : word}`;
}

/** A text in the letters and digits of slugs; empty: it has none of them. */
export function slugWord(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_WORD_LENGTH)
    .replace(/-+$/, '');
}
