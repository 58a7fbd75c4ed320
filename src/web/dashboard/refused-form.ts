/** Forms of the dashboard that are refused: the problem is shown beside its field, and the input is kept. */
import type { Refusal } from '../../domain/refusal.ts';
import type { HttpResponse } from '../../http/route.ts';
import type { Words } from '../language/english.ts';
import { escapeMarkup } from '../language/phrase.ts';

/** The problem of one field. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: Problem;
}

/** A problem: a refusal, or a sentence in the language of the page. */
export type Problem = Refusal | string;

/** What a form comes to: an answer, back to its page (null), or a problem; a {@link Problem} alone concerns no field. */
export type FormOutcome = HttpResponse | FieldProblem | Problem | null;

/** A form that was not taken. */
export interface RefusedForm {
  /** Name of the form on its page. */
  readonly form: string;
  /** Null: the problem concerns no field. */
  readonly field: string | null;
  /** In the language of the page. */
  readonly problem: string;
  readonly typed: ReadonlyMap<string, string>;
}

/** Whether an outcome is a problem, of a field or of the form as a whole. */
export function isProblem(outcome: FormOutcome): outcome is FieldProblem | Problem {
  return typeof outcome === 'string' || (outcome !== null && ('field' in outcome || 'code' in outcome));
}

/** The form as refused; `words` are those of the page. */
export function refuseForm(
  form: string,
  typed: ReadonlyMap<string, string>,
  outcome: FieldProblem | Problem,
  words: Words['dashboard'],
): RefusedForm {
  const isOfField = typeof outcome !== 'string' && 'field' in outcome && !('code' in outcome);
  const { field, problem } = isOfField ? outcome : { field: null, problem: outcome };
  return { form, field, problem: sayProblem(problem, words), typed };
}

/** A problem in the language of the page. */
export function sayProblem(problem: Problem, { refusal }: Words['dashboard']): string {
  return typeof problem === 'string' ? problem : refusal(problem);
}

/** A problem of one field, where there is one. */
export function ofField(field: string, problem: Problem | null): FieldProblem | null {
  return problem === null ? null : { field, problem };
}

/** The forms of a page as its template reads them. */
export function viewForms(refused: RefusedForm | null) {
  const problemOf = (form: string, field: string) =>
    refused?.form === form && refused.field === field ? refused.problem : null;
  return {
    /** A problem that concerns no field; null: there is none. */
    problem: refused?.field === null ? refused.problem : null,
    /** The input of a field, or its value otherwise. */
    typed: (form: string, field: string, otherwise = '') =>
      refused?.form === form ? (refused.typed.get(field) ?? otherwise) : otherwise,
    /** Attributes of a field with a problem, markup. */
    mark: (form: string, field: string) =>
      problemOf(form, field) === null
        ? ''
        : ` aria-invalid="true" aria-describedby="problem-${form}-${field}" autofocus`,
    /** The problem beside its field, markup. */
    note(form: string, field: string) {
      const problem = problemOf(form, field);
      return problem === null
        ? ''
        : `<p class="problem" id="problem-${form}-${field}" role="alert">${escapeMarkup(problem)}</p>`;
    },
  };
}
