/**
 * The due checks of a host, by the account of their service. Accounts take turns, and each may hold a part of the slots only;
 * so may checks that hold their slot for long ([ADR 30](../../../docs/adr/0030-accounts-share-the-slots.md)).
 */
import type { CheckTarget } from '../../domain/check-target.ts';
import type { SlotShares } from '../protocol.ts';

/** The key of the catalogue; those of owners' accounts are larger. */
export const CATALOGUE = 0;
/** The key of owners' services whose account is not known here. */
const UNKNOWN_ACCOUNT = 2 ** 32 - 1;

/** Maximum number of accounts at their bound that a report names. */
const MAX_REPORTED = 16;
/** The taken part of a queue is freed when it has this length and is half of the queue. */
const COMPACT_AT = 4_096;

/** Slots that are kept for, or allowed to, those who have services here. */
interface Limits {
  /** Left free by all others for the short checks of the catalogue, and of owners, as long as these hold fewer. */
  readonly catalogueKeeps: number;
  readonly ownersKeep: number;
  /** Maximum of all owners together, and of one account. */
  readonly owners: number;
  readonly account: number;
  /** Of these, the maximum of long checks. */
  readonly ownersLong: number;
  readonly accountLong: number;
  /** An account that holds `heavy` slots leaves the last `lightKeep` of the owners' slots to those that hold fewer. */
  readonly heavy: number;
  readonly lightKeep: number;
}

/** The limits of a host where so many accounts have services, the catalogue included. One that is alone may use all slots. */
export function limitsOf(slots: number, hasCatalogue: boolean, accounts: number): Limits {
  const part = (divisor: number) => Math.floor(slots / divisor);
  const most = (divisor: number) => (accounts <= 1 ? Number.POSITIVE_INFINITY : Math.max(1, part(divisor)));
  const hasOwners = accounts > (hasCatalogue ? 1 : 0);
  return {
    catalogueKeeps: hasCatalogue ? part(4) : 0,
    ownersKeep: hasOwners ? part(hasCatalogue ? 16 : 4) : 0,
    owners: hasCatalogue ? most(2) : slots,
    account: most(4),
    ownersLong: most(4),
    accountLong: most(8),
    heavy: most(64),
    lightKeep: part(16),
  };
}

/**
 * The share of slots that an account holds: few, so that it may take the last ones of owners; more; or as many as it may, so
 * that its checks wait, whether or not others do.
 */
type Load = 0 | 1 | 2;
const LIGHT = 0;
const HEAVY = 1;
const FULL = 2;

/** The short, or the long, checks of an account. */
export class Lane {
  readonly account: Account;
  readonly group: Group;
  /** Slots that they hold. */
  held = 0;
  load: Load = LIGHT;
  /** It was full while checks that still wait were in it. */
  wasHeldUp = false;
  #items: number[] = [];
  #head = 0;

  constructor(account: Account, group: Group) {
    this.account = account;
    this.group = group;
  }

  get waiting(): number {
    return this.#items.length - this.#head;
  }

  push(item: number): void {
    this.#items.push(item);
  }

