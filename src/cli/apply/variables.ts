/**
 * Variables of the environment in files of `apply`: `${NAME}` stands for a value, and `$${NAME}` for `${NAME}` itself. An item of a
 * list that is a variable alone stands for an item for each line of its value.
 */

export type DocumentPath = readonly (string | number)[];

/** The context of {@link fillVariables}. */
export interface VariableContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Number of values that may still be read; it sinks with each. */
  readonly budget: { values: number };
  /** Receives a problem and the path of the value. */
  readonly fail: (path: DocumentPath, message: string) => void;
  /** Receives the path of each value that contains a variable. */
  readonly note: (path: DocumentPath) => void;
  /**
   * Receives a value, or the list whose only item it is, that is a variable alone which is not set. True: null takes its place, as
   * what stays as it is stored.
   */
  readonly keep: (path: DocumentPath, name: string) => boolean;
}

/** Maximum number of values in all files, since aliases of YAML can repeat them. */
export const MAX_VALUES = 5_000_000;

const VARIABLE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** A text that is a variable and nothing else. */
const ALONE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** A copy of a value with the variables of the environment in its texts. */
export function fillVariables(value: unknown, context: VariableContext, path: DocumentPath = []): unknown {
  const { environment, budget, fail, note } = context;
  if (--budget.values === 0) fail(path, `there are more than ${MAX_VALUES.toLocaleString('en')} values`);
  if (budget.values <= 0) return null;
  const unset = unsetVariable(Array.isArray(value) && value.length === 1 ? value[0] : value, environment);
  if (unset !== null && context.keep(path, unset)) return null;
  if (Array.isArray(value))
    return value.flatMap((one: unknown, index) => {
      const filled = fillVariables(one, context, [...path, index]);
      return typeof filled === 'string' && isAlone(one)
        ? filled.split(/\r?\n/).filter((line) => line !== '')
        : [filled];
    });
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

function isAlone(value: unknown): boolean {
  return typeof value === 'string' && ALONE.test(value);
}

/** The name of the variable that a value is, if it is not set; null: the value is no variable, or that is set. */
function unsetVariable(value: unknown, environment: VariableContext['environment']): string | null {
  const name = typeof value === 'string' ? ALONE.exec(value)?.[1] : undefined;
  return name === undefined || environment[name] !== undefined ? null : name;
}

function mapValues(value: object, map: (one: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, name)]));
}
