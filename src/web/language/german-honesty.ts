/** Texts of the page that compares how long vendors take to report outages, in German. */
import type { englishHonesty } from './english-honesty.ts';

/** The texts. */
export const germanHonesty: typeof englishHonesty = {
  title: 'Wie lange Anbieter brauchen, um Ausfälle zu melden',
  heading: 'Wie lange Anbieter brauchen, um Ausfälle zu melden',
  lead: 'Von unserer ersten fehlgeschlagenen Prüfung bis zum ersten Eintrag auf der Statusseite des Anbieters.',
  summary: ({ outages, vendors, acknowledged }, median) =>
    `Unsere Prüfungen sahen ${outages} ${outages === 1 ? 'Ausfall' : 'Ausfälle'} bei ${vendors} ${vendors === 1 ? 'Anbieter' : 'Anbietern'}. ${acknowledged} von ${outages} ${acknowledged === 1 ? 'wurde' : 'wurden'} gemeldet${median === null ? '.' : `, die Hälfte aller binnen ${median}.`}`,
  empty: 'Unsere Prüfungen haben noch keinen Ausfall gesehen, der zählt.',
  rank: 'Rang',
  vendor: 'Anbieter',
  outages: 'Ausfälle',
  acknowledged: 'Gemeldet',
  neverCount: 'Nie gemeldet',
  median: 'Hälfte binnen',
  worst: 'Längste',
  never: 'nie',
  mostlyNever: 'meist nie',
  entries: (all, shown) =>
    shown < all
      ? `Die neuesten ${shown} von ${all} Ausfällen`
      : `${all} ${all === 1 ? 'Ausfall' : 'Ausfälle'}`,
  notReported: 'nie gemeldet',
  reported: (length, first) =>
    first ? `${length} vor unserer ersten fehlgeschlagenen Prüfung gemeldet` : `nach ${length} gemeldet`,
  unread: (length, isNow) =>
    `${isNow ? 'Die Statusseite ist gerade nicht lesbar.' : 'Die Statusseite war zeitweise nicht lesbar.'} Ausfälle aus ${length} fehlen.`,
  statusPage: 'Statusseite des Anbieters',
  next: 'Weitere Anbieter',
  previous: 'Vorige Anbieter',
  rulesHeading: 'Was zählt',
  rules: (minimum) => [
    'Dienste der öffentlichen Liste, deren Statusseite gelesen wird. Zeit, in der eine Seite nicht lesbar war, zählt nicht, auch nicht ihre Ausfälle.',
    'Ein Ausfall zählt, wenn mindestens zwei planmäßige Prüfungen in Folge fehlgeschlagen sind. Wartung zählt nicht.',
    'Ausfälle von Diensten eines Anbieters, die binnen einer Stunde beginnen, sind ein Ausfall, solange der erste andauert.',
    'Gemeldet ist ein Ausfall, wenn der Anbieter von einer Stunde davor bis eine Stunde nach seinem Ende einen Eintrag veröffentlicht hat.',
    'Ein Ausfall ohne Eintrag zählt eine Stunde nach seinem Ende als nie gemeldet. Bis dahin zählt er nicht.',
    '„Hälfte binnen“ schließt nie gemeldete Ausfälle ein. Wo weniger als die Hälfte gemeldet wurde, steht „meist nie“.',
    `Einen Rang haben Anbieter ab ${minimum} Ausfällen: Weniger sagen wenig.`,
  ],
};
