/** The form of a service, new or stored: its fields, what it asks for, and the trial of the check that it shows. */

import { CATEGORIES, type Category } from '../../domain/category.ts';
import { formatDuration } from '../../domain/durations.ts';
import { type CheckDefinition, MONITORING_KINDS } from '../../domain/service.ts';
import { latestCheckOf } from '../../domain/status/judge.ts';
import { HttpError } from '../../http/problem.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { type EnteredService, type Trial, tryEnteredCheck } from '../../resources/services/new-service.ts';
import type { ServiceChanges } from '../../resources/services/services.ts';
import type { Language } from '../language/language.ts';
import { explainStatus, STATUS_SHAPES } from '../parts/verdict.ts';
import { membersOf, settingsOf, viewSettings } from './check-fields.ts';
import {
  type DashboardSources,
  type FormFields,
  type FormProblems,
  memberOf,
  type RefusedForm,
  viewForms,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

/** What the form of a service shows at first. */
export interface ShownService {
  readonly domain: string;
  readonly name: string;
  readonly category: Category;
  readonly check: CheckDefinition;
  readonly publicDependencies?: boolean;
}

/** The fields for the template `service-fields`. A form that chose another kind has the fields of that kind. */
export function viewServiceForm(
  shown: ShownService,
  filled: RefusedForm | null,
  { language }: Pick<Visitor, 'language'>,
  { bounds, limits }: Pick<DashboardSources, 'bounds' | 'limits'>,
) {
  const { check } = shown;
  const chosen = filled?.form === 'save' ? filled.typed.get('kind') : undefined;
  const kind = MONITORING_KINDS.find((one) => one === chosen) ?? check.kind;
  return {
    shown,
    kind,
    forms: viewForms(filled),
    settings: viewSettings(shown, filled, language, bounds),
    categories: CATEGORIES,
    period: check.periodMs === undefined ? '' : formatDuration(check.periodMs),
    grace: check.graceMs === undefined ? '' : formatDuration(check.graceMs),
    takesHeartbeats: kind === 'heartbeat',
    usualPeriod: formatDuration(limits().silenceMs),
    usualZone: 'UTC',
  };
}

/** A form that is shown again as it was filled in, without a refusal. */
export function filledForm(typed: FormFields): RefusedForm {
  return { form: 'save', problems: {}, typed };
}

/** The changes that the form asks for. */
export function changesIn(fields: FormFields): ServiceChanges {
  return {
    name: fields.get('name'),
    category: fields.get('category'),
    kind: fields.get('kind'),
    settings: settingsOf(fields),
    accept: fields.get('accept'),
    ...membersOf(fields),
    ...heartbeatFields(fields),
    publicDependencies: fields.get('dependencies') === 'public',
  };
}

/** The fields of heartbeats. An empty field means the default; the forms of other kinds have none, and change nothing. */
function heartbeatFields(
  fields: FormFields,
): Pick<ServiceChanges, 'period' | 'grace' | 'schedule' | 'timezone'> {
  const hasFields = fields.get('kind') === 'heartbeat' || fields.has('period');
  const read = (name: string) => (hasFields ? fields.get(name) || null : undefined);
  return {
    period: read('period'),
    grace: read('grace'),
    schedule: read('schedule'),
    timezone: read('timezone'),
  };
}

/** Tries the check of a form once; a limit that is reached is a problem of the form. */
export async function tryForm(
  sources: Pick<DashboardSources, 'destinations' | 'bounds' | 'tryCheck' | 'charge'>,
  session: Visitor,
  entered: EnteredService,
  before?: CheckDefinition,
): Promise<Outcome<Trial> | { readonly problems: FormProblems }> {
  try {
    return await tryEnteredCheck(sources, memberOf(session), entered, before);
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'rate_limited') throw error;
    const seconds = Number(error.members.retry_after);
    return { problems: { form: session.language.texts.checks.trialsUsed(seconds) } };
  }
}

/** A trial for the template. */
export function viewTrial({ attempt, verdict }: Trial, language: Language) {
  const { checks, service, status } = language.texts;
  const { suspect, failure, responseTimeMs, statusCode } = attempt;
  const why =
    suspect !== null && failure !== null
      ? checks.trialFault(service.failure(failure))
      : explainStatus({ status: verdict, latest: latestCheckOf(attempt, verdict) }, language);
  const figures = [
    ...(statusCode === 0 ? [] : [`HTTP ${statusCode}`]),
    ...(responseTimeMs === null ? [] : [language.formats.milliseconds(responseTimeMs)]),
  ];
  const shown = suspect === null ? verdict : 'unknown';
  return {
    status: shown,
    word: status[shown],
    shape: STATUS_SHAPES[shown],
    figures: figures.join(', '),
    why,
  };
}
