/** The settings of the site: who sees it, and what it begins with. */
import { Type } from '../json-schema.ts';
import { choice, section } from './setting-types.ts';

/** Settings below `site`. */
export const SITE = section(
  {
    home: Type.String({
      format: 'first-page',
      default: 'services',
      description:
        'What the address of the site shows: services, the list of services; page:SLUG, that status page; sign-in, the sign-in page, or the dashboard for people who are signed in.',
    }),
    access: choice(
      ['public', 'members'],
      'public',
      'Who sees the site. members: people who are signed in and API keys; for all others there are the sign-in page, /healthz, badges and public status pages. Accounts are then made by invitations and commands alone.',
    ),
  },
  'Who sees the site, and what its address shows.',
);
