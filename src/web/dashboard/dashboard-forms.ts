/**
 * The common parts of the dashboard's pages: their sources and forms. A form makes a change and redirects to its page,
 * or shows the page with the refusals.
 */

import type { DomainProofs } from '../../auth/domain-proof.ts';
import type { Clock } from '../../clock.ts';
import type { DestinationsOf } from '../../domain/allowed-destinations.ts';
import { describeRefusal, type Refusal } from '../../domain/refusal.ts';
import type { Role } from '../../domain/role.ts';
import { seeOther } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import type { ChannelKinds, SendContext } from '../../resources/channels/channels.ts';
import { type Outcome, refuseRole } from '../../resources/kit/change.ts';
import type { CheckBounds } from '../../resources/services/check-document.ts';
import type { TrialContext } from '../../resources/services/new-service.ts';
import type { Registry } from '../../store/ports/registry.ts';
import type { SampleReads } from '../../store/ports/samples.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { BadgeAddresses } from '../../view/badge-url.ts';
import type { BeginHistory } from '../../view/history-reads.ts';
import type { ApiLimits } from '../../view/monitor.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import type { Language } from '../language/language.ts';
import { type ConfirmedThing, filledPath, questionOf } from './confirmations.ts';
import { findSession, leadToSignIn, requireForm, type SignInSources, type Visitor } from './sign-in-pages.ts';

/** Slots that an account holds, and checks that wait because it may hold no more. */
export interface AccountShare {
  readonly held: number;
  readonly waiting: number;
}

export interface OwnerSources extends Pick<SignInSources, 'providers' | 'local' | 'sessions'> {
  readonly registry: Registry;
  readonly samples: SampleReads;
  readonly proofs: DomainProofs;
  readonly destinations: DestinationsOf;
  readonly bounds: CheckBounds;
  /** The kinds of channels that owners can choose. */
  readonly kinds: ChannelKinds;
  /** Reads the last part of the links in messages of alerts; null: this installation did not make it. */
  readonly acknowledgeLinks: {
    readonly read: (token: string) => { readonly accountId: number; readonly thread: string } | null;
  };
  readonly badgeAddresses: BadgeAddresses;
  /** Counts messages that an account sends manually. Throws `rate_limited` beyond the limit. */
  readonly charge: (
    what: Parameters<SendContext['charge']>[0] | 'trials',
    accountId: number,
  ) => Promise<void>;
  /** Makes one attempt of a check that an owner tries. */
  readonly tryCheck: TrialContext['tryCheck'];
  /** The share of an account whose checks wait for it in this process; null: none of them does. Absent: not known. */
  readonly shareOf?: (accountId: number) => AccountShare | null;
  /** True if the operator has configured a mail server. Default false. */
  readonly sendsMail?: boolean;
}

export interface DashboardSources extends Omit<SignInSources, 'registry'>, OwnerSources {
  readonly directory: ShownDirectory;
  readonly status: StatusReads;
  readonly beginHistory: BeginHistory;
  readonly clock: Clock;
  readonly limits: () => ApiLimits;
}

/** Shows the page that asks before a form is taken. */
export type AskFirst = (question: AskedForm, session: Visitor) => HttpResponse;

interface AskedForm {
  readonly thing: ConfirmedThing;
  /** The path to which the form is sent. */
  readonly action: string;
  readonly back: string;
  /** Null: the page names nothing. */
  readonly name: string | null;
  readonly fields: FormFields;
}

export type FormSources = Pick<SignInSources, 'sessions' | 'cookie' | 'chargeChange'> & {
  readonly askFirst?: AskFirst;
};

/** Renders a page of the account with its `forms`; the problems of a refused one give it status 400. */
export type ShowPage = (
  template: string,
  session: Visitor,
  refused: RefusedForm | null,
  data: object,
) => HttpResponse;

/** The context of changes that a member makes by forms (`src/resources/`). */
export function changeContext({
  registry,
  directory,
  proofs,
  destinations,
  bounds,
  siteUrl,
  now,
}: DashboardSources) {
  return {
    registry,
    proofs,
    destinations,
    bounds,
    siteUrl,
    now,
    findService: directory.whole.bySlug,
    findServiceById: directory.whole.byId,
    resolve: proofs.addresses,
  };
}

/** Throws `forbidden_role` if the visitor's role does not include `needed`. */
export function requireRole(session: Visitor, needed: Role): void {
  const refused = needed === 'viewer' ? null : refuseRole(session, needed);
  for (const { refusal } of refused?.refusals ?? [])
    throw new HttpError('forbidden_role', describeRefusal(refusal));
}

