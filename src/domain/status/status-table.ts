/**
 * Current statuses by service as rows of numbers: 85 bytes each, and as many for each region, instead of 350 and 450 as objects,
 * and nothing for the garbage collector to follow. A status that does not fit, such as one with a failure, is kept as it is.
 */
import {
  type CurrentStatus,
  headOf,
  type LatestCheck,
  type RegionStatus,
  type Scope,
  type StatusHead,
} from './current.ts';
import {
  checkedAtOf,
  checkOf,
  createRows,
  flagsOf,
  isSameCheckRow,
  isSameRow,
  numberOf,
  observedAtOf,
  packRow,
  type Rows,
  RowWords,
  setFlags,
  sinceOf,
  statusOf,
} from './status-rows.ts';

/** Rows of a chunk. */
const CHUNK = 512;

// Flags of a row. A service without a status has 0.
const IS_PRESENT = 1;
/** The status is kept as it is. */
const IS_WHOLE = 2;
const HAS_REGIONS = 1 << 29;
const SCOPE_SHIFT = 30;
const SCOPES: readonly (Scope | null | undefined)[] = [undefined, null, 'global', 'partial'];

interface Chunk {
  readonly rows: Rows;
  /** The places of the regions of each row; null: no row has regions. */
  regions: { readonly counts: Uint8Array; readonly blocks: Uint32Array } | null;
  /** Services with a status. */
  size: number;
}

/** A map from services to their statuses. What it returns is equal to what was stored, but not the same object. */
export class StatusTable {
  readonly #chunks = new Map<number, Chunk>();
  readonly #whole = new Map<number, CurrentStatus>();
  readonly #words = new RowWords();
  readonly #regions = new RegionRows(this.#words);
  /** A row to compare with. */
  readonly #scratch = createRows(1);
  #size = 0;

  /** Services with a status. */
  get size(): number {
    return this.#size;
  }

  /** Undefined: the service has no status here. */
  get(serviceId: number): CurrentStatus | undefined {
    const chunk = this.#chunkOf(serviceId);
    if (chunk === undefined) return undefined;
    const row = serviceId % CHUNK;
    const flags = flagsOf(chunk.rows, row);
    if ((flags & IS_PRESENT) === 0) return undefined;
    return (flags & IS_WHOLE) !== 0 ? this.#whole.get(serviceId) : this.#read(chunk, row, serviceId);
  }

  /** The head of a status, which costs less to read; of a status with regions or a failure the whole of it. */
  shortOf(serviceId: number): CurrentStatus | StatusHead | undefined {
    const chunk = this.#chunkOf(serviceId);
    if (chunk === undefined) return undefined;
    const isLong = (flagsOf(chunk.rows, serviceId % CHUNK) & (IS_WHOLE | HAS_REGIONS)) !== 0;
    return isLong ? this.get(serviceId) : this.headOf(serviceId);
  }