  shift(): number {
    const item = this.#items[this.#head++] as number;
    const { length } = this.#items;
    if (this.#head === length || (this.#head >= COMPACT_AT && this.#head * 2 >= length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

class Account {
  readonly key: number;
  readonly short: Lane;
  readonly long: Lane;
  services = 0;

  constructor(key: number, short: Group, long: Group) {
    this.key = key;
    this.short = new Lane(this, short);
    this.long = new Lane(this, long);
  }

  get held(): number {
    return this.short.held + this.long.held;
  }

  get waiting(): number {
    return this.short.waiting + this.long.waiting;
  }

  /** Checks that wait because of a bound of this account. */
  get heldUp(): number {
    return (
      (this.short.load === FULL ? this.short.waiting : 0) + (this.long.load === FULL ? this.long.waiting : 0)
    );
  }
}

/** Lanes that take turns. */
class Group {
  held = 0;
  /** Waiting checks by the load of their lane. */
  readonly #waiting = [0, 0, 0];
  /** The lanes with waiting checks, and the place of the next one. */
  readonly #ring: Lane[] = [];
  #next = 0;

  /** Waiting checks of lanes with at most this load. */
  waiting(load: Load): number {
    let sum = 0;
    for (let index = 0; index <= load; index++) sum += this.#waiting[index] as number;
    return sum;
  }

  push(lane: Lane, item: number): void {
    if (lane.waiting === 0) this.#ring.push(lane);
    lane.push(item);
    this.#count(lane.load, 1);
    if (lane.load === FULL) lane.wasHeldUp = true;
  }

  /** The next lane with at most this load. Call it while one has waiting checks. */
  next(load: Load): Lane {
    for (;;) {
      if (this.#next >= this.#ring.length) this.#next = 0;
      const lane = this.#ring[this.#next++] as Lane;
      // Few have more at a time, because loads are parts of the slots.
      if (lane.load <= load) return lane;
    }
  }

  /** Takes a check of the lane that was the next one. */
  shift(lane: Lane): number {
    const item = lane.shift();
    this.#count(lane.load, -1);
    if (lane.waiting > 0) return item;
    lane.wasHeldUp = false;
    this.#next--;
    this.#ring.splice(this.#next, 1);
    return item;
  }

  setLoad(lane: Lane, load: Load): void {
    if (lane.load === load) return;
    this.#count(lane.load, -lane.waiting);
    lane.load = load;
    this.#count(load, lane.waiting);
    if (load === FULL && lane.waiting > 0) lane.wasHeldUp = true;
  }

  #count(load: Load, change: number): void {
    this.#waiting[load] = (this.#waiting[load] as number) + change;
  }
}

export interface Turn {
  readonly item: number;
  readonly lane: Lane;
  /** A bound of its account may have made it wait. */
  readonly wasHeldUp: boolean;
}

export class FairQueue {
  readonly #slots: number;
  readonly #catalogue = new Group();
  readonly #catalogueLong = new Group();
  readonly #owners = new Group();
  readonly #ownersLong = new Group();
  readonly #groups = [this.#catalogue, this.#owners, this.#catalogueLong, this.#ownersLong] as const;
  readonly #accounts = new Map<number, Account>();
  /** Accounts of owners that hold slots or have waiting checks. */
  readonly #active = new Set<Account>();
  #limits: Limits;
  /** Place of the group whose turn is next. */
  #turn = 0;

  /** An empty queue for so many slots. */
  constructor(slots: number) {
    this.#slots = slots;
    this.#limits = limitsOf(slots, false, 0);
  }

  /** Counts a service of an account. Limits depend on who has any. */
  add(key: number): void {
    this.#open(key).services++;
  }

  remove(key: number): void {
    const account = this.#accounts.get(key);
    if (account === undefined) return;
    account.services--;
    this.#settle(account);
  }

  push(item: number, key: number, isLong: boolean): void {
    const account = this.#open(key);
    const lane = isLong ? account.long : account.short;
    lane.group.push(lane, item);
    if (key !== CATALOGUE) this.#active.add(account);
  }

  /** The next check, while so many slots are free; null: none waits, or those that do may take none of them. */
  shift(free: number): Turn | null {
    for (let tried = 0; tried < this.#groups.length; tried++) {
      const group = this.#groups[this.#turn] as Group;
      this.#turn = (this.#turn + 1) % this.#groups.length;
      const load = this.#mayStart(group, free);
      if (load === null || group.waiting(load) === 0) continue;
      const lane = group.next(load);
      const { wasHeldUp } = lane;
      return { item: group.shift(lane), lane, wasHeldUp };
    }
    return null;
  }

  /** A check of the lane has taken a slot. */
  hold(lane: Lane): void {
    lane.held++;
    lane.group.held++;
    if (lane.account.key !== CATALOGUE) this.#refresh(lane.account);
  }

  /** It has given the slot back. */
  release(lane: Lane): void {
    lane.held--;
    lane.group.held--;
    this.#settle(lane.account);
  }

  /** A check that was taken from the lane was outdated. */
  skip(lane: Lane): void {
    this.#settle(lane.account);
  }

  /** Checks that wait for their turn, without those whose account is at a bound. */
  get ready(): number {
    let sum = 0;
    for (const group of this.#groups) sum += group.waiting(HEAVY);
    return sum;
  }

  shares(): SlotShares {
    const sum = (a: Group, b: Group) => ({
      held: a.held + b.held,
      waiting: a.waiting(FULL) + b.waiting(FULL),
    });
    const active = [...this.#active];
    return {
      catalogue: sum(this.#catalogue, this.#catalogueLong),
      owners: sum(this.#owners, this.#ownersLong),
      heldLong: this.#catalogueLong.held + this.#ownersLong.held,
      mostOfAccount: active.reduce((most, { held }) => Math.max(most, held), 0),
      heldUp: active.reduce((count, { heldUp }) => count + heldUp, 0),
      bounded: active
        .filter(({ heldUp }) => heldUp > 0)
        .map(({ key, held, heldUp }) => ({ accountId: key, held, waiting: heldUp }))
        .sort((a, b) => b.waiting - a.waiting)
        .slice(0, MAX_REPORTED),
    };
  }

  #open(key: number): Account {
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const account =
      key === CATALOGUE
        ? new Account(key, this.#catalogue, this.#catalogueLong)
        : new Account(key, this.#owners, this.#ownersLong);
    this.#accounts.set(key, account);
    this.#setLimits();
    return account;
  }

  #settle(account: Account): void {
    if (account.key !== CATALOGUE) this.#refresh(account);
    if (account.services > 0 || account.held + account.waiting > 0) return;
    this.#accounts.delete(account.key);
    this.#setLimits();
  }

  #setLimits(): void {
    this.#limits = limitsOf(this.#slots, this.#accounts.has(CATALOGUE), this.#accounts.size);
    for (const account of this.#active) this.#refresh(account);
  }

  #refresh(account: Account): void {
    const { short, long, held, waiting } = account;
    const { account: most, accountLong, heavy } = this.#limits;
    const load = held >= most ? FULL : held >= heavy ? HEAVY : LIGHT;
    short.group.setLoad(short, load);
    long.group.setLoad(long, long.held >= accountLong ? FULL : load);
    if (held + waiting > 0) this.#active.add(account);
    else this.#active.delete(account);
  }

  /** The highest load of a lane of the group that may take one of so many free slots; null: none may. */
  #mayStart(group: Group, free: number): Load | null {
    if (free === 0) return null;
    const { catalogueKeeps, ownersKeep, owners, ownersLong, lightKeep } = this.#limits;
    const forCatalogue = Math.max(0, catalogueKeeps - this.#catalogue.held);
    const forOwners = Math.max(0, ownersKeep - this.#owners.held);
    if (group === this.#catalogue) return forCatalogue > 0 || free > forOwners ? LIGHT : null;
    const isLong = group !== this.#owners;
    if (isLong && free <= forCatalogue + forOwners) return null;
    if (group === this.#catalogueLong) return LIGHT;
    if (!isLong && forOwners === 0 && free <= forCatalogue) return null;
    const left = owners - this.#owners.held - this.#ownersLong.held;
    const leftLong = isLong ? ownersLong - this.#ownersLong.held : left;
    if (Math.min(left, leftLong) <= 0) return null;
    return Math.min(left, leftLong) <= lightKeep ? LIGHT : HEAVY;
  }
}

export function accountKey({ origin, accountId }: CheckTarget): number {
  return origin === 'catalogue' ? CATALOGUE : (accountId ?? UNKNOWN_ACCOUNT);
}
