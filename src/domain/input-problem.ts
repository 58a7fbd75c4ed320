/**
 * Problems of an input: codes with parameters, and their English texts as the ends of sentences. Refusals contain them. Other
 * languages are in `src/web/language/`.
 */
import { type Coded, type ParamsOf, textOf } from './coded-text.ts';
import { formatDuration, formatTime } from './durations.ts';

type OfMax = { readonly max: number };
type OfMaxLength = { readonly maxLength: number };
/** A code point, as in `U+202E`. */
type OfCharacter = { readonly character: string };

const HOST_NAME_PROBLEMS = {
  empty: 'must not be empty',
  too_long: 'is longer than a host name can be',
  not_bare: 'must be a host name alone, without scheme, port or path',
  invalid: 'is not a host name',
  longer_than: ({ maxLength }: OfMaxLength) => `is longer than ${maxLength} characters`,
  one_label: 'needs at least two labels, such as example.com',
  bad_label: 'has a label that is not 1 to 63 letters, digits and inner hyphens',
  ip_address: 'must not be an IP address',
  /** `suffix` begins with a dot. */
  private_suffix: ({ suffix }: { readonly suffix: string }) => `must not end in the private suffix ${suffix}`,
};

const SETTING_PROBLEMS = {
  missing: 'is missing',
  unknown: 'does not exist for this kind',
  choice: ({ choices }: { readonly choices: readonly string[] }) => `must be one of ${choices.join(', ')}`,
  /** `type` is a type of JSON Schema. */
  type: ({ type }: { readonly type: string }) => `must be ${TYPE_TEXTS.get(type) ?? 'another value'}`,
  /** `keyword` of JSON Schema: `minimum`, `maximum`, `minLength`, `maxLength` or `maxItems`. */
  limit: ({ keyword, limit }: { readonly keyword: string; readonly limit: number }) =>
    (LIMIT_TEXTS.get(keyword) ?? String)(limit),
  format: ({ example }: { readonly example: string }) =>
    /^https?:/.test(example) ? `must be a full URL such as ${example}` : `must be ${example}`,
  /** A line of the assertions, from 1. `word` is wrong, or the last one before what is missing. */
  assertion: ({ line, ...fault }: OfAssertion) => `has an error in line ${line}: ${assertionFault(fault)}`,
  /** `other` is the name of another setting. */
  not_with: ({ other }: { readonly other: string }) => `cannot be combined with ${other}`,
  /** `other` is the name of a setting without which this one says nothing. */
  together: ({ other }: { readonly other: string }) => `must be entered together with ${other}`,
  key_of_another: ({ other }: { readonly other: string }) => `is not the key of ${other}`,
  /** Epoch milliseconds. */
  expired: ({ endedAt }: { readonly endedAt: number }) =>
    `has expired on ${formatTime(endedAt).slice(0, 10)}`,
  /** A credential that is kept would be sent elsewhere. */
  secret_again: 'must be entered again or removed, because the check goes to another place now',
  /** A document keeps the stored value of a secret that has none. */
  secret_missing: 'has no stored value to keep',
  port_closed: ({ port }: { readonly port: number }) =>
    `is ${port}, which is not among checks.ports: the operator can add it there`,
  not_public: ({ host }: { readonly host: string }) =>
    `leads to ${host}, which is not public: only public hosts are connected to`,
};

interface OfAssertion {
  readonly line: number;
  readonly part: 'subject' | 'name' | 'operator' | 'value';
  readonly word: string;
  readonly choices: readonly string[];
}

/** The problem of a word of an assertion: `"over" is not an operator. Use is, is not, below, above`. */
function assertionFault({ part, word, choices }: Omit<OfAssertion, 'line'>): string {
  const list = choices.join(', ');
  switch (part) {
    case 'subject':
      return `"${word}" is not part of a response. Begin with ${list}`;
    case 'name':
      return `"${word}" is not followed by the name of a header or a JSON path such as $.status`;
    case 'operator':
      return word === ''
        ? `an operator is missing. Use ${list}`
        : `"${word}" is not an operator. Use ${list}`;
    default:
      return `there is no value that fits at "${word}"`;
  }
}

const TYPE_TEXTS: ReadonlyMap<string, string> = new Map([
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['string', 'text'],
  ['object', 'a group of settings'],
]);

