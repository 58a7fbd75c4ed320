/**
 * The form of a service, new or stored: its fields, those of its check, what it asks for, and the trial of the check that it shows.
 * `/dashboard/services/new`: adds a service with all that its check needs.
 */

import { formatDuration } from '../../domain/durations.ts';
import { hostInUrl } from '../../domain/host-name.ts';
import { CATEGORIES, DEFAULT_CHECK, MONITORING_KINDS, type Service } from '../../domain/service.ts';
import { latestCheckOf } from '../../domain/status/judge.ts';
import { seeOther } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { MEMBER_NAMES, memberTexts } from '../../kinds/check-members.ts';
import { settingFields, settingTexts } from '../../kinds/settings.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { mergePatch } from '../../resources/kit/read-document.ts';
import { type CheckBounds, MONITORING_MEMBERS } from '../../resources/services/check-document.ts';
import { addOrClaim, type Trial, tryService } from '../../resources/services/new-service.ts';
import {
  ServiceDocumentSchema,
  serviceDocumentOf,
  TEXT_MEMBERS,
} from '../../resources/services/service-document.ts';
import {
  atTexts,
  patchOfTexts,
  type ServicePatch,
  type SettingTexts,
} from '../../resources/services/service-texts.ts';
import { needsProof } from '../../resources/services/services.ts';
import type { DefinedService } from '../../store/ports/services.ts';
import type { Language, LanguageTexts } from '../language/language.ts';
import { explainStatus, STATUS_SHAPES } from '../parts/verdict.ts';
import {
  changeContext,
  type DashboardSources,
  describeRefusals,
  type FormFields,
  type FormProblems,
  formRoute,
  type LabelOf,
  type RefusedForm,
  type ShowPage,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

const PREFIX = 'settings.';
/** Fields that remove a credential begin with this. */
const REMOVAL = 'remove.';

/** The settings in a form, as texts by their names; null: remove the credential. */
function settingsOf(fields: FormFields): SettingTexts {
  const entered = [...fields].filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(
    entered.map(([name, text]) => {
      const setting = name.slice(PREFIX.length);
      return [setting, text === '' && fields.has(`${REMOVAL}${setting}`) ? null : text];
    }),
  );
}

/** A field that every kind may have. */
interface CommonField {
  readonly hint?: string | undefined;
  /** The texts to choose from; absent: any text is entered. */
  readonly words?: readonly string[];
  readonly isLong?: boolean;
}

interface FieldRange {
  readonly bounds: CheckBounds;
  /** The usual period of heartbeats, milliseconds. */
  readonly silenceMs: number;
  /** The services that the service may depend on. */
  readonly others: readonly Service[];
}

/**
 * The fields for the template, with what was entered in a refused form. A refused form that chose another kind has the fields of that
 * kind.
 */
function viewSettings(
  service: DefinedService,
  refused: RefusedForm | null,
  { texts: { checks } }: LanguageTexts,
  { bounds, silenceMs, others }: FieldRange,
) {
  const { check, domain } = service;
  const typed = refused?.form === 'save' ? refused.typed : null;
  const kind = MONITORING_KINDS.find((one) => one === typed?.get('kind')) ?? check.kind;
  const { settings, sealed = {} } = kind === check.kind ? check : DEFAULT_CHECK;
  const texts = settingTexts(settings);
  const fields = settingFields(kind).map(({ name, input, secret, choices, required }) => ({
    key: `${PREFIX}${name}`,
    label: checks.setting.get(name) ?? name,
    input,
    secret,
    // Null: there is no credential to remove.
    removal: Object.hasOwn(sealed, name) ? `${REMOVAL}${name}` : null,
    required,
    // A credential is not shown again, even if the form is refused.
    value: secret ? '' : (typed?.get(`${PREFIX}${name}`) ?? texts[name] ?? ''),
    hint: secret ? (Object.hasOwn(sealed, name) ? checks.keptSecret : '') : checks.standard,
    choices:
      input === 'yes'
        ? [
            // The label of `plain` asks for the opposite: whether TLS is used.
            { value: String(name !== 'plain'), text: checks.yes },
            { value: String(name === 'plain'), text: checks.no },
          ]
        : choices.map((value) => ({ value, text: value })),
  }));
  /** A field that every kind, or some of them, have. */
  const common = (
    key: string,
    label: string,
    stored: string,
    { hint = '', words = [], isLong = false }: CommonField,
  ) => ({
    ...{ key, label, input: isLong ? 'area' : words.length === 0 ? 'text' : 'choice' },
    secret: false,
    removal: null,
    required: false,
    value: typed?.get(key) ?? stored,
    hint,
    choices: words.map((value) => ({ value, text: value })),
  });
  const document = serviceDocumentOf(service);
  const own = memberTexts(check);
  const hints = { ...memberTexts(bounds.usual), regions: bounds.regions().join(' ') };
  const usualPath = REQUESTED_PATHS.get(kind);
  const members = MEMBER_NAMES.filter((name) => kind !== 'heartbeat' || name === 'slowOver');
  return [
    ...fields,
    ...(usualPath !== undefined
      ? [common('url', checks.url, check.url ?? '', { hint: `https://${hostInUrl(domain)}${usualPath}` })]
      : []),
    ...(kind === 'root'
      ? [common('method', checks.method, check.method ?? '', { words: ['HEAD', 'GET'] })]
      : []),
    ...(ACCEPTING_KINDS.has(kind)
      ? [common('accept', checks.accept, (check.accept ?? []).join(' '), { hint: '2xx 401' })]
      : []),
    ...members.map((name) => common(name, checks.member[name], own[name] ?? '', { hint: hints[name] })),
    ...TEXT_MEMBERS.filter((name) => kind === 'heartbeat' || !Object.hasOwn(MONITORING_MEMBERS, name)).map(
      (name) => {
        const isLong = ServiceDocumentSchema.properties[name].format === 'plain-text';
        const hint = name === 'period' ? formatDuration(silenceMs) : HINTS.get(name);
        return common(name, checks.member[name], document[name] ?? '', { hint, isLong });
      },
    ),
    {
      ...common('dependsOn', checks.member.dependsOn, (document.dependsOn ?? []).join(' '), {}),
      list: others.map(({ slug, name }) => ({ value: slug, text: name })),
    },
  ];
}

/** Examples of texts of a service. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['grace', '0s'],
  ['schedule', '30 3 * * 1-5'],
  ['timezone', 'UTC'],
]);

/** Kinds that request an address, and what they request without `check.url`. */
const REQUESTED_PATHS: ReadonlyMap<string, string> = new Map([
  ['root', '/'],
  ['health', '/api/health'],
  ['http', '/'],
]);
/** Kinds that judge the status of an HTTP response by `accept`. */
const ACCEPTING_KINDS: ReadonlySet<string> = new Set(['root', 'http']);

/** The labels of settings and members of a check in the form of a service. */
export function checkLabels({ language }: { readonly language: LanguageTexts }): LabelOf {
  const { checks } = language.texts;
  const others = new Map([...Object.entries(checks.member), ['url', checks.url]]);
  return (name) => others.get(name) ?? checks.setting.get(name);
}

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
