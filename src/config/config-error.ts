/** The error with all problems of a configuration. */

export interface ConfigProblem {
  /** The setting, such as `checks.interval`, an unknown name, or the file. */
  readonly path: string;
  /** The problem, and a valid value. */
  readonly message: string;
  /** `upbeat.yaml:12`, or the name of a variable; null: unknown, or in `path`. */
  readonly place: string | null;
}

/** Thrown with all problems of a configuration, one on each line. The program ends with status 2. */
export class ConfigError extends Error {
  readonly code = 'bad_config';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(
      ({ path, message, place }) => `${path}: ${message}${place === null ? '' : ` (${place})`}`,
    );
    super(lines.join('\n'));
    this.problems = problems;
  }
}
