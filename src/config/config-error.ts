/** What is wrong with a configuration: everything at once. */

/** One problem, at a path such as `checks.interval` or an environment variable's name. */
export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
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
  return problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
}
