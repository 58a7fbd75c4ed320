/** The changes of a resource: the one road of forms, commands, the API and `apply`. */

import type { Refusal } from '../../domain/refusal.ts';
import type { LimitedRole } from '../../domain/role.ts';
import {
  type AccountPrincipal,
  accept,
  MAX_TRIES,
  type Outcome,
  type Principal,
  refuse,
  refuseRole,
} from './change.ts';
import { mergePatch } from './read-document.ts';

/** The number or the name of a thing in paths and commands. */
export type ResourceKey = number | string;

/** A thing that can be changed by the revision that was seen. */
export interface Revised {
  readonly accountId: number;
  readonly revision: number;
}

/** The context of reading a document: its owner, and the thing that it changes. */
export interface ReadingOf<Entity> {
  readonly accountId: number;
  /** Of the principal, whose bounds count. */
  readonly role: Principal['role'];
  /** The state before the change; null: the document is of a new thing. */
  readonly before: Entity | null;
  /** The merge patch that the document was made with; null: it is a whole document. */
  readonly patch: unknown;
}

interface Resource<Entity extends Revised, Key extends ResourceKey, Document, Wanted, Context> {
  /** The least role that may change it. */
  readonly mayChange: LimitedRole;
  readonly codes: {
    readonly missing: (key: Key) => Refusal;
    readonly stale: Refusal['code'];
    /** Refusals of the store, by the member of the document that they concern. */
    readonly at: Readonly<Partial<Record<Refusal['code'], string>>>;
  };
  readonly keyOf: (entity: Entity) => Key;
  /** Those of an account, in the order in which they are listed. */
  readonly list: (context: Context, accountId: number) => Promise<readonly Entity[]>;
  /**
   * Finds one of an account, or of any account where `accountId` is null (the operator); null: there is none. Absent: it is found in
   * the list.
   */
  readonly find?: (context: Context, accountId: number | null, key: Key) => Promise<Entity | null>;
  /** Resolves with the function that writes the documents of an account's things. */
  readonly writer: (context: Context, accountId: number) => Promise<(entity: Entity) => Document>;
  /** Reads a document. Its refusals have a field, such as `services.2`. */
  readonly read: (context: Context, document: unknown, of: ReadingOf<Entity>) => Promise<Outcome<Wanted>>;
  /** Stores a new thing. */
  readonly add: (context: Context, accountId: number, wanted: Wanted) => Promise<Outcome<Entity>>;
  /** Stores a change of a thing that has that revision still; otherwise refused as stale. */
  readonly change: (context: Context, before: Entity, wanted: Wanted) => Promise<Outcome<Entity>>;
  /** Removes a thing that has that revision still; otherwise refused as stale. */
  readonly remove: (context: Context, before: Entity) => Promise<Outcome<void>>;
}

export interface ChangeTarget<Key> {
  readonly key: Key;
  /** The revisions that the client has seen; null: any. */
  readonly revisions: readonly number[] | null;
}

/** The target of a change that does not depend on a revision. */
export function anyRevision<Key>(key: Key): ChangeTarget<Key> {
  return { key, revisions: null };
}

/** The changes of a resource. Each is refused with `role_required` where the role of the principal does not allow it. */
export interface Changes<Entity extends Revised, Key extends ResourceKey, Document, Context> {
  /** Those of an account with their documents. */
  readonly list: (
    context: Context,
    accountId: number,
  ) => Promise<{ readonly entity: Entity; readonly document: Document }[]>;
  /** One of the account. Refused where it has none of that key. */
  readonly find: (
    context: Context,
    principal: Pick<Principal, 'accountId'>,
    key: Key,
  ) => Promise<Outcome<Entity>>;
  readonly keyOf: (entity: Entity) => Key;
  readonly documentOf: (context: Context, entity: Entity) => Promise<Document>;
  /** Adds what a document says. Refused as the document is read, and where the name is taken or there are too many. */
  readonly add: (
    context: Context,
    principal: AccountPrincipal,
    document: unknown,
  ) => Promise<Outcome<Entity>>;
  /**
   * Changes one by a merge patch (RFC 7396) of its document; null sets a member to its default. Refused as `find` and `add`, and where it has another revision.
   */
  readonly patch: Change<Entity, Key, Context>;
  /** Changes one to what another document says, and as `patch` otherwise. */
  readonly replace: Change<Entity, Key, Context>;
  /** Makes another change of one, such as an update of an incident. Refused as `patch`, and as `change` refuses. */
  readonly change: <T>(
    context: Context,
    principal: Principal,
    target: ChangeTarget<Key>,
    change: (before: Entity) => Promise<Outcome<T>>,
  ) => Promise<Outcome<T>>;
  /** Removes one. Refused where there is none, or it has another revision. */
  readonly remove: (
    context: Context,
    principal: Principal,
    target: ChangeTarget<Key>,
  ) => Promise<Outcome<void>>;
}

