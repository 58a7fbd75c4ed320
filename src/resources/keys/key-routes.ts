/** API keys of an account: `/api/v1/keys` (docs/api.md). */

import { formatTime, formatTimeOrNull } from '../../domain/durations.ts';
import { KEY_SCOPES, type KeyScope } from '../../domain/role.ts';
import { parseJson } from '../../http/body.ts';
import type { Route } from '../../http/route.ts';
import { enumOf, named, namedObject, nullable, TimeSchema, whole } from '../../http/schema.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { ApiKey } from '../../store/ports/accounts.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { cutWindow, ownListRoute, placeOfId } from '../kit/own-list.ts';
import { createDocumentReader } from '../kit/read-document.ts';
import {
  changed,
  idParameter,
  principalOf,
  REMOVED,
  readId,
  resultOf,
  writeRoute,
} from '../kit/write-route.ts';
import { addKey, type KeyContext, listKeys, makeKeyText, revokeKey } from './keys.ts';

/** Maximum size of a body, bytes. */
const MAX_BYTES = 4_096;
/** Lifetime of a key for which none is chosen. */
const DEFAULT_LIFETIME = '90d';

const NewKeySchema = named(
  'ApiKeyInput',
  strictObject({
    name: Type.String({ maxLength: 1_000, description: 'What the key is for.' }),
    expires: Type.Optional(
      Type.String({
        maxLength: 100,
        description: `Lifetime such as 90d, or never; default: ${DEFAULT_LIFETIME}.`,
      }),
    ),
    scopes: Type.Optional(
      Type.Array(enumOf(KEY_SCOPES), {
        minItems: 1,
        description: 'Default: read and heartbeat. The key of the request must have them.',
      }),
    ),
  }),
);
const readNewKey = createDocumentReader<{
  readonly name: string;
  readonly expires?: string;
  readonly scopes?: readonly KeyScope[];
}>(NewKeySchema);

const KEY_MEMBERS = {
  id: whole('Its number.'),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key.' }),
  scopes: Type.Array(enumOf(KEY_SCOPES)),
  created_at: TimeSchema,
  last_used_at: nullable(TimeSchema, 'Null: never used.'),
  expires_at: nullable(TimeSchema, 'Null: it does not expire.'),
  state: enumOf(['valid', 'expired', 'revoked']),
};
const KeySchema = namedObject('ApiKey', KEY_MEMBERS);
const CreatedKeySchema = namedObject('CreatedApiKey', {
  ...KEY_MEMBERS,
  key: Type.String({ description: 'The key itself, which is shown only here.' }),
});

export type KeySources = KeyContext & RepeatableContext;

export function keyRoutes(sources: KeySources): Route[] {
  return [
    ownListRoute({
      path: '/api/v1/keys',
      id: 'listKeys',
      tag: 'Account',
      summary: 'List API keys',
      description: 'Without their secrets, revoked and expired ones included.',
      name: 'ApiKeyList',
      member: 'keys',
      item: KeySchema,
      order: 'Oldest first.',
      place: ['number'],
      placeOf: placeOfId,
      async read(accountId, window) {
        return cutWindow(await listKeys(sources, { role: 'owner', accountId }), window, placeOfId);
      },
      view: (key) => viewKey(key, key.state),
    }),
    repeatableRoute(sources, {
      path: '/api/v1/keys',
      id: 'createKey',
      tag: 'Account',
      summary: 'Create an API key',
      description: 'A key can only create keys with scopes that it has.',
      body: { schema: NewKeySchema, example: { name: 'ci', scopes: ['heartbeat'] }, maxBytes: MAX_BYTES },
      answers: { 201: { description: 'The key.', schema: CreatedKeySchema } },
      problems: {
        403: 'The key lacks the scope write, or a scope that the new key is to have (insufficient_scope), or the account has as many keys as it may (account_limit).',
      },
      makeSecret: makeKeyText,
      async change(context, { key, body }, secret): Promise<ApiKey> {
        const { name, expires = DEFAULT_LIFETIME, scopes } = resultOf(readNewKey(parseJson(body)));
        const input = { name, expires, ...(scopes === undefined ? {} : { scopes }) };
        return resultOf(await addKey(context, principalOf(key), input, secret)).record;
      },
      answer: (record, key) => changed(201, { ...viewKey(record, 'valid'), key }),
    }),
    writeRoute({
      path: '/api/v1/keys/:id',
      method: 'DELETE',
      id: 'revokeKey',
      tag: 'Account',
      summary: 'Revoke an API key',
      description: 'It is refused within a second.',
      parameters: [idParameter('key')],
      answers: { 204: { description: 'It is revoked.' } },
      problems: { 404: 'The account has no such key (key_not_found).' },
      async handle({ key, params }) {
        resultOf(await revokeKey(sources, principalOf(key), readId(params.id, 'key')));
        return REMOVED;
      },
    }),
  ];
}

function viewKey(key: ApiKey, state: Static<typeof KeySchema>['state']): Static<typeof KeySchema> {
  const { id, name, prefix, scopes, createdAt, lastUsedAt, expiresAt } = key;
  return {
    id,
    name,
    prefix,
    scopes: [...scopes],
    created_at: formatTime(createdAt),
    last_used_at: formatTimeOrNull(lastUsedAt),
    expires_at: formatTimeOrNull(expiresAt),
    state,
  };
}