  /** Undefined: the service has no status here. */
  headOf(serviceId: number): StatusHead | undefined {
    const chunk = this.#chunkOf(serviceId);
    if (chunk === undefined) return undefined;
    const { rows } = chunk;
    const row = serviceId % CHUNK;
    const flags = flagsOf(rows, row);
    if ((flags & IS_PRESENT) === 0) return undefined;
    if ((flags & IS_WHOLE) !== 0) return headOf(this.#whole.get(serviceId) as CurrentStatus);
    return {
      serviceId,
      seq: numberOf(rows, row),
      observedAt: observedAtOf(rows, row),
      status: statusOf(rows, row),
      checkedAt: checkedAtOf(rows, row),
    };
  }

  /** Returns true if the service has this status, or an equal one in a row. */
  holds(status: CurrentStatus): boolean {
    const { serviceId, regions } = status;
    const chunk = this.#chunkOf(serviceId);
    if (chunk === undefined) return false;
    const row = serviceId % CHUNK;
    const flags = flagsOf(chunk.rows, row);
    if ((flags & IS_PRESENT) === 0) return false;
    if ((flags & IS_WHOLE) !== 0) return this.#whole.get(serviceId) === status;
    if (!this.#pack(this.#scratch, 0, status) || !isSameRow(this.#scratch, 0, chunk.rows, row)) return false;
    if (regions === undefined || chunk.regions === null) return true;
    if (chunk.regions.counts[row] !== regions.length) return false;
    return regions.length === 0 || this.#regions.holds(chunk.regions.blocks[row] as number, regions);
  }

  /** Replaces the status of its service. Throws a RangeError unless that is a whole number from 0. */
  set(status: CurrentStatus): void {
    const { serviceId } = status;
    if (!Number.isSafeInteger(serviceId) || serviceId < 0) throw new RangeError(`${serviceId} is not an id`);
    const number = Math.floor(serviceId / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = { rows: createRows(CHUNK), regions: null, size: 0 };
      this.#chunks.set(number, chunk);
    }
    const row = serviceId % CHUNK;
    const before = flagsOf(chunk.rows, row);
    if ((before & IS_PRESENT) === 0) {
      chunk.size++;
      this.#size++;
    }
    if (this.#pack(chunk.rows, row, status) && this.#putRegions(chunk, row, status.regions)) {
      if ((before & IS_WHOLE) !== 0) this.#whole.delete(serviceId);
    } else {
      this.#putRegions(chunk, row, undefined);
      setFlags(chunk.rows, row, IS_PRESENT | IS_WHOLE);
      this.#whole.set(serviceId, status);
    }
  }

  /** False: the service had no status here. */
  delete(serviceId: number): boolean {
    const chunk = this.#chunkOf(serviceId);
    if (chunk === undefined) return false;
    const row = serviceId % CHUNK;
    if ((flagsOf(chunk.rows, row) & IS_PRESENT) === 0) return false;
    this.#putRegions(chunk, row, undefined);
    setFlags(chunk.rows, row, 0);
    this.#whole.delete(serviceId);
    this.#size--;
    if (--chunk.size === 0) this.#chunks.delete(Math.floor(serviceId / CHUNK));
    return true;
  }

  /** The services with a status, in ascending order. They may be deleted meanwhile. */
  *serviceIds(): Generator<number, void, undefined> {
    for (const number of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.#chunks.get(number);
      if (chunk === undefined) continue;
      for (let row = 0; row < CHUNK; row++)
        if ((flagsOf(chunk.rows, row) & IS_PRESENT) !== 0) yield number * CHUNK + row;
    }
  }

  #chunkOf(serviceId: number): Chunk | undefined {
    return this.#chunks.get(Math.floor(serviceId / CHUNK));
  }

  /** Writes all but the regions. False: the status does not fit, and nothing was written. */
  #pack(
    rows: Rows,
    row: number,
    { seq, observedAt, since, status, latest, regions, scope }: CurrentStatus,
  ): boolean {
    if (regions === undefined ? scope !== undefined : regions.length > MAX_REGIONS) return false;
    const ofRegions = regions === undefined ? 0 : HAS_REGIONS | (SCOPES.indexOf(scope) << SCOPE_SHIFT);
    const flags = IS_PRESENT | ofRegions;
    return packRow(rows, row, { number: seq, flags, observedAt, since, status, check: latest }, this.#words);
  }

  /** Replaces the regions of a row; undefined: it has none. False: they do not fit. */
  #putRegions(chunk: Chunk, row: number, regions: CurrentStatus['regions']): boolean {
    const count = regions?.length ?? 0;
    if (chunk.regions === null) {
      if (count === 0) return true;
      chunk.regions = { counts: new Uint8Array(CHUNK), blocks: new Uint32Array(CHUNK) };
    }
    const { counts, blocks } = chunk.regions;
    const former = counts[row] as number;
    if (former !== count) {
      if (former > 0) this.#regions.giveBack(former, blocks[row] as number);
      if (count > 0) blocks[row] = this.#regions.take(count);
      counts[row] = count;
    }
    return count === 0 || this.#regions.write(blocks[row] as number, regions ?? []);
  }

