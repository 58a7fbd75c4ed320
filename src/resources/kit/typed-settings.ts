/**
 * The documents of services and channels with the types of their settings, for the OpenAPI document. A setting stands once for all
 * kinds that have it: generators read that everywhere, and a kind that version 1 gains breaks no client.
 */

import type { TObject, TSchema } from '../../json-schema.ts';

type Kinds = Readonly<Record<string, { readonly settings: TObject }>>;

export function withSettings<S extends TObject>(schema: S, kinds: Kinds): S {
  const typed = {
    ...schema.properties.settings,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      [...settingsOf(kinds)].map(([name, owners]) => [name, mergedSetting(owners)]),
    ),
  };
  return withMember(schema, 'settings', typed);
}

/** The schema with a member in place of another. */
export function withMember<S extends TObject>(schema: S, name: string, member: object): S {
  return { ...schema, properties: { ...schema.properties, [name]: member } };
}

function settingsOf(kinds: Kinds): ReadonlyMap<string, ReadonlyMap<string, TSchema>> {
  const found = new Map<string, Map<string, TSchema>>();
  for (const [kind, { settings }] of Object.entries(kinds))
    for (const [name, schema] of Object.entries<TSchema>(settings.properties))
      found.set(name, (found.get(name) ?? new Map<string, TSchema>()).set(kind, schema));
  return found;
}

/** One schema for a setting: what all its kinds have in common. It is a secret where no kind shows it. */
function mergedSetting(owners: ReadonlyMap<string, TSchema>): object {
  const schemas = [...owners.values()];
  const types = [...new Set(schemas.map(({ type }) => String(type)))];
  const words = schemas.map(({ enum: allowed }) => allowed);
  const [items] = schemas.map((schema) => schema.items);
  const described = [...owners].map(([kind, { description }]) =>
    description === undefined ? kind : `${kind}: ${description}`,
  );
  return {
    ...(types.length === 1 ? { type: types[0] } : { oneOf: types.map((type) => ({ type })) }),
    ...(items === undefined ? {} : { items }),
    ...(words.includes(undefined) ? {} : { enum: [...new Set(words.flat())] }),
    ...(schemas.every(({ writeOnly }) => writeOnly === true) ? { writeOnly: true } : {}),
    description: `Of ${described.join('; ').replace(/([^.])$/, '$1.')}`,
  };
}
