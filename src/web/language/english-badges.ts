/** What the badge builder says, in English. */
import type { BadgeFormat, BadgeMeasure, BadgeVariant, BadgeWindow } from '../../view/badge-query.ts';

/** The words of the badge builder. */
export const englishBadges = {
  title: 'Badges',
  titleOf: (name: string) => `Badges for ${name}`,
  lead: 'A picture for your README or site that says how a service is, and how old that is.',
  search: 'Service',
  searchHint: 'name or domain',
  find: 'Find',
  noMatch: 'No service matches.',
  more: 'There are more. Write more of the name.',
  examples: 'What there is',
  example: {
    status: 'How it is now',
    uptime: 'How much of the time it was up',
    latency: 'How fast it answers',
  } as Readonly<Record<BadgeVariant, string>>,
  make: 'Choose a service',
  another: 'Another service',
  page: 'Its page',
  variant: 'Shows',
  variants: { status: 'Status', uptime: 'Uptime', latency: 'Response time' } as Readonly<
    Record<BadgeVariant, string>
  >,
  window: 'Over',
  windows: {
    '24h': '24 hours',
    '7d': '7 days',
    '30d': '30 days',
    '90d': '90 days',
    '1y': 'a year',
  } as Readonly<Record<BadgeWindow, string>>,
  measure: 'Which response time',
  measures: { median: 'median', p95: '95th percentile' } as Readonly<Record<BadgeMeasure, string>>,
  theme: 'Theme',
  themes: { light: 'light', dark: 'dark' } as Readonly<Record<'light' | 'dark', string>>,
  format: 'Format',
  formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' } as Readonly<Record<BadgeFormat, string>>,
  show: 'Show',
  picture: 'The badge now',
  shown: 'The badge and the snippets have changed.',
  shieldsNote: 'Shields draws it in its own look, from',
  shieldsLink: 'what we tell it',
  snippets: 'To paste',
  url: 'Address',
  copy: 'Copy',
  copied: 'Copied.',
  copyByHand: 'Press Ctrl+C to copy.',
  fresh: 'It renews itself: caches keep a badge for five minutes. What is old turns grey and tells its age.',
  alt: (name: string, variant: BadgeVariant, window: string): string =>
    variant === 'status'
      ? `${name} status`
      : `${name} ${variant === 'uptime' ? 'uptime' : 'response time'}, ${window}`,
};
