/** Texts of the pages of all incidents and of the heat map, in German. */
import type { englishIncidents } from './english-incidents.ts';

/** The texts of these pages. */
export const germanIncidents: typeof englishIncidents = {
  title: 'Vorfälle aller Dienste',
  heading: 'Vorfälle',
  lead: 'Was unsere Prüfungen bemerkt und was Anbieter und Eigentümer gemeldet haben, das Neueste zuerst.',
  pages: 'Seiten',
  older: 'Ältere',
  newer: 'Neuere',
  heatmapTitle: 'Heatmap aller Dienste',
  heatmapHeading: 'Heatmap',
  heatmapLead:
    'Eine Zeile je Dienst, eine Spalte je Zeitschritt. Eine Zelle zeigt das Schlechteste ihrer Zeit; die Legende steht im Bild.',
  heatmapAlt: (range) => `Alle Dienste im Zeitverlauf, ${range}`,
};