export type FormFields = ReadonlyMap<string, string>;

/** Problems by the name of their field, in the language of the page; `form` concerns the form as a whole. */
export type FormProblems = Readonly<Record<string, string>>;

/**
 * The outcome of a form: a response, the outcome of a change, or problems of the form such as a missing confirmation.
 */
export type FormOutcome = HttpResponse | Outcome<unknown> | { readonly problems: FormProblems };

/** A form that was refused. */
export interface RefusedForm {
  /** Name of the form on its page. */
  readonly form: string;
  readonly problems: FormProblems;
  readonly typed: FormFields;
  /** Another change came between what the form showed and what it sent. Default false. */
  readonly isOvertaken?: boolean;
}

/** A form about `Subject`, such as a service of the account. */
export interface DashboardForm<Subject> {
  readonly path: string;
  /** Name of the form on its page. */
  readonly name: string;
  /**
   * The role that the form needs; the page shows it to such members only. Default `editor`. `viewer`: every member may send
   * it.
   */
  readonly role?: Role;
  /** Finds the subject. Throws if the account has none. */
  readonly find: (request: HttpRequest, session: Visitor) => Subject | Promise<Subject>;
  readonly take: (subject: Subject, session: Visitor, fields: FormFields) => Promise<FormOutcome>;
  /** The labels of settings in the form, for messages. Absent: none. */
  readonly labels?: (subject: Subject, session: Visitor) => LabelOf;
  /** Path of the redirect after the change. */
  readonly back: (subject: Subject, fields: FormFields) => string;
  /** The page of the form with its problems. */
  readonly page: (
    subject: Subject,
    session: Visitor,
    refused: RefusedForm,
  ) => HttpResponse | Promise<HttpResponse>;
}

/**
 * The route of a page for signed-in visitors; other visitors are redirected to the sign-in page. `role`: the role that the
 * page needs; one for every member (`viewer`) shows no secrets.
 */
export function visitorRoute(
  sources: SignInSources,
  path: string,
  role: Role,
  show: (session: Visitor, request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): Route {
  return {
    path,
    bucket: 'pages',
    access: { member: role },
    async handle(request) {
      const session = await findSession(request, sources);
      if (session === null) return leadToSignIn(request, sources.siteUrl);
      requireRole(session, role);
      return await show(session, request);
    },
  };
}

export function formRoute<Subject>(
  sources: FormSources,
  { path, name, role = 'editor', find, take, labels, back, page }: DashboardForm<Subject>,
): Route {
  return {
    path,
    bucket: 'pages',
    access: { member: role },
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      requireRole(session, role);
      const subject = await find(request, session);
      const question = sources.askFirst === undefined ? null : questionOf(path, fields);
      if (question !== null && sources.askFirst !== undefined) {
        const [action, start] = [path, question.back].map((one) => filledPath(one, request.params));
        const asked = { thing: question.question, action: action ?? '', back: start ?? '', fields };
        return sources.askFirst({ ...asked, name: nameOf(subject) }, session);
      }
      const outcome = await take(subject, session, fields);
      if ('status' in outcome) return outcome;
      if ('ok' in outcome && outcome.ok) return seeOther(back(subject, fields));
      const problems =
        'ok' in outcome ? describeRefusals(outcome, session, labels?.(subject, session)) : outcome.problems;
      const isOvertaken =
        'ok' in outcome && outcome.refusals.some(({ refusal }) => refusal.code.endsWith('_stale'));
      const refused = { form: name, problems, typed: fields, isOvertaken };
      return await page(await find(request, session), session, refused);
    },
  };
}

/** The name of the subject of a form; null: it has no name. */
function nameOf(subject: unknown): string | null {
  if (typeof subject !== 'object' || subject === null) return null;
  if ('name' in subject && typeof subject.name === 'string') return subject.name;
  return 'title' in subject && typeof subject.title === 'string' ? subject.title : null;
}

/**
 * Creates the routes of the forms of a page about the account itself. `page` renders it with a refused form; `role`: as of
 * {@link DashboardForm}.
 */
