/** `/dashboard/services/new`: adds a service with all that its check needs, after a trial of the check. */

import { DEFAULT_CHECK, MONITORING_KINDS } from '../../domain/service.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { addOrClaim, type Trial } from '../../resources/services/new-service.ts';
import { needsProof } from '../../resources/services/services.ts';
import { checkLabels } from './check-fields.ts';
import {
  changeContext,
  type DashboardSources,
  describeRefusals,
  formRoute,
  type RefusedForm,
  type ShowPage,
  visitorRoute,
} from './dashboard-forms.ts';
import { atFields, documentIn, filledForm, tryForm, viewServiceForm, viewTrial } from './service-form.ts';
import type { Visitor } from './sign-in-pages.ts';

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
