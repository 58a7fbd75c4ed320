/**
 * What the dashboard refuses or tells, in German: the sentences of `src/store/registry/`, `src/domain/host-name.ts`,
 * `src/domain/status-page.ts`, `src/auth/domain-proof.ts` and `src/web/dashboard/page-logo.ts`.
 */
import { germanRecordedFailure } from './german-recorded-failures.ts';

type Rule = readonly [RegExp, string | ((...found: string[]) => string)];

const GERMAN_FIELDS: ReadonlyMap<string, string> = new Map([
  ['The name', 'Der Name'],
  ['A title', 'Ein Titel'],
  ['The text', 'Der Text'],
  ['The name of a group', 'Der Name einer Gruppe'],
]);

const RULES: readonly Rule[] = [
  // Bounds of an account.
  [
    /^An account has at most (\d+) keys: revoke one first\.$/,
    'Ein Konto hat höchstens $1 Schlüssel: widerrufen Sie erst einen.',
  ],
  [
    /^An account has at most (\d+) webhooks: remove one first\.$/,
    'Ein Konto hat höchstens $1 Webhooks: entfernen Sie erst einen.',
  ],
  [
    /^An account has at most (\d+) status pages: remove one first\.$/,
    'Ein Konto hat höchstens $1 Statusseiten: entfernen Sie erst eine.',
  ],
  [
    /^The account has (\d+) domains, which is its limit: remove one first\.$/,
    'Das Konto hat $1 Domains, mehr sind nicht möglich: entfernen Sie erst eine.',
  ],
  [
    /^The account has registered (\d+) domains within a day, which is its limit: try again after (\S+)\.$/,
    'Das Konto hat an einem Tag $1 Domains registriert, mehr sind nicht möglich: versuchen Sie es nach $2 wieder.',
  ],
  [
    /^The account waits for (\d+) domains: verify or drop one first\.$/,
    'Das Konto wartet auf $1 Domains: bestätigen oder verwerfen Sie erst eine.',
  ],
  [
    /^(\S+) leads to an address where (\d+) services of owners are checked already; more are not\.$/,
    '$1 führt zu einer Adresse, wo schon $2 Dienste von Inhabern geprüft werden; mehr nicht.',
  ],
  // What is taken, or not there.
  [/^There is no account (.+)\.$/, 'Das Konto $1 gibt es nicht.'],
  [/^There is no service (.+)\.$/, 'Den Dienst $1 gibt es nicht.'],
  [/^No account has a service (.+)\.$/, 'Kein Konto hat einen Dienst $1.'],
  [
    /^(\S+) belongs to the catalogue: take it out of the catalogue file instead\.$/,
    '$1 gehört zum Katalog: nehmen Sie es aus dessen Datei.',
  ],
  [/^The address (\S+) is taken\.$/, 'Die Adresse $1 ist vergeben.'],
  [
    /^The address (\S+) stands for the public service (.+)\.$/,
    'Die Adresse $1 steht für den öffentlichen Dienst $2.',
  ],
  [
    /^The slug (\S+) is taken: it stands for another service\.$/,
    'Der Kurzname $1 ist vergeben: er steht für einen anderen Dienst.',
  ],
  [
    /^(\S+) lies within (\S+) of the public catalogue \((.+)\): verify the domain first\.$/,
    '$1 liegt in $2 des öffentlichen Katalogs ($3): bestätigen Sie erst die Domain.',
  ],
  // Notices.
  [
    /^(\S+) was verified by another account and belongs to it from now on\.$/,
    '$1 wurde von einem anderen Konto bestätigt und gehört von jetzt an diesem.',
  ],
  [
    /^(\S+) belonged to another account\. You have verified it; it is yours now\.$/,
    '$1 gehörte einem anderen Konto. Sie haben die Domain bestätigt; jetzt ist es Ihre.',
  ],
  [
    /^(\S+) is part of the public catalogue now, as (\S+)\. Your service (\S+) \((\S+)\) was not verified and gave way; verify the domain to have one of your own beside it\.$/,
    '$1 gehört jetzt als $2 zum öffentlichen Katalog. Ihr Dienst $3 ($4) war nicht bestätigt und ist gewichen; bestätigen Sie die Domain, um daneben einen eigenen zu haben.',
  ],
  [
    /^The slug (\S+) stands for (\S+) of the public catalogue now\. Your service (\S+) goes on as (\S+), with its history\.$/,
    'Der Kurzname $1 steht jetzt für $2 des öffentlichen Katalogs. Ihr Dienst $3 heißt dort von nun an $4 und behält seinen Verlauf.',
  ],
  [
    /^The slug (\S+) belongs to the verified domain (\S+) now\. Your service (\S+) goes on as (\S+), with its history\.$/,
    'Der Kurzname $1 gehört jetzt zur bestätigten Domain $2. Ihr Dienst $3 heißt dort von nun an $4 und behält seinen Verlauf.',
  ],
  [
    /^The public catalogue has a service named (.+) now\. Your service (\S+) bears its domain as its name; choose another\.$/,
    'Der öffentliche Katalog hat jetzt einen Dienst namens $1. Ihr Dienst $2 trägt seine Domain als Namen; wählen Sie einen anderen.',
  ],
  // Given names.
  [
    /^The name (.+) equals or resembles (.+) of the public catalogue: choose another\.$/,
    'Der Name $1 gleicht oder ähnelt $2 aus dem öffentlichen Katalog: wählen Sie einen anderen.',
  ],
  [/^The name must have 1 to (\d+) characters\.$/, 'Der Name muss 1 bis $1 Zeichen haben.'],
  [
    /^(The name|A title|The text|The name of a group) must not contain (U\+[0-9A-F]+): control characters, marks of direction and unassigned characters are not allowed\.$/,
    (what, code) =>
      `${GERMAN_FIELDS.get(what) ?? what} darf ${code} nicht enthalten: Steuerzeichen, Zeichen der Schreibrichtung und nicht vergebene Zeichen sind nicht erlaubt.`,
  ],
  // Host names.
  [/^The domain must not be empty\.$/, 'Die Domain fehlt.'],
  [/^The domain is longer than a host name can be\.$/, 'Die Domain ist länger, als ein Hostname sein kann.'],
  [/^The domain is longer than (\d+) characters\.$/, 'Die Domain ist länger als $1 Zeichen.'],
  [
    /^The domain must be a host name alone, without scheme, port or path\.$/,
    'Die Domain muss ein bloßer Hostname sein, ohne Schema, Port und Pfad.',
  ],
  [/^The domain is not a host name\.$/, 'Die Domain ist kein Hostname.'],
  [
    /^The domain needs at least two labels, such as (\S+)\.$/,
    'Die Domain braucht mindestens zwei Teile, wie $1.',
  ],
  [
    /^The domain has a label that is not 1 to 63 letters, digits and inner hyphens\.$/,
    'Ein Teil der Domain besteht nicht aus 1 bis 63 Buchstaben, Ziffern und inneren Bindestrichen.',
  ],
  [/^The domain must not be an IP address\.$/, 'Die Domain darf keine IP-Adresse sein.'],
  [
    /^The domain must not end in the private suffix (\S+)\.$/,
    'Die Domain darf nicht auf die private Endung $1 enden.',
  ],
  // Proofs.
  [
    /^The domain is not verified: (there is no TXT record|the TXT record holds another word) at (\S+), and at (\S+): (.+)\.$/,
    (txt, record, url, found) =>
      `Die Domain ist nicht bestätigt: ${txt.startsWith('there') ? 'ein TXT-Eintrag fehlt' : 'der TXT-Eintrag enthält ein anderes Wort'} bei ${record}, und bei ${url}: ${germanFinding(found)}.`,
  ],
  // Status pages.
  [
    /^An address is (\d+) to (\d+) lower-case letters and digits, with single dashes between them\.$/,
    'Eine Adresse besteht aus $1 bis $2 kleinen Buchstaben und Ziffern, mit einzelnen Bindestrichen dazwischen.',
  ],
  [
    /^"(.+)" is a word of this site: choose another address\.$/,
    '„$1“ ist ein Wort dieser Website: wählen Sie eine andere Adresse.',
  ],
  [/^A page needs a title\.$/, 'Eine Seite braucht einen Titel.'],
  [
    /^A title has at most (\d+) characters; this one has (\d+)\.$/,
    'Ein Titel hat höchstens $1 Zeichen; dieser hat $2.',
  ],
  [
    /^The text has at most (\d+) characters; this one has (\d+)\.$/,
    'Der Text hat höchstens $1 Zeichen; dieser hat $2.',
  ],
  [
    /^The name of a group has at most (\d+) characters; this one has (\d+)\.$/,
    'Der Name einer Gruppe hat höchstens $1 Zeichen; dieser hat $2.',
  ],
  [/^The service is on this page already\.$/, 'Der Dienst steht schon auf dieser Seite.'],
  [/^A page has at most (\d+) services\.$/, 'Eine Seite hat höchstens $1 Dienste.'],
  [/^A page has at most (\d+) groups\.$/, 'Eine Seite hat höchstens $1 Gruppen.'],
  // Logos.
  [/^A logo has at most (\d+) KiB\.$/, 'Ein Logo hat höchstens $1 KiB.'],
  [
    /^SVG is not taken, for it can hold script: send (.+)\.$/,
    'SVG wird nicht angenommen, denn es kann Skripte enthalten: senden Sie PNG, JPEG, WebP oder GIF.',
  ],
  [
    /^This is no picture that can be read: send (.+)\.$/,
    'Das ist kein lesbares Bild: senden Sie PNG, JPEG, WebP oder GIF.',
  ],
  [
    /^A logo has (\d+) to (\d+) pixels on each side; this one has (\d+) by (\d+)\.$/,
    'Ein Logo hat $1 bis $2 Pixel auf jeder Seite; dieses hat $3 mal $4.',
  ],
];

/** A refusal or a notice of the dashboard, in German; what is known in no sentence here stays as it is. */
export function germanRefusal(text: string): string {
  for (const [pattern, german] of RULES) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return typeof german === 'string' ? text.replace(pattern, german) : german(...found.slice(1));
  }
  return text;
}

function germanFinding(found: string): string {
  if (found === 'it holds another word') return 'die Datei enthält ein anderes Wort';
  if (found === 'it redirects to another host') return 'sie leitet zu einem anderen Host weiter';
  if (/^HTTP \d+$/.test(found)) return found;
  return germanRecordedFailure({ class: 'unreachable', detail: found });
}