export function visitorForms(
  sources: FormSources,
  path: string,
  page: (session: Visitor, refused: RefusedForm) => Promise<HttpResponse>,
  role: Role = 'editor',
) {
  return (name: string, take: DashboardForm<Visitor>['take']): Route =>
    formRoute<Visitor>(sources, {
      path: `${path}/${name}`,
      name,
      role,
      find: (_request, session) => session,
      take,
      back: () => path,
      page: (_subject, session, refused) => page(session, refused),
    });
}

export function describeRefusals(
  { refusals }: Extract<Outcome<unknown>, { readonly ok: false }>,
  { language }: Pick<Visitor, 'language'>,
  labelOf: LabelOf = () => undefined,
): FormProblems {
  return Object.fromEntries(
    refusals.map(({ field, refusal }) => [field ?? 'form', describe(refusal, language, labelOf)]),
  );
}

/** The label of a setting or a member in a form; undefined: it does not show it. */
export type LabelOf = (name: string) => string | undefined;

/** A refusal in which fields have the names that the form shows. */
function describe(refusal: Refusal, { texts }: Language, labelOf: LabelOf): string {
  const { refusal: usual, settingProblem, memberProblem } = texts.dashboard;
  const shown = (name: string) => labelOf(name)?.split(/ \(|[,;]/)[0];
  switch (refusal.code) {
    case 'check_member_invalid':
      return memberProblem(shown(refusal.member) ?? refusal.member, refusal.member, refusal.problem);
    case 'setting_invalid':
    case 'member_invalid': {
      const name = refusal.code === 'setting_invalid' ? refusal.setting : refusal.member;
      const label = shown(name.split('.').at(-1) ?? name);
      if (label === undefined) return usual(refusal);
      const { problem } = refusal;
      if ('other' in problem)
        return settingProblem(label, { ...problem, other: shown(problem.other) ?? problem.other });
      if ('example' in problem) {
        const example = problem.example.replace('secretHeaders', `"${shown('secretHeaders') ?? ''}"`);
        return settingProblem(label, { ...problem, example });
      }
      return settingProblem(label, problem);
    }
    default:
      return usual(refusal);
  }
}

/** Renames the fields of an outcome for a form that has other names for them. */
export function renameFields<T>(outcome: Outcome<T>, names: Readonly<Record<string, string>>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map(({ field, refusal }) => ({
    field: names[field ?? ''] ?? field,
    refusal,
  }));
  return { ok: false, refusals };
}

/** The rights of the visitor, for templates: forms that a role may not use are not shown. */
export function viewRights(session: Visitor) {
  return {
    mayEdit: refuseRole(session, 'editor') === null,
    mayOwn: refuseRole(session, 'owner') === null,
  };
}

/** The target of a change: `key`, with the revision that the sender of the form has seen. */
export function targetIn<Key>(key: Key, fields: FormFields) {
  return { key, revisions: [numberIn(fields, 'revision')] } as const;
}

/** The number in a field; 0: there is none. */
export function numberIn(fields: FormFields, name: string): number {
  return Number(fields.get(name)) || 0;
}

/**
 * The revision that a form sends: that of its subject, or after a refusal the one that it sent before, so that a change in the
 * meantime is still noticed. A person whose form was overtaken has been shown that.
 */
export function shownRevision(
  refused: Pick<RefusedForm, 'typed' | 'isOvertaken'> | null,
  { revision }: { readonly revision: number },
): number {
  return refused === null || refused.isOvertaken ? revision : numberIn(refused.typed, 'revision') || revision;
}

export function viewForms(refused: RefusedForm | null) {
  const [first] = Object.keys(refused?.problems ?? {});
  const problemOf = (form: string, field: string) =>
    refused?.form === form ? (refused.problems[field] ?? null) : null;
  return {
    /** The problem of the form as a whole; null: there is none. */
    problem: refused?.problems.form ?? null,
    isOvertaken: refused?.isOvertaken === true,
    /** The input of a refused field, or `otherwise`. */
    typed: (form: string, field: string, otherwise = '') =>
      refused?.form === form ? (refused.typed.get(field) ?? otherwise) : otherwise,
    /** Attributes of a field with a problem, markup. */
    mark: (form: string, field: string) =>
      problemOf(form, field) === null
        ? ''
        : ` aria-invalid="true" aria-describedby="problem-${form}-${field}"${field === first ? ' autofocus' : ''}`,
    /** The problem beside its field, markup. */
    note(form: string, field: string) {
      const problem = problemOf(form, field);
      return problem === null
        ? ''
        : `<p class="problem" id="problem-${form}-${field}" role="alert">${escapeMarkup(problem)}</p>`;
    },
  };
}