  #read({ rows, regions }: Chunk, row: number, serviceId: number): CurrentStatus {
    const latest = checkOf(rows, row, this.#words);
    const alone = {
      serviceId,
      seq: numberOf(rows, row),
      observedAt: observedAtOf(rows, row),
      status: statusOf(rows, row),
      since: sinceOf(rows, row),
      latest,
    };
    const flags = flagsOf(rows, row);
    if ((flags & HAS_REGIONS) === 0) return alone;
    const count = regions?.counts[row] ?? 0;
    const listed =
      count === 0 ? [] : this.#regions.read(count, regions?.blocks[row] ?? 0, { rows, row, latest });
    const scope = SCOPES[flags >>> SCOPE_SHIFT];
    return scope === undefined ? { ...alone, regions: listed } : { ...alone, regions: listed, scope };
  }
}

/** The least number of rows of a part of a pool. */
const PART = 512;
/** Most regions of a status; a status with more is kept as it is. */
const MAX_REGIONS = 255;

/** Blocks of the same number of rows. */
interface Pool {
  readonly parts: Rows[];
  /** Blocks that were taken and given back. */
  readonly free: number[];
  /** Blocks that were ever taken. */
  taken: number;
}

/** The blocks of a table. A block has a number among those of as many rows. */
class RegionRows {
  readonly #pools: (Pool | undefined)[] = [];
  readonly #names: string[] = [];
  readonly #numberOfName = new Map<string, number>();
  readonly #words: RowWords;
  /** A row to compare with. */
  readonly #scratch = createRows(1);

  constructor(words: RowWords) {
    this.#words = words;
  }

  /** Takes a block of so many rows, from 1. */
  take(count: number): number {
    const pool = this.#pools[count] ?? { parts: [], free: [], taken: 0 };
    this.#pools[count] = pool;
    const block = pool.free.pop() ?? pool.taken++;
    if (block >= pool.parts.length * blocksOf(count)) pool.parts.push(createRows(count * blocksOf(count)));
    return block;
  }

  giveBack(count: number, block: number): void {
    this.#pools[count]?.free.push(block);
  }

  /** Writes a block. False: not all of the regions fit a row; the block then holds some of them. */
  write(block: number, regions: readonly RegionStatus[]): boolean {
    const rows = this.#rowsOf(regions.length, block);
    const first = firstRow(regions.length, block);
    return regions.every((region, index) => this.#pack(rows, first + index, region));
  }

  /** The regions of a block. A check that is in this row of other rows is `latest`, the object made of that. */
  read(
    count: number,
    block: number,
    other: { rows: Rows; row: number; latest: LatestCheck | null },
  ): RegionStatus[] {
    const rows = this.#rowsOf(count, block);
    const first = firstRow(count, block);
    const regions: RegionStatus[] = [];
    for (let row = first; row < first + count; row++) {
      const { latest } = other;
      const isLatest = latest !== null && isSameCheckRow(rows, row, other.rows, other.row);
      const number = numberOf(rows, row);
      regions.push({
        region: this.#names[number >>> 1] as string,
        check: isLatest ? latest : (checkOf(rows, row, this.#words) as LatestCheck),
        since: sinceOf(rows, row) as number,
        observedAt: observedAtOf(rows, row),
        votes: (number & 1) !== 0,
      });
    }
    return regions;
  }

  /** Returns true if a block has these regions. */
  holds(block: number, regions: readonly RegionStatus[]): boolean {
    const rows = this.#rowsOf(regions.length, block);
    const first = firstRow(regions.length, block);
    return regions.every(
      (region, index) =>
        this.#pack(this.#scratch, 0, region) && isSameRow(this.#scratch, 0, rows, first + index),
    );
  }

  #pack(rows: Rows, row: number, { region, check, since, observedAt, votes }: RegionStatus): boolean {
    const number = this.#numberName(region) * 2 + (votes ? 1 : 0);
    return packRow(
      rows,
      row,
      { number, flags: 0, observedAt, since, status: check.status, check },
      this.#words,
    );
  }

  #rowsOf(count: number, block: number): Rows {
    return this.#pools[count]?.parts[Math.floor(block / blocksOf(count))] as Rows;
  }

  #numberName(name: string): number {
    const known = this.#numberOfName.get(name);
    if (known !== undefined) return known;
    const number = this.#names.push(name) - 1;
    this.#numberOfName.set(name, number);
    return number;
  }
}

function blocksOf(count: number): number {
  return Math.ceil(PART / count);
}

function firstRow(count: number, block: number): number {
  return (block % blocksOf(count)) * count;
}
