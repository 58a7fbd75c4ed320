/**
 * A thing that accounts own, such as a rule: how it is read from a document and written as one, and where it is stored. From its
 * definition come its changes (`createChanges`) and its routes (`createResourceRoutes`), so that forms, commands, the API and `apply`
 * take one road.
 */
import type { Refusal } from '../../domain/refusal.ts';
import type { LimitedRole } from '../../domain/role.ts';
import type { Outcome, Principal } from './change.ts';

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

/** The definition of a resource. */
export interface Resource<Entity extends Revised, Key extends ResourceKey, Document, Wanted, Context> {
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
