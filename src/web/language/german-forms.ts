/** The right forms of values, in German. The English text is that of `example` of a problem. */

import type { TextTable } from '../../domain/coded-text.ts';
import type { RefusalParams } from '../../domain/refusal.ts';

const FORMS: ReadonlyMap<string, string> = new Map([
  [
    'a header such as "Accept: text/html"; those with credentials belong to secretHeaders',
    'einen Header wie „Accept: text/html“; solche mit Zugangsdaten gehören in secretHeaders',
  ],
  ['a short expression of RE2 such as ^pong', 'einen kurzen RE2-Ausdruck wie ^pong'],
  ['a name without a colon', 'einen Namen ohne Doppelpunkt'],
  ['a password in one line', 'ein Passwort in einer Zeile'],
  ['a token without spaces', 'ein Token ohne Leerzeichen'],
  ['certificates in PEM (-----BEGIN CERTIFICATE-----)', 'Zertifikate als PEM (-----BEGIN CERTIFICATE-----)'],
  [
    'verify, ignore, or the certificate of an authority in PEM',
    'verify, ignore oder das Zertifikat einer Zertifizierungsstelle als PEM',
  ],
  [
    'a private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)',
    'einen privaten Schlüssel als PEM ohne Passphrase (-----BEGIN PRIVATE KEY-----)',
  ],
  ['a key of 30 letters and digits', 'einen Schlüssel aus 30 Buchstaben und Ziffern'],
  ['a key of 32 letters and digits', 'einen Schlüssel aus 32 Buchstaben und Ziffern'],
  ['a token of 30 letters and digits', 'ein Token aus 30 Buchstaben und Ziffern'],
  ['an ID of 26 letters and digits', 'eine ID aus 26 Buchstaben und Ziffern'],
  ['an ID such as -1001234567890, or @name', 'eine ID wie -1001234567890 oder @name'],
  ['a secret of whsec_ and base64 of 24 to 64 bytes', 'whsec_ und 24 bis 64 Bytes als base64'],
  [
    'text without control characters, marks of direction and unassigned characters',
    'Text ohne Steuerzeichen, Richtungszeichen und unbelegte Zeichen',
  ],
  ['text without control characters', 'Text ohne Steuerzeichen'],
  [
    'an address such as https://example.com/health, without user and password',
    'eine Adresse wie https://example.com/health, ohne Benutzer und Passwort',
  ],
  ['a status code such as 401, or a class such as 2xx', 'einen Statuscode wie 401 oder eine Klasse wie 2xx'],
  [
    'a time such as 2028-11-14T22:00:00Z, within two years',
    'eine Zeit innerhalb von zwei Jahren, wie 2028-11-14T22:00:00Z',
  ],
  ['a duration such as 30s, 5m or 1h', 'eine Dauer wie 30s, 5m oder 1h'],
  [
    'a name of 1 to 32 of a-z, 0-9 and -',
    'einen Namen aus 1 bis 32 Kleinbuchstaben, Ziffern und Bindestrichen',
  ],
  ['IPv4 addresses', 'IPv4-Adressen'],
  ['IPv6 addresses', 'IPv6-Adressen'],
  ['another value', 'einen anderen Wert'],
]);

/** Returns `einen Wert wie …` for a form that is not known. */
export function germanForm(form: string): string {
  const known = FORMS.get(form);
  if (known !== undefined) return known;
  const [, example = form] = / such as (.+)$/.exec(form) ?? [];
  return `${form.startsWith('a time that is past') ? 'eine vergangene Zeit' : 'einen Wert'} wie ${example}`;
}

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
