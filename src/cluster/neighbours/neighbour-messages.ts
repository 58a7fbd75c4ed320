/** Questions of a node about failures, and the answers of its neighbours, as they pass through Redis. */
import { isNodeName } from '../../domain/node.ts';
import type { CheckResult } from '../../domain/result.ts';
import { decodeResults, encodeResults } from '../results/result-stream.ts';

/** Maximum number of failures of a node that wait for an answer; further ones count at once. */
export const MAX_ASKED = 2_000;

/** A question: does the neighbour reach these services? */
export interface Question {
  /** Name of the node that asks. */
  readonly from: string;
  /** Counts the questions of a node, so that an answer that comes late belongs to no other. */
  readonly number: number;
  readonly serviceIds: readonly number[];
}

/** An answer, or a part of it. */
export interface Answer {
  /** Number of the question. */
  readonly number: number;
  readonly results: readonly CheckResult[];
  /** Services about which the neighbour will say nothing. */
  readonly unknown: readonly number[];
}

/** The channels of a node: of the questions to it, and of the answers to its own. Its name is no region's, which has no colon. */
export function neighbourChannels(
  prefix: string,
  node: string,
): { readonly questions: string; readonly answers: string } {
  const channel = (what: string) => `${prefix}:{rechecks}:${what}:${node}`;
  return { questions: channel('questions'), answers: channel('answers') };
}

export const formatQuestion = (question: Question): string => JSON.stringify(question);

/** Null: the text is no question. */
export function readQuestion(text: string): Question | null {
  const { from, number, serviceIds } = readObject(text);
  return typeof from === 'string' && isNodeName(from) && isNumber(number) && isNumbers(serviceIds)
    ? { from, number, serviceIds }
    : null;
}

export function formatAnswer({ number, results, unknown }: Answer, node: string, region: string): string {
  if (results.length === 0) return JSON.stringify({ number, unknown });
  const ruled = results.map((result) => ({ result, suspect: false, region }));
  const { head, numbers } = encodeResults({ node, clockOffsetMs: 0, region, results: ruled });
  return JSON.stringify({ number, unknown, head, numbers: numbers.toString('base64') });
}

/** Null: the text is no answer, or that of a version whose results cannot be read. */
export function readAnswer(text: string): Answer | null {
  const { number, unknown, head, numbers } = readObject(text);
  if (!isNumber(number) || !isNumbers(unknown)) return null;
  if (head === undefined) return { number, results: [], unknown };
  if (typeof head !== 'string' || typeof numbers !== 'string') return null;
  const decoded = decodeResults(head, Buffer.from(numbers, 'base64'));
  return decoded === null ? null : { number, results: decoded.results.map(({ result }) => result), unknown };
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
/** No node asks about more, and to each ID of a question an answer goes back. */
const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length <= MAX_ASKED && value.every(isNumber);
