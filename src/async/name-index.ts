/**
 * Finds ids by names that somebody else keeps: 15 bytes a name where a map of texts takes 29, and nothing for the garbage
 * collector to follow. A table of a million names is never made anew at once.
 */
import { randomInt } from 'node:crypto';

/** Parts of an index, each with a hash table of its own that grows alone: a pause of a few thousand names at most. */
const PARTS = 256;
const PART_BITS = 8;
const FIRST_SLOTS = 8;
const EMPTY = 0;
/** A name was removed here; names behind it are still found. */
const REMOVED = 2 ** 32 - 1;
const MAX_ID = REMOVED - 2;
/** Without it, owners could choose names that all have the same place. */
const SEED = randomInt(2 ** 32);

interface Part {
  /** Of each slot: an id and one, EMPTY or REMOVED. */
  slots: Uint32Array;
  /** Of each slot: the hash of its name. Names are read from memory that is far apart only where these are equal. */
  hashes: Uint32Array;
  /** Slots that are not empty. */
  used: number;
}

/** An index of names. Each name belongs to one id, and an id has at most one name in an index. */
export class NameIndex {
  readonly #parts: (Part | null)[] = new Array<Part | null>(PARTS).fill(null);
  readonly #nameOf: (id: number) => string | undefined;
  #size = 0;

  /** `nameOf`: the present name of an id; undefined: it has none. An id is found by that name only. */
  constructor(nameOf: (id: number) => string | undefined) {
    this.#nameOf = nameOf;
  }

  /** Names that were set and not deleted. */
  get size(): number {
    return this.#size;
  }

  /** The id with this name; undefined: there is none. */
  get(name: string): number | undefined {
    const hash = hashName(name);
    const part = this.#partOf(hash);
    if (!part) return undefined;
    const { slots, hashes } = part;
    for (let at = hash; ; at++) {
      const place = at & (slots.length - 1);
      const slot = slots[place] as number;
      if (slot === EMPTY) return undefined;
      if (slot !== REMOVED && hashes[place] === hash && this.#nameOf(slot - 1) === name) return slot - 1;
    }
  }

  /**
   * Gives the name to an id, which has it already by `nameOf`; another id with it loses it. Throws a RangeError unless the id
   * is a whole number from 0 to 4,294,967,293.
   */
  set(name: string, id: number): void {
    if (!Number.isInteger(id) || id < 0 || id > MAX_ID) throw new RangeError(`${id} is not an id`);
    const hash = hashName(name);
    const number = hash >>> (32 - PART_BITS);
    this.#parts[number] ??= newPart(FIRST_SLOTS);
    const part = this.#parts[number] as Part;
    const { slots, hashes } = part;
    let free = -1;
    for (let at = hash; ; at++) {
      const place = at & (slots.length - 1);
      const slot = slots[place] as number;
      if (slot === REMOVED) {
        if (free === -1) free = place;
      } else if (slot === EMPTY) {
        if (free === -1) {
          free = place;
          part.used++;
        }
        slots[free] = id + 1;
        hashes[free] = hash;
        this.#size++;
        if (part.used * 4 > slots.length * 3) this.#parts[number] = makeRoom(part);
        return;
      } else if (hashes[place] === hash && (slot === id + 1 || this.#nameOf(slot - 1) === name)) {
        slots[place] = id + 1;
        return;
      }
    }
  }

  /** False: the name did not belong to that id. Call it with the name that was set, whatever `nameOf` returns by now. */
  delete(name: string, id: number): boolean {
    const hash = hashName(name);
    const part = this.#partOf(hash);
    if (!part) return false;
    const { slots, hashes } = part;
    for (let at = hash; ; at++) {
      const place = at & (slots.length - 1);
      const slot = slots[place];
      if (slot === EMPTY) return false;
      if (slot !== id + 1 || hashes[place] !== hash) continue;
      slots[place] = REMOVED;
      this.#size--;
      return true;
    }
  }

  #partOf(hash: number): Part | null | undefined {
    return this.#parts[hash >>> (32 - PART_BITS)];
  }
}

function newPart(length: number): Part {
  return { slots: new Uint32Array(length), hashes: new Uint32Array(length), used: 0 };
}

/** The names of a part in a new one, with room for as many again. */
function makeRoom({ slots, hashes }: Part): Part {
  const isKept = (slot: number) => slot !== EMPTY && slot !== REMOVED;
  let kept = 0;
  for (const slot of slots) if (isKept(slot)) kept++;
  let length = FIRST_SLOTS;
  while (length < kept * 2) length *= 2;
  const part = newPart(length);
  part.used = kept;
  for (let place = 0; place < slots.length; place++) {
    const slot = slots[place] as number;
    if (!isKept(slot)) continue;
    const hash = hashes[place] as number;
    let at = hash & (length - 1);
    while (part.slots[at] !== EMPTY) at = (at + 1) & (length - 1);
    part.slots[at] = slot;
    part.hashes[at] = hash;
  }
  return part;
}

/** 32 bits, all of which depend on all characters. */
function hashName(name: string): number {
  let hash = SEED;
  for (let at = 0; at < name.length; at++) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
