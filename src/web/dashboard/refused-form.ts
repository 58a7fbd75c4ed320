/** Forms of the dashboard that are not taken: the problem stands beside its field, and what was written stays. */
import type { HttpResponse } from '../../http/route.ts';
import { escapeMarkup } from '../language/phrase.ts';

/** What is wrong with one field. */
export interface FieldProblem {
  readonly field: string;
  /** A sentence in English or in the words of the page; see `refusal` of the language. */
  readonly problem: string;
}

/** What a form comes to: an answer, back to its page (null), or a problem; a sentence alone concerns no field. */
export type FormOutcome = HttpResponse | FieldProblem | string | null;

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
export function isProblem(outcome: FormOutcome): outcome is FieldProblem | string {
  return typeof outcome === 'string' || (outcome !== null && 'problem' in outcome);
}

/** The form as refused; `refusal` says the problem in the language of the page. */
export function refuseForm(
  form: string,
  typed: ReadonlyMap<string, string>,
  outcome: FieldProblem | string,
  refusal: (text: string) => string,
): RefusedForm {
  const { field, problem } = typeof outcome === 'string' ? { field: null, problem: outcome } : outcome;
  return { form, field, problem: refusal(problem), typed };
}

/** A problem of one field, where there is one. */
export function ofField(field: string, problem: string | null): FieldProblem | null {
  return problem === null ? null : { field, problem };
}

/** What a template asks of the forms on its page. */
export function viewForms(refused: RefusedForm | null) {
  const problemOf = (form: string, field: string) =>
    refused?.form === form && refused.field === field ? refused.problem : null;
  return {
    /** A problem that concerns no field; null: there is none. */
    problem: refused?.field === null ? refused.problem : null,
    /** What was written into a field, or what stands there otherwise. */
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
