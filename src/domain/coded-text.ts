/**
 * Codes with parameters, and their texts in a language. Parts of the program exchange codes; text is rendered where people
 * read it. The table of the English texts defines the codes and their parameters; the compiler requires that the tables of
 * other languages have an entry for each code.
 */

/** The parameters of each code of a table of texts: those that its text takes, none where the text is a constant. */
export type ParamsOf<Texts> = {
  readonly [Code in keyof Texts]: Texts[Code] extends (params: infer Params) => string
    ? Params
    : Readonly<Record<never, never>>;
};

/** The union of codes that `Params` describes: each key with its parameters, as in `{ code: 'status', statusCode: 503 }`. */
export type Coded<Params> = {
  readonly [Code in keyof Params]: { readonly code: Code } & Params[Code];
}[keyof Params];

export type TextTable<Params> = {
  readonly [Code in keyof Params]: string | ((params: Params[Code]) => string);
};

/**
 * The text for a code. `otherwise` is the text for a code that is not known here, such as one that a later version of
 * the program stored: the sentence that was stored beside the code, or one that fits every code.
 */
export function textOf<Params, Code extends keyof Params>(
  texts: TextTable<Params>,
  coded: { readonly code: Code } & Params[Code],
  otherwise: string,
): string {
  if (!isKnown(texts, coded)) return otherwise;
  const text: string | ((params: Params[Code]) => string) = texts[coded.code];
  return typeof text === 'string' ? text : text(coded);
}

/** Returns true if the table has a text for the code. */
export function isKnown(texts: object, { code }: { readonly code: PropertyKey }): boolean {
  return Object.hasOwn(texts, code);
}
