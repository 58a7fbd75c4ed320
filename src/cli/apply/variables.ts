/** Variables of the environment in files of `apply`: `${NAME}` stands for a value, and `$${NAME}` for `${NAME}` itself. */

/** A path in a document. */
export type DocumentPath = readonly (string | number)[];

/** What {@link fillVariables} needs. */
export interface VariableContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Number of values that may still be read; it sinks with each. */
  readonly budget: { values: number };
  /** Receives a problem and the path of the value. */
  readonly fail: (path: DocumentPath, message: string) => void;
  /** Receives the path of each value that contains a variable. */
  readonly note: (path: DocumentPath) => void;
}

/** Maximum number of values in all files, since aliases of YAML can repeat them. */
export const MAX_VALUES = 5_000_000;

const VARIABLE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A copy of a value with the variables of the environment in its texts. */
export function fillVariables(value: unknown, context: VariableContext, path: DocumentPath = []): unknown {
  const { environment, budget, fail, note } = context;
  if (--budget.values === 0) fail(path, `there are more than ${MAX_VALUES.toLocaleString('en')} values`);
  if (budget.values <= 0) return null;
  if (typeof value === 'object' && value !== null)
    return mapValues(value, (one, name) => fillVariables(one, context, [...path, name]));
  if (typeof value !== 'string' || !value.includes('${')) return value;
  return value.replaceAll(VARIABLE, (written, dollar: string, name: string) => {
    if (dollar !== '') return written.slice(1);
    note(path);
    const known = environment[name];
    if (known === undefined) fail(path, `the environment has no variable ${name}`);
    return known ?? '';
  });
}

/** A copy of a value that {@link fillVariables} reads as the value itself. */
export function escapeVariables(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return mapValues(value, escapeVariables);
  return typeof value === 'string' ? value.replaceAll(/\$\{(?=[A-Za-z_][A-Za-z0-9_]*\})/g, '$$$${') : value;
}

function mapValues(value: object, map: (one: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, name)]));
}
