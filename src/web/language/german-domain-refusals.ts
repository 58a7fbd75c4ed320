/** Refusals of domains and slugs of services in German. */
import type { TextTable } from '../../domain/coded-text.ts';
import type { RefusalParams } from '../../domain/refusal.ts';

export const OF_DOMAINS: TextTable<
  Pick<
    RefusalParams,
    | 'slug_taken'
    | 'slug_invalid'
    | 'slug_of_host'
    | 'slug_fixed'
    | 'domain_taken'
    | 'domain_fixed'
    | 'foreign_domain'
    | 'catalogue_domain'
    | 'catalogue_owns'
    | 'name_taken'
  >
> = {
  domain_fixed:
    'Die Domain eines Dienstes lässt sich nicht ändern: legen Sie einen Dienst für die andere Domain an.',
  slug_taken: ({ slug, free }) => `Der Kurzname ${slug} ist reserviert. Frei ist ${free}.`,
  slug_invalid: ({ slug }) =>
    `${slug} ist kein Kurzname: er besteht aus kleinen Buchstaben, Ziffern und Bindestrichen, höchstens 300 Zeichen.`,
  slug_of_host: ({ slug, form }) =>
    `Der Kurzname ${slug} gehört nicht zur Domain: er beginnt mit ${form}-, wie ${form}-api.`,
  slug_fixed: 'Der Kurzname eines Dienstes lässt sich nicht ändern: legen Sie einen weiteren Dienst an.',
  domain_taken: ({ domain, free }) =>
    free === null
      ? `Die Domain ${domain} ist schon registriert.`
      : `Die Domain ${domain} ist schon registriert. Eine weitere Prüfung braucht einen Kurznamen, wie ${free}.`,
  foreign_domain: ({ domain }) =>
    `${domain} ist von einem anderen Konto registriert. Gehört sie Ihnen, bestätigen Sie die Domain.`,
  catalogue_domain: ({ domain, parent, slug }) =>
    `${domain} liegt in ${parent} des öffentlichen Katalogs (${slug}): bestätigen Sie erst die Domain.`,
  catalogue_owns: ({ domain, parent }) =>
    `Die Domain ${domain} gehört zu ${parent} des öffentlichen Katalogs.`,
  name_taken: ({ name, other }) =>
    `Der Name ${name} gleicht oder ähnelt ${other} aus dem öffentlichen Katalog: wählen Sie einen anderen.`,
};
