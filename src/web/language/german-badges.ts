/** What the badge builder says, in German. */
import type { Words } from './english.ts';

/** The words of the badge builder. */
export const germanBadges: Words['badges'] = {
  title: 'Badges',
  titleOf: (name) => `Badges für ${name}`,
  lead: 'Ein Bild für Ihre README oder Website, das sagt, wie es einem Dienst geht und wie alt diese Auskunft ist.',
  search: 'Dienst',
  searchHint: 'Name oder Domain',
  find: 'Finden',
  noMatch: 'Kein Dienst passt.',
  more: 'Es gibt noch mehr. Schreiben Sie mehr vom Namen.',
  examples: 'Was es gibt',
  example: {
    status: 'Wie es ihm jetzt geht',
    uptime: 'Welchen Teil der Zeit er lief',
    latency: 'Wie schnell er antwortet',
  },
  make: 'Einen Dienst auswählen',
  another: 'Ein anderer Dienst',
  page: 'Seine Seite',
  variant: 'Zeigt',
  variants: { status: 'Zustand', uptime: 'Verfügbarkeit', latency: 'Antwortzeit' },
  window: 'Über',
  windows: { '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage', '90d': '90 Tage', '1y': 'ein Jahr' },
  measure: 'Welche Antwortzeit',
  measures: { median: 'Median', p95: '95. Perzentil' },
  theme: 'Farben',
  themes: { light: 'hell', dark: 'dunkel' },
  format: 'Format',
  formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' },
  show: 'Zeigen',
  picture: 'Das Badge jetzt',
  shown: 'Das Badge und die Vorlagen haben sich geändert.',
  shieldsNote: 'Shields zeichnet es in seinem eigenen Aussehen, aus',
  shieldsLink: 'dem, was wir ihm sagen',
  snippets: 'Zum Einfügen',
  url: 'Adresse',
  copy: 'Kopieren',
  copied: 'Kopiert.',
  copyByHand: 'Mit Strg+C kopieren.',
  fresh:
    'Es erneuert sich selbst: Zwischenspeicher behalten ein Badge fünf Minuten. Was alt ist, wird grau und nennt sein Alter.',
  alt: (name, variant, window) =>
    variant === 'status'
      ? `${name}: Zustand`
      : `${name}: ${variant === 'uptime' ? 'Verfügbarkeit' : 'Antwortzeit'}, ${window}`,
};
