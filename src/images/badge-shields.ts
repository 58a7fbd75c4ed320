/** The answer of an endpoint badge for shields.io, by <https://shields.io/badges/endpoint-badge>. */
import { type Static, Type } from '@sinclair/typebox';
import type { ServiceStatus } from '../domain/status.ts';
import { named, strict } from '../http/schema.ts';
import type { BadgeRequest } from '../view/badge-query.ts';
import type { BadgeCaption } from './badge-text.ts';

/** What Shields reads. */
export const ShieldsSchema = named(
  'ShieldsBadge',
  Type.Object(
    {
      schemaVersion: Type.Literal(1),
      label: Type.String({ description: 'Left: the name of the service, with the window of a figure.' }),
      message: Type.String({
        minLength: 1,
        description: 'Right: the word or the figure, with its age where it is stale.',
      }),
      color: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Colour of the right side.' }),
      isError: Type.Boolean({
        description:
          'True for what is down, stale or unknown: the address of the badge cannot give it another colour then.',
      }),
      cacheSeconds: Type.Integer({ minimum: 300, description: 'How long Shields keeps it.' }),
    },
    strict,
  ),
);

/** What Shields reads. */
export type ShieldsAnswer = Static<typeof ShieldsSchema>;

/** Colours of the shapes of our own badges, so that both look alike. */
const COLOURS: Readonly<Record<BadgeRequest['theme'], Readonly<Record<ServiceStatus | 'stale', string>>>> = {
  light: { up: '#1a8f46', slow: '#b87503', down: '#cf222e', unknown: '#6e7781', stale: '#838c96' },
  dark: { up: '#3fb968', slow: '#e3a51f', down: '#f85149', unknown: '#9aa4af', stale: '#7d8590' },
};
/** As long as shared caches keep a badge (contract, part 8); the least that Shields allows. */
const CACHE_SECONDS = 300;

/** Makes the answer. Shields escapes every text itself. */
export function shieldsAnswer(
  name: string,
  { status, word, window, ageText }: BadgeCaption,
  theme: BadgeRequest['theme'],
): ShieldsAnswer {
  const line = name.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return {
    schemaVersion: 1,
    label: window === null ? line : `${line}, ${window}`,
    message: ageText === null ? word : `${word} · ${ageText}`,
    color: COLOURS[theme][ageText === null ? status : 'stale'],
    isError: ageText !== null || status === 'down' || status === 'unknown',
    cacheSeconds: CACHE_SECONDS,
  };
}
