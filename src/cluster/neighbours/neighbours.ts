/** The services of a node and its neighbours to each other: failures are confirmed by another node of the region. */
import type { RuledResult } from '../../domain/result.ts';
import type { Log } from '../../log.ts';
import { FailureConfirmation, type FailureConfirmationOptions } from './confirm-failures.ts';
import {
  formatAnswer,
  formatQuestion,
  neighbourChannels,
  readAnswer,
  readQuestion,
} from './neighbour-messages.ts';
import { SecondLooks, type SecondLooksOptions } from './second-looks.ts';

/** Options of {@link createNeighbours}. */
export interface NeighboursOptions
  extends Omit<FailureConfirmationOptions, 'ask'>,
    Omit<SecondLooksOptions, 'answer' | 'clock'> {
  /** Prefix of the channels in Redis. */
  readonly prefix: string;
  /** This node. */
  readonly name: string;
  readonly region: string;
  readonly publish: (channel: string, text: string) => void;
  readonly onResults: (results: readonly RuledResult[]) => void;
  readonly log: Log;
}

/** Both sides of a node. */
export function createNeighbours(options: NeighboursOptions) {
  const { prefix, name, region, publish } = options;
  const confirmation = new FailureConfirmation({
    ...options,
    ask: (neighbour, question) =>
      publish(neighbourChannels(prefix, neighbour).questions, formatQuestion({ from: name, ...question })),
  });
  const looks = new SecondLooks({
    ...options,
    answer: (neighbour, answer) =>
      publish(neighbourChannels(prefix, neighbour).answers, formatAnswer(answer, name, region)),
  });
  const own = neighbourChannels(prefix, name);
  return {
    confirmation,
    looks,
    /** The receivers of the messages of each channel of this node. */
    handlers: new Map([
      [
        own.questions,
        (text: string) => {
          const question = readQuestion(text);
          if (question !== null) void looks.take(question);
        },
      ],
      [
        own.answers,
        (text: string) => {
          const answer = readAnswer(text);
          if (answer !== null) confirmation.takeAnswer(answer);
        },
      ],
    ]),
  };
}
