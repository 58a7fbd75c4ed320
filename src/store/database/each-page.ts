/** Reads many rows in parts, so that few of them are in memory at a time. */

/** Rows in a page of {@link eachPage}. */
export const ROWS_PER_PAGE = 10_000;

/**
 * Calls `visit` with pages of rows in the order of their ids. `read`: the first {@link ROWS_PER_PAGE} rows with an id above
 * this one.
 */
export async function eachPage<Row extends { readonly id: number }>(
  read: (afterId: number) => Promise<readonly Row[]>,
  visit: (page: readonly Row[]) => void | Promise<void>,
): Promise<void> {
  let page: readonly Row[];
  let afterId = 0;
  do {
    page = await read(afterId);
    await visit(page);
    afterId = page.at(-1)?.id ?? afterId;
  } while (page.length === ROWS_PER_PAGE);
}
