/**
 * Codes with parameters, and the texts that languages have for them. Parts of the program hand codes to each other; text
 * is made where people read it. A table of texts has an entry for each code: the compiler refuses one that lacks it.
 */

/** The union of codes that `Params` describes: each key with its parameters, as in `{ code: 'status', statusCode: 503 }`. */
export type Coded<Params> = {
  readonly [Code in keyof Params]: { readonly code: Code } & Params[Code];
}[keyof Params];

/** The texts of one language for every code. */
export type TextTable<Params> = {
  readonly [Code in keyof Params]: string | ((params: Params[Code]) => string);
};

/** A code that has no parameters. */
export type NoParams = Readonly<Record<never, never>>;

/** The text for a code. One that another version of the program stored and that is not known here is shown itself. */
export function textOf<Params, Code extends keyof Params>(
  texts: TextTable<Params>,
  coded: { readonly code: Code } & Params[Code],
): string {
  const text: string | ((params: Params[Code]) => string) | undefined = texts[coded.code];
  if (text === undefined) return String(coded.code);
  return typeof text === 'string' ? text : text(coded);
}
