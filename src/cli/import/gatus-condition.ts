/** Conditions of Gatus about a response, as lines of the setting `assertions`. Pure. */

/** Longest list of `any(…)` that becomes an expression. */
const MAX_CHOICES = 20;

/**
 * The assertion that says the same as a condition such as `[BODY].status == UP` or `[RESPONSE_TIME] < 300`; null: none does. It
 * may still be none that a check can have.
 */
export function readGatusCondition(condition: string): string | null {
  const [, time, limit] = /^\s*\[RESPONSE_TIME\]\s*(<=?|>=?)\s*(\d+)\s*$/.exec(condition) ?? [];
  if (time !== undefined) return timeLine(time, Number(limit));
  const [, present] = /^\s*has\(\[BODY\]((?:\.[\w-]+|\[\d+\])+)\)\s*==\s*true\s*$/.exec(condition) ?? [];
  if (present !== undefined) return `json ${pathOf(present)} exists`;
  const [, path = '', operator, value = ''] =
    /^\s*\[BODY\]((?:\.[\w-]+|\[\d+\])*)\s*(==|!=|<=|>=|<|>)\s*(.*?)\s*$/.exec(condition) ?? [];
  if (operator === undefined || value === '') return null;
  return bodyLine(path === '' ? 'body' : `json ${pathOf(path)}`, operator, value);
}

/** Response times are whole milliseconds. */
function timeLine(operator: string, limitMs: number): string {
  switch (operator) {
    case '<':
      return `time below ${limitMs}`;
    case '<=':
      return `time below ${limitMs + 1}`;
    case '>':
      return `time above ${limitMs}`;
    default:
      return `time above ${limitMs - 1}`;
  }
}

function bodyLine(subject: string, operator: string, value: string): string | null {
  const [, pattern] = /^pat\((.*)\)$/.exec(value) ?? [];
  const [, choices] = /^any\((.*)\)$/.exec(value) ?? [];
  if (operator === '==' || operator === '!=') {
    if (pattern !== undefined) return patternLine(subject, operator, pattern);
    if (choices !== undefined) return operator === '==' ? choiceLine(subject, choices) : null;
    return `${subject} ${operator === '==' ? 'is' : 'is not'} ${unquote(value)}`;
  }
  if (operator === '<') return `${subject} below ${value}`;
  return operator === '>' ? `${subject} above ${value}` : null;
}

/** `*` stands for any text. */
function patternLine(subject: string, operator: string, pattern: string): string | null {
  const [, inner] = /^\*([^*?[\]]+)\*$/.exec(pattern) ?? [];
  if (inner !== undefined) return `${subject} ${operator === '==' ? 'contains' : 'lacks'} ${inner}`;
  if (operator === '!=' || /[?[\]\\]/.test(pattern)) return null;
  return `${subject} matches (?s)^${pattern.split('*').map(escapeExpression).join('.*')}$`;
}

function choiceLine(subject: string, choices: string): string | null {
  const words = choices.split(',').map((word) => unquote(word.trim()));
  return words.length > MAX_CHOICES
    ? null
    : `${subject} matches ^(?:${words.map(escapeExpression).join('|')})$`;
}

function pathOf(path: string): string {
  const plain = path.replaceAll(/\.([\w-]+)/g, (step, name: string) =>
    /^[A-Za-z_]\w*$/.test(name) ? step : `['${name}']`,
  );
  return `$${plain}`;
}

function unquote(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}

/** Text as an expression of RE2. */
function escapeExpression(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, (character) => `\\${character}`);
}
