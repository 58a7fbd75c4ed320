/** The types of settings: schemas with a default and a meaning. */
import {
  CHANNEL_KINDS,
  type ChannelKind,
  type ChannelSettings,
  MESSAGE_LANGUAGES,
  type MessageLanguage,
} from '../domain/alert/channel.ts';
import { type TSchema, Type } from '../json-schema.ts';

/** Extra members of a setting's schema, beside those of JSON Schema. */
interface SettingNotes {
  /** A running program takes the new value at SIGHUP. */
  readonly reloadable?: boolean;
  /** Milliseconds; for durations. */
  readonly minMs?: number;
  /** Never printed. */
  readonly secret?: boolean;
}

declare const durationMark: unique symbol;
/** A duration as files write it, `5m`; kept apart from other text so that the type `Config` can follow from the schema. */
export type DurationText = string & { readonly [durationMark]: true };

export const durationType = (notes: object) =>
  Type.Unsafe<DurationText>({ type: 'string', format: 'duration', ...notes });
export const duration = (byDefault: string, description: string, minMs = 0) =>
  durationType({ default: byDefault, description, minMs });
/** A duration, or null. */
export const optionalDuration = (description: string, minMs: number) =>
  Type.Union([Type.Null(), durationType({ minMs })], { default: null, description });
/** A number from 1 on. */
export const count = (byDefault: number, description: string, notes: SettingNotes = {}) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: byDefault, description, ...notes });
/** A text, or null. */
export const optionalText = (description: string, more: object = {}) =>
  Type.Union([Type.Null(), Type.String({ minLength: 1, ...more })], { default: null, description });
export const list = <T extends TSchema>(
  item: T,
  byDefault: readonly unknown[],
  description: string,
  more: object = {},
) => Type.Array(item, { default: byDefault, description, ...more });
/** Settings below one name, each with its default. */
export const section = <T extends Record<string, TSchema>>(description: string, members: T) =>
  Type.Object(members, { additionalProperties: false, default: {}, description });
export const choice = <const T extends string>(words: readonly T[], byDefault: T, description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...words], default: byDefault, description });

/** Settings below `site`. */
export const SITE = section('Who sees the site, and what its address shows.', {
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
});

export const PROVIDER = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,32}$' }),
    kind: Type.Unsafe<'oidc' | 'github'>({ type: 'string', enum: ['oidc', 'github'] }),
    issuer: Type.Optional(Type.String({ format: 'http-url' })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.String({ minLength: 1, secret: true }),
  },
  // A provider that is not of this form may hold its secret anywhere, so it is never printed whole.
  { additionalProperties: false, secret: true },
);

export const OPERATOR_CHANNEL = Type.Object(
  {
    kind: Type.Unsafe<ChannelKind>({ type: 'string', enum: [...CHANNEL_KINDS] }),
    language: Type.Optional(Type.Unsafe<MessageLanguage>({ type: 'string', enum: [...MESSAGE_LANGUAGES] })),
    // The schema of the kind validates them at the start (src/main/operator-channels.ts).
    settings: Type.Unsafe<ChannelSettings>({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
    }),
  },
  // The settings of a kind may be secret.
  { additionalProperties: false, secret: true },
);
