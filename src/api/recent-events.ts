/**
 * The newest changes of status as the bytes of their events, which all streams share. They are kept in blocks, so that a stream
 * that reads slowly catches up without memory of its own.
 */
import type { Transition } from '../domain/status/current.ts';

export interface WantedEvents {
  /** Only those of this service; null: of all. */
  readonly serviceId: number | null;
  /** Returns true if events of a service are for the reader now; null: those for everyone. */
  readonly mayRead: ((serviceId: number) => boolean) | null;
}

export const EVERYONES: WantedEvents = { serviceId: null, mayRead: null };

export interface EventBlock {
  /** Position of the last one. */
  readonly end: number;
  /** The events of public services. */
  readonly bytes: Buffer;
  /** Characters of all events, also of those that are not for everyone. */
  readonly size: number;
  /** Those after a position, as a stream has them; null: there is none. */
  after(position: number, wanted?: WantedEvents): Buffer | null;
}

/** Size at which a block is complete, bytes: about what a connection takes at a time. */
const BLOCK_BYTES = 32_768;
/** Bytes of all blocks, beyond which the oldest are dropped; about 70,000 events. */
const MAX_BYTES = 16_777_216;

interface Entry {
  readonly position: number;
  readonly serviceId: number;
  readonly isPublic: boolean;
  readonly text: string;
}

/** Creates an empty list. `format` writes an event; `maxBytes` is for tests. */
export function createRecentEvents(format: (transition: Transition) => string, maxBytes = MAX_BYTES) {
  let blocks: EventBlock[] = [];
  let bytes = 0;
  let added: Entry[] = [];
  let droppedUpTo = 0;
  let publicDroppedUpTo = 0;
  let newest = 0;
  /** The registry has been read up to here since the list began; null: it has not. */
  let readUpTo: number | null = null;

  return {
    /** Position of the newest event; 0: there is none. */
    get newest(): number {
      return newest;
    },
    /** Position of the newest event in a block; 0: there is none. */
    get end(): number {
      return blocks.at(-1)?.end ?? 0;
    },
    /** Adds an event, which is in no block before {@link seal}. Positions increase. */
    add(transition: Transition, isPublic = true): void {
      const { position, serviceId } = transition;
      newest = position;
      added.push({ position, serviceId, isPublic, text: format(transition) });
    },
    /** Makes blocks of the added events. */
    seal(): void {
      for (const part of splitBySize(added)) {
        const block = makeBlock(part);
        blocks.push(block);
        bytes += block.size;
      }
      added = [];
      const kept = blocks.findIndex((block) => {
        if (bytes <= maxBytes) return true;
        bytes -= block.size;
        droppedUpTo = block.end;
        if (block.bytes.length > 0) publicDroppedUpTo = block.end;
        return false;
      });
      blocks = kept === -1 ? [] : blocks.slice(kept);
    },
    /** Notes that the registry had nothing after a position when it was read, so that all later events are in this list. */
    noteRead(position: number): void {
      readUpTo = Math.min(readUpTo ?? position, position);
    },
    /** Returns true if all events after a position that a stream may have are here. */
    covers: (position: number, { mayRead } = EVERYONES): boolean =>
      readUpTo !== null &&
      position >= readUpTo &&
      position >= (mayRead === null ? publicDroppedUpTo : droppedUpTo),
    /** The first block with an event after a position; null: there is none. */
    blockAfter(position: number): EventBlock | null {
      let [from, to] = [0, blocks.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if ((blocks[middle] as EventBlock).end > position) to = middle;
        else from = middle + 1;
      }
      return blocks[from] ?? null;
    },
    /** Forgets everything. */
    clear(): void {
      [blocks, added, bytes, newest, readUpTo] = [[], [], 0, 0, null];
      [droppedUpTo, publicDroppedUpTo] = [0, 0];
    },
  };
}

function splitBySize(entries: readonly Entry[]): Entry[][] {
  const parts: Entry[][] = [];
  let length = BLOCK_BYTES;
  for (const entry of entries) {
    if (length >= BLOCK_BYTES) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(entry);
    length += entry.text.length;
  }
  return parts;
}

function makeBlock(entries: readonly Entry[]): EventBlock {
  const shown = entries.filter(({ isPublic }) => isPublic);
  const bytes = joinTexts(shown);
  const first = entries[0]?.position ?? 0;
  /** The events of each service; null: no stream has asked for those of one. */
  let byService: Map<number, Buffer> | null = null;
  return {
    end: entries.at(-1)?.position ?? 0,
    bytes,
    size: entries.reduce((sum, { text }) => sum + text.length, 0),
    after(position, { serviceId, mayRead } = EVERYONES) {
      const isWhole = position < first;
      const joinNew = (list: readonly Entry[]) =>
        joinTexts(list.filter((entry) => entry.position > position));
      if (serviceId === null && mayRead === null) return orNull(isWhole ? bytes : joinNew(shown));
      if (serviceId === null) return orNull(joinNew(entries.filter((entry) => mayRead?.(entry.serviceId))));
      if (mayRead?.(serviceId) === false) return null;
      if (!isWhole) return orNull(joinNew(entries.filter((entry) => entry.serviceId === serviceId)));
      byService ??= new Map(
        [...Map.groupBy(entries, (entry) => entry.serviceId)].map(([of, own]) => [of, joinTexts(own)]),
      );
      return byService.get(serviceId) ?? null;
    },
  };
}

function orNull(bytes: Buffer): Buffer | null {
  return bytes.length === 0 ? null : bytes;
}

function joinTexts(entries: readonly Entry[]): Buffer {
  return Buffer.from(entries.map(({ text }) => text).join(''));
}
