/** The routes of a resource: its list, and one of it to create, read, change and remove. */
import { parseJson } from '../../http/body.ts';
import { revisionTag } from '../../http/conditional.ts';
import type { PlaceForm, PlaceMember } from '../../http/cursor.ts';
import type { OpenApiParameter } from '../../http/openapi.ts';
import { type HttpResponse, jsonText, type Route } from '../../http/route.ts';
import type { TObject, TSchema } from '../../json-schema.ts';
import type { Changes, ResourceKey, Revised } from './create-changes.ts';
import { type RepeatableContext, repeatableRoute } from './once.ts';
import { cutWindow, ownListRoute } from './own-list.ts';
import {
  bearerOf,
  CREATED_HEADERS,
  changed,
  ETAG_HEADER,
  IF_MATCH,
  ownRoute,
  patchBody,
  principalOf,
  privately,
  REMOVED,
  resultOf,
  targetOf,
  type WritingEndpoint,
  writeRoute,
} from './write-route.ts';

/** An operation in the words of the OpenAPI document. */
interface Words {
  /** Its id. Absent: such as `createRule`. */
  readonly id?: string;
  readonly summary: string;
  readonly description: string;
}

export interface ResourceRoutes<Entity extends Revised, Key extends ResourceKey, Document, Context> {
  readonly changes: Changes<Entity, Key, Document, Context>;
  readonly context: Context;
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
  /** The path of the list, such as `/api/v1/rules`. */
  readonly path: string;
  /** The path where one is created, and the parameter by which it is changed and removed there. Absent: as it is read. */
  readonly writing?: { readonly path: string; readonly parameter: OpenApiParameter };
  readonly tag: string;
  /** Its name in the document, such as `Rule`: that of its schema, and in the ids of its operations. */
  readonly name: string;
  /** The name of the schema of its list. Absent: `${name}List`. */
  readonly listName?: string;
  /** Its name in sentences, such as `rule`; the member of its list is `${word}s`. */
  readonly word: string;
  /** The parameter of the path that has its key, such as `:id`, and what reads it. */
  readonly key: { readonly parameter: OpenApiParameter; readonly read: (text: string | undefined) => Key };
  readonly schema: TSchema;
  /** The schema of its document, and the one whose members a patch may have. */
  readonly document: TSchema;
  readonly patch: TObject;
  /** Maximum size of a document, bytes. */
  readonly maxBytes: number;
  readonly examples: { readonly document: object; readonly patch: object };
  readonly order: { readonly says: string; readonly place: PlaceForm['types'] };
  readonly placeOf: (entity: Entity) => readonly PlaceMember[];
  /** One of it as JSON. */
  readonly view: (entity: Entity, document: Document) => object | Promise<object>;
  readonly says: {
    readonly list: Words;
    readonly create: Words;
    /** Absent: everyone may read one, by another route. */
    readonly get?: Words;
    readonly change: Words;
    /** `done`: the answer; absent: it is removed. */
    readonly remove: Words & { readonly done?: string };
    /** A name or a slug that another one has. Absent: it has none. */
    readonly taken?: string;
  };
  /** False: a change cannot give it another name. Default true. */
  readonly isRenamed?: boolean;
  /** The requests that the server sends because of one that was created. */
  readonly callbacks?: WritingEndpoint['callbacks'];
}

export function createResourceRoutes<
  Entity extends Revised,
  Key extends ResourceKey,
  Document,
  Context extends RepeatableContext,
>(routes: ResourceRoutes<Entity, Key, Document, Context>): Route[] {
  const { changes, context, siteUrl, path, tag, name, word, key, schema, maxBytes, says, view } = routes;
  const { parameter } = key;
  const writing = routes.writing ?? { path, parameter };
  const one = `${writing.path}/:${writing.parameter.name}`;
  const whole = { description: `The ${word}.`, headers: ETAG_HEADER, schema };
  const gone = { 404: `The account has no such ${word} (${word}_not_found).` };
  const stale = { 412: `The ${word} has another revision than If-Match names.` };
  const taken: Record<string, string> = says.taken === undefined ? {} : { 409: says.taken };

  const answer = async (status: 200 | 201, entity: Entity): Promise<HttpResponse> => {
    const body = JSON.stringify(await view(entity, await changes.documentOf(context, entity)));
    const headers = status === 201 ? { Location: `${siteUrl}${path}/${changes.keyOf(entity)}` } : {};
    return changed(status, body, headers, revisionTag(entity.revision, body));
  };

  const getRoute = (words: Words): Route =>
    ownRoute({
      ...{ path: `${path}/:${parameter.name}`, tag, id: `get${name}`, ...words },
      parameters: [parameter],
      answers: { 200: whole },
      problems: gone,
      async handle(request) {
        const { accountId } = bearerOf(request);
        const asked = key.read(request.params[parameter.name]);
        const found = resultOf(await changes.find(context, { accountId }, asked));
        const body = JSON.stringify(await view(found, await changes.documentOf(context, found)));
        return privately(jsonText(body, revisionTag(found.revision, body)));
      },
    });

  return [
    ownListRoute<{ readonly entity: Entity; readonly document: Document }>({
      ...{ path, tag, id: `list${name}s`, ...says.list },
      name: routes.listName ?? `${name}List`,
      member: `${word}s`,
      item: schema,
      order: routes.order.says,
      place: routes.order.place,
      placeOf: ({ entity }) => routes.placeOf(entity),
      read: async (accountId, window) =>
        cutWindow(await changes.list(context, accountId), window, ({ entity }) => routes.placeOf(entity)),
      view: ({ entity, document }) => view(entity, document),
    }),
    repeatableRoute<Entity, Context>(context, {
      ...{ path: writing.path, tag, id: `create${name}`, ...says.create },
      body: { schema: routes.document, example: routes.examples.document, maxBytes },
      answers: { 201: { ...whole, headers: CREATED_HEADERS } },
      ...(routes.callbacks === undefined ? {} : { callbacks: routes.callbacks }),
      problems: {
        403: `The account has as many ${word}s as it may (account_limit), or the key lacks the scope write (insufficient_scope).`,
        ...taken,
      },
      change: async (made, { key: bearer, body }) =>
        resultOf(await changes.add(made, principalOf(bearer), parseJson(body))),
      answer: (entity) => answer(201, entity),
    }),
    ...(says.get === undefined ? [] : [getRoute(says.get)]),
    writeRoute({
      ...{ path: one, tag, id: `change${name}`, ...says.change },
      method: 'PATCH',
      parameters: [writing.parameter, IF_MATCH],
      body: patchBody(`${name}Patch`, routes.patch, routes.examples.patch, maxBytes),
      answers: { 200: whole },
      problems: { ...gone, ...(routes.isRenamed === false ? {} : taken), ...stale },
      async handle(request) {
        const target = targetOf(key.read(request.params[writing.parameter.name]), request);
        const [by, patch] = [principalOf(request.key), parseJson(request.body)];
        return await answer(200, resultOf(await changes.patch(context, by, target, patch)));
      },
    }),
    writeRoute({
      ...{ path: one, tag, id: `remove${name}`, ...says.remove },
      method: 'DELETE',
      parameters: [writing.parameter, IF_MATCH],
      answers: { 204: { description: says.remove.done ?? 'It is removed.' } },
      problems: { ...gone, ...stale },
      async handle(request) {
        const target = targetOf(key.read(request.params[writing.parameter.name]), request);
        resultOf(await changes.remove(context, principalOf(request.key), target));
        return REMOVED;
      },
    }),
  ];
}