type Change<Entity, Key, Context> = (
  context: Context,
  principal: Principal,
  target: ChangeTarget<Key>,
  by: unknown,
) => Promise<Outcome<Entity>>;

export function createChanges<Entity extends Revised, Key extends ResourceKey, Document, Wanted, Context>(
  resource: Resource<Entity, Key, Document, Wanted, Context>,
): Changes<Entity, Key, Document, Context> {
  const { codes, mayChange } = resource;
  const stale = refuse({ code: codes.stale } as Parameters<typeof refuse>[0]);

  const find = async (context: Context, accountId: number | null, key: Key): Promise<Outcome<Entity>> => {
    const found = await (resource.find ?? findListed)(context, accountId, key);
    return found === null ? refuse(codes.missing(key)) : accept(found);
  };
  const findListed = async (context: Context, accountId: number | null, key: Key): Promise<Entity | null> => {
    const listed = accountId === null ? [] : await resource.list(context, accountId);
    return listed.find((one) => resource.keyOf(one) === key) ?? null;
  };
  const documentOf = async (context: Context, entity: Entity): Promise<Document> =>
    (await resource.writer(context, entity.accountId))(entity);

  /** Makes a change of the newest state, again if another writer was faster. */
  const changeNewest = async <T>(
    context: Context,
    principal: Principal,
    { key, revisions }: ChangeTarget<Key>,
    change: (before: Entity) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> => {
    const denied = refuseRole(principal, mayChange);
    if (denied !== null) return denied;
    for (let tried = 1; ; tried++) {
      const found = await find(context, principal.accountId, key);
      if (!found.ok) return found;
      if (revisions !== null && !revisions.includes(found.value.revision)) return stale;
      const outcome = await change(found.value);
      const isStale = !outcome.ok && outcome.refusals.some(({ refusal }) => refusal.code === codes.stale);
      if (!isStale || tried === MAX_TRIES) return atFields(outcome, codes.at);
    }
  };
  const store = async (
    context: Context,
    { role }: Principal,
    before: Entity,
    { document, patch }: { readonly document: unknown; readonly patch: unknown },
  ) => {
    const { accountId } = before;
    const reading = await resource.read(context, document, { accountId, role, before, patch });
    return reading.ok ? await resource.change(context, before, reading.value) : reading;
  };

  return {
    async list(context, accountId) {
      const [entities, write] = await Promise.all([
        resource.list(context, accountId),
        resource.writer(context, accountId),
      ]);
      return entities.map((entity) => ({ entity, document: write(entity) }));
    },
    find: (context, { accountId }, key) => find(context, accountId, key),
    keyOf: resource.keyOf,
    documentOf,
    async add(context, principal, document) {
      const denied = refuseRole(principal, mayChange);
      if (denied !== null) return denied;
      const { accountId, role } = principal;
      const reading = await resource.read(context, document, { accountId, role, before: null, patch: null });
      if (!reading.ok) return reading;
      return atFields(await resource.add(context, accountId, reading.value), codes.at);
    },
    patch: (context, principal, target, patch) =>
      changeNewest(context, principal, target, async (before) => {
        const document = mergePatch(await documentOf(context, before), patch);
        return store(context, principal, before, { document, patch });
      }),
    replace: (context, principal, target, document) =>
      changeNewest(context, principal, target, (before) =>
        store(context, principal, before, { document, patch: null }),
      ),
    change: changeNewest,
    remove: (context, principal, target) =>
      changeNewest(context, principal, target, (before) => resource.remove(context, before)),
  };
}

/** The outcome with refusals of the store at the members that they concern. */
function atFields<T>(outcome: Outcome<T>, fields: Readonly<Partial<Record<string, string>>>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map((one) => ({ ...one, field: fields[one.refusal.code] ?? one.field }));
  return { ok: false, refusals };
}
