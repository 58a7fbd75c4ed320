/** The fields of forms on pages. */

/** What a page shows of a field: its value, and the problem that it is described by. */
export function fieldOf(text: string, name: string) {
  const [tag = ''] = new RegExp(`<(?:input|select) name="${name}"[^>]*>`).exec(text) ?? [];
  const described = /aria-invalid="true" aria-describedby="([^"]+)"/.exec(tag)?.[1] ?? null;
  const problem =
    described === null ? null : new RegExp(`id="${described}" role="alert">([^<]*)<`).exec(text)?.[1];
  return { value: / value="([^"]*)"/.exec(tag)?.[1] ?? null, problem };
}

/** The choice of a select. */
export function chosen(text: string, name: string) {
  const [select = ''] = new RegExp(`<select name="${name}"[\\s\\S]*?</select>`).exec(text) ?? [];
  return /<option value="([^"]*)" selected/.exec(select)?.[1] ?? null;
}
