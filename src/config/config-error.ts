/** What is wrong with a configuration: everything at once. */

/** One problem of one setting. */
export interface ConfigProblem {
  /** The setting, such as `checks.interval`; for what is no setting the name that was found, or the file. */
  readonly path: string;
  /** What is wrong and what to write instead. */
  readonly message: string;
  /** Where it was written: `upbeat.yaml:12` or the name of a variable; null: nowhere, or `path` says it. */
  readonly place: string | null;
}

/** Thrown with all problems of a configuration; the program ends with status 2. */
export class ConfigError extends Error {
  readonly code = 'bad_config';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(formatProblems(problems));
    this.problems = problems;
  }
}

/** One line for each problem. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  return problems
    .map(({ path, message, place }) => `${path}: ${message}${place === null ? '' : ` (${place})`}`)
    .join('\n');
}