const LIMIT_TEXTS: ReadonlyMap<string, (limit: number) => string> = new Map([
  ['minimum', (limit: number) => `must be at least ${limit}`],
  ['maximum', (limit: number) => `must be at most ${limit}`],
  ['minLength', (limit: number) => `must have at least ${limit} characters`],
  ['maxLength', (limit: number) => `must have at most ${limit} characters`],
  ['maxItems', (limit: number) => `must have at most ${limit} lines`],
]);

/** The problem of a setting of a check, with parameters. */
export type SettingProblemParams = ParamsOf<typeof SETTING_PROBLEMS>;

export type SettingProblem = Coded<SettingProblemParams>;

type OfLimitMs = { readonly limitMs: number };

const MEMBER_PROBLEMS = {
  format: 'cannot be read',
  minimum: ({ limitMs }: OfLimitMs) => `must be at least ${formatDuration(limitMs)}`,
  maximum: ({ limitMs }: OfLimitMs) => `must be at most ${formatDuration(limitMs)}`,
  over_interval: ({ limitMs }: OfLimitMs) =>
    `must not be longer than the interval, which is ${formatDuration(limitMs)}`,
  over_timeout: ({ limitMs }: OfLimitMs) =>
    `must not be longer than the timeout, which is ${formatDuration(limitMs)}`,
  count: ({ max }: OfMax) => `has at most ${max} parts`,
  region_unknown: ({ region, regions }: { readonly region: string; readonly regions: readonly string[] }) =>
    `names ${region}, where no node makes checks: choose from ${regions.join(', ')}`,
};

/** The problem of a time or the regions of a check, with parameters. */
export type MemberProblemParams = ParamsOf<typeof MEMBER_PROBLEMS>;

/** The problem of a time or the regions of a check. */
export type MemberProblem = Coded<MemberProblemParams>;

/** The form of a member of a check, by its name. */
const MEMBER_FORMS: ReadonlyMap<string, string> = new Map([
  ['confirmAfter', 'must be delays such as "2s 4s", or "none"'],
  ['regions', 'must be names of regions such as "eu us"'],
]);

/** Why a text is no host name for a service, with parameters. */
export type HostNameProblemParams = ParamsOf<typeof HOST_NAME_PROBLEMS>;

export type HostNameProblem = Coded<HostNameProblemParams>;

const GIVEN_TEXT_PROBLEMS = {
  length: ({ maxLength }: OfMaxLength) => `must have 1 to ${maxLength} characters`,
  character: ({ character }: OfCharacter) =>
    `must not contain ${character}: control characters, marks of direction and unassigned characters are not allowed`,
};

/** The problem of a name or text that a person gives, with parameters. */
export type GivenTextProblemParams = ParamsOf<typeof GIVEN_TEXT_PROBLEMS>;

/** The problem of a name or text that a person gives. */
export type GivenTextProblem = Coded<GivenTextProblemParams>;

/** The problem of a member of a check, as the end of a sentence: `must be at least 30s`. */
export function describeMemberProblem(member: string, problem: MemberProblem): string {
  return problem.code === 'format'
    ? (MEMBER_FORMS.get(member) ?? 'must be a duration such as 30s, 5m or 1h')
    : textOf(MEMBER_PROBLEMS, problem, 'is not valid');
}

/** Why a text is no host name, as the end of a sentence: `must not be an IP address`. */
export function describeHostNameProblem(problem: HostNameProblem): string {
  return textOf(HOST_NAME_PROBLEMS, problem, 'is not a host name');
}

/** The problem of a given text, as the end of a sentence: `must have 1 to 100 characters`. */
export function describeGivenTextProblem(problem: GivenTextProblem): string {
  return textOf(GIVEN_TEXT_PROBLEMS, problem, 'is not allowed');
}

/** The problem of a setting, as the end of a sentence: `is missing`. */
export function describeSettingProblem(problem: SettingProblem): string {
  return textOf(SETTING_PROBLEMS, problem, 'is not valid');
}

/** The problem of a form's field, as a sentence. `label`: its name in the form. */
export function describeFieldProblem(label: string, problem: SettingProblem): string {
  switch (problem.code) {
    case 'assertion':
      return `Line ${problem.line}: ${assertionFault(problem)}.`;
    case 'format':
      return /^https?:/.test(problem.example)
        ? `Enter a full URL, such as ${problem.example}.`
        : `Enter ${problem.example}.`;
    default:
      return `${label} ${describeSettingProblem(problem)}.`;
  }
}
