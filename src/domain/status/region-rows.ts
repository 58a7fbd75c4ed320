/** The verdicts of regions as rows of numbers, a block of rows for each status: 85 bytes a region instead of 450 as objects. */
import type { LatestCheck, RegionStatus } from './current.ts';
import {
  checkOf,
  createRows,
  isSameCheckRow,
  isSameRow,
  numberOf,
  observedAtOf,
  packRow,
  type Rows,
  type RowWords,
  sinceOf,
} from './status-rows.ts';

/** The least number of rows of a part of a pool. */
const PART = 512;
/** Most regions of a status; a status with more is kept as it is. */
export const MAX_REGIONS = 255;

/** Blocks of the same number of rows. */
interface Pool {
  readonly parts: Rows[];
  /** Blocks that were taken and given back. */
  readonly free: number[];
  /** Blocks that were ever taken. */
  taken: number;
}

/** The blocks of a table. A block has a number among those of as many rows. */
export class RegionRows {
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

/** The blocks of a part. */
function blocksOf(count: number): number {
  return Math.ceil(PART / count);
}

function firstRow(count: number, block: number): number {
  return (block % blocksOf(count)) * count;
}
