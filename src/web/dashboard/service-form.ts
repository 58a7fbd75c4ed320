/**
 * The form of a service, new or stored: its fields, what it asks for, and the trial of the check that it shows.
 * `/dashboard/services/new`: adds a service with all that its check needs.
 */
import { CATEGORIES } from '../../domain/category.ts';
import { DEFAULT_CHECK, MONITORING_KINDS, type Service } from '../../domain/service.ts';
import { latestCheckOf } from '../../domain/status/judge.ts';
import { seeOther } from '../../http/form.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { mergePatch } from '../../resources/kit/read-document.ts';
import { addOrClaim, type Trial, tryService } from '../../resources/services/new-service.ts';
import { serviceDocumentOf } from '../../resources/services/service-document.ts';
import { atTexts, patchOfTexts, type ServicePatch } from '../../resources/services/service-texts.ts';
import { needsProof } from '../../resources/services/services.ts';
import type { DefinedService } from '../../store/ports/services.ts';
import type { Language } from '../language/language.ts';
import { explainStatus, STATUS_SHAPES } from '../parts/verdict.ts';
import { checkLabels, settingsOf, viewSettings } from './check-fields.ts';
import {
  changeContext,
  type DashboardSources,
  describeRefusals,
  type FormFields,
  type FormProblems,
  formRoute,
  type RefusedForm,
  type ShowPage,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

/** The fields for the template `service-fields`; `own`: the services of the account. A form that chose another kind has the fields of that kind. */
export function viewServiceForm(
  shown: DefinedService,
  filled: RefusedForm | null,
  { language }: Pick<Visitor, 'language'>,
  { bounds, limits, own }: DashboardSources & { readonly own: readonly Service[] },
) {
  const { check } = shown;
  const chosen = filled?.form === 'save' ? filled.typed.get('kind') : undefined;
  const kind = MONITORING_KINDS.find((one) => one === chosen) ?? check.kind;
  return {
    shown,
    kind,
    settings: viewSettings(shown, filled, language, {
      bounds,
      silenceMs: limits().silenceMs,
      others: own.filter(({ domain }) => domain !== shown.domain),
    }),
    categories: CATEGORIES,
    takesHeartbeats: kind === 'heartbeat',
  };
}

/** A form that is shown again as it was filled in, without a refusal. */
export function filledForm(typed: FormFields): RefusedForm {
  return { form: 'save', problems: {}, typed };
}

/** The patch of the document of a service that the form asks for. */
export function patchIn(fields: FormFields): ServicePatch {
  const kind = MONITORING_KINDS.find((one) => one === fields.get('kind'));
  const texts = {
    ...Object.fromEntries(fields),
    // The method is a root check's; a form that chooses another kind does not set it.
    method: kind === 'root' ? fields.get('method') : undefined,
    publicDependencies: fields.get('dependencies') === 'public',
  };
  return patchOfTexts(texts, settingsOf(fields), kind);
}

/** The outcome with refusals of a document at the fields of the form. */
export function atFields<T>(outcome: Outcome<T>, fields: FormFields): Outcome<T> {
  return atTexts(outcome, settingsOf(fields));
}

/** The document of a new service. A blank name stands for the domain; a URL is pasted from the browser for its host. */
function documentIn(fields: FormFields): object {
  const { name, ...patch } = patchIn(fields);
  const typed = fields.get('domain') ?? '';
  const pasted = /^https?:\/\//i.test(typed.trim()) ? URL.parse(typed.trim())?.hostname : undefined;
  const given = String(name ?? '').trim() === '' ? {} : { name };
  return Object(mergePatch({}, { ...given, ...patch, domain: pasted ?? typed }));
}

/** Tries the check of a form once; a limit that is reached is a problem of the form. */
export async function tryForm(
  sources: DashboardSources,
  session: Visitor,
  fields: FormFields,
  service: Service | null,
): Promise<Outcome<Trial> | { readonly problems: FormProblems }> {
  try {
    // The name does not matter to the check.
    const { name: _, category: __, ...patch } = patchIn(fields);
    const member = session;
    const outcome =
      service === null
        ? await tryService(sources, member, documentIn(fields))
        : await tryService(sources, member, mergePatch(serviceDocumentOf(service), patch), {
            before: service.check,
            slug: service.slug,
            patch,
          });
    return atFields(outcome, fields);
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'rate_limited') throw error;
    const seconds = Number(error.members.retry_after);
    return { problems: { form: session.language.texts.checks.trialsUsed(seconds) } };
  }
}

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

const PATH = '/dashboard/services/new';

/** The content of the page beside the fields. */
interface Shown {
  readonly trial?: Trial;
  /** A domain that has to be proved first. */
  readonly toProve?: string;
  /** The choice of a link. */
  readonly query?: URLSearchParams;
}

export function newServicePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { proofs } = sources;
  const context = changeContext(sources);

  const page = async (
    session: Visitor,
    filled: RefusedForm | null,
    { trial, toProve, query }: Shown = {},
  ): Promise<HttpResponse> => {
    const { language, accountId } = session;
    const kind = MONITORING_KINDS.find((one) => one === query?.get('kind')) ?? DEFAULT_CHECK.kind;
    const domain = query?.get('domain') ?? '';
    const check = { ...DEFAULT_CHECK, kind };
    const shown = { domain, name: '', category: 'developer', paused: false, check } as const;
    const own = await sources.registry.servicesOf(accountId);
    return show('./dashboard-new-service', session, filled, {
      title: language.texts.dashboard.addService,
      ...viewServiceForm(shown, filled, session, { ...sources, own }),
      trial: trial === undefined ? null : viewTrial(trial, language),
      proof: toProve === undefined ? null : proofs.instructions(accountId, toProve),
    });
  };

  return [
    visitorRoute(sources, PATH, 'editor', (session, request) =>
      page(session, null, { query: new URLSearchParams(request.query) }),
    ),
    formRoute<Visitor>(sources, {
      path: `${PATH}/save`,
      name: 'save',
      find: (_request, session) => session,
      labels: (_, session) => checkLabels(session),
      async take(_, session, fields) {
        if (fields.has('show')) return page(session, filledForm(fields));
        if (fields.has('try')) {
          const outcome = await tryForm(sources, session, fields, null);
          if ('problems' in outcome || !outcome.ok) return outcome;
          return page(session, filledForm(fields), { trial: outcome.value });
        }
        const outcome = atFields(await addOrClaim(context, session, documentIn(fields)), fields);
        if (outcome.ok) return seeOther(`/dashboard/services/${outcome.value.slug}?saved=new`);
        const [toProve] = needsProof(outcome)
          ? outcome.refusals.flatMap(({ refusal }) => ('domain' in refusal ? [refusal.domain] : []))
          : [];
        if (toProve === undefined) return outcome;
        const refused = {
          form: 'save',
          problems: describeRefusals(outcome, session, checkLabels(session)),
          typed: fields,
        };
        return page(session, refused, { toProve });
      },
      back: () => PATH,
      page: (_, session, refused) => page(session, refused),
    }),
  ];
}
