/**
 * `/dashboard/members`: the members of an account and the invitations to it. `/dashboard/switch`: another account.
 * `/invitations/:secret`: the page of an invitation. A request for it changes no account, because programs follow links too:
 * only its form accepts. A visitor who is not signed in gets a cookie, and returns to the invitation after signing in.
 */
import { SESSION_MS } from '../../auth/sessions.ts';
import { ROLES } from '../../domain/role.ts';
import { seeOther } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import {
  acceptInvitation,
  inviteMember,
  openInvitation,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from '../../resources/members/members.ts';
import type { InvitationStore } from '../../store/ports/people.ts';
import type { SignInStore } from '../../store/ports/sign-in.ts';
import type { ChosenLanguage } from '../language/language.ts';
import type { RenderPage } from '../parts/views.ts';
import {
  changeContext,
  type DashboardSources,
  numberIn,
  type RefusedForm,
  type ShowPage,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import {
  findSession,
  invitationCookie,
  languageOf,
  requireForm,
  type SignInSources,
  type Visitor,
} from './sign-in-pages.ts';

const PATH = '/dashboard/members';

export function memberPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, sessions, siteUrl, now } = sources;
  const context = changeContext(sources);

  const page = async (
    session: Visitor,
    refused: RefusedForm | null,
    secret: string | null = null,
  ): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const texts = language.texts.members;
    const [members, invitations] = await Promise.all([
      registry.membersOf(accountId),
      registry.invitationsOf(accountId, now()),
    ]);
    return show('./dashboard-members', session, refused, {
      title: texts.title,
      roles: ROLES,
      self: session.personId,
      link: secret === null ? null : `${siteUrl}/invitations/${secret}`,
      members: members.map((member) => ({ ...member, since: [time(member.since)] })),
      invitations: invitations.map((invitation) => ({
        ...invitation,
        expires: texts.expiresAt(time(invitation.expiresAt)),
      })),
    });
  };

  const form = visitorForms(sources, PATH, page, 'owner');
  const everyonesForm = visitorForms(sources, PATH, page, 'viewer');

  return [
    visitorRoute(sources, PATH, 'viewer', (session) => page(session, null)),
    form('invite', async (_, session, fields) => {
      const invitation = { inviterId: session.personId, role: fields.get('role') ?? '' };
      const outcome = await inviteMember(context, session, invitation);
      return outcome.ok ? await page(session, null, outcome.value.secret) : outcome;
    }),
    form('withdraw', (_, session, fields) => withdrawInvitation(context, session, numberIn(fields, 'id'))),
    form('role', (_, session, fields) =>
      setMemberRole(context, session, numberIn(fields, 'person'), {
        role: fields.get('role') ?? '',
        seen: fields.get('seen'),
      }),
    ),
    form('remove', (_, session, fields) =>
      removeMember(context, session, numberIn(fields, 'person'), session.personId),
    ),
    everyonesForm('leave', async (_, session) => {
      const { personId } = session;
      const outcome = await removeMember(context, session, personId, personId);
      if (!outcome.ok) return outcome;
      // The sessions in the account have ended; the person goes on in another account, if there is one.
      if ((await registry.membershipsOf(personId)).length === 0) return seeOther('/sign-in');
      const { token } = await sessions.open(personId);
      return seeOther('/dashboard', sources.cookie.write(token, SESSION_MS / 1_000));
    }),
    pageRoute({ path: '/dashboard/switch', access: 'members', anyMethod: true }, async (request) => {
      const { token, form: fields } = await requireForm(request, sources);
      if (!(await sessions.switchAccount(token, numberIn(fields, 'account'))))
        throw new HttpError('forbidden_role', 'You are no member of this account.');
      return seeOther('/dashboard');
    }),
  ];
}

type InvitationSources = SignInSources & {
  readonly registry: InvitationStore & SignInStore;
};

export function invitationPages(render: RenderPage, sources: InvitationSources): Route[] {
  const cookie = invitationCookie(sources);

  const show = (
    language: ChosenLanguage,
    data: object,
    { status = 200, headers = {} }: Partial<Pick<HttpResponse, 'status' | 'headers'>> = {},
  ): HttpResponse => {
    const title = language.texts.members.invitation;
    const answer = render('./invitation', { language, title, problem: null, ...data }, status);
    // The address is a secret: it is not sent to other sites, nor kept by caches and search engines.
    const secrecy = {
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'same-origin',
      'X-Robots-Tag': 'noindex',
    };
    return { ...answer, headers: { ...answer.headers, ...secrecy, ...headers } };
  };

  const page = async (request: HttpRequest): Promise<HttpResponse> => {
    const secret = request.params.secret ?? '';
    const language = languageOf(request);
    const session = await findSession(request, sources);
    const opened = await openInvitation(sources, secret, session?.personId ?? null);
    if (!opened.ok) {
      const [first] = opened.refusals;
      const problem = first === undefined ? '' : language.texts.dashboard.refusal(first.refusal);
      return show(language, { invitation: null, problem }, { status: 404 });
    }
    const { value } = opened;
    const data = {
      invitation: value,
      expires: language.texts.members.expiresAt(time(value.expiresAt)),
      person: session?.personName ?? null,
      token: session?.formToken ?? '',
      action: `/invitations/${secret}/accept`,
      enrol: `/invitations/${secret}/setup`,
      mayEnrol: session === null && (await mayEnrol(sources)),
    };
    return session === null ? show(language, data, { headers: cookie.write(secret) }) : show(language, data);
  };

  return [
    { path: '/invitations/:secret', bucket: 'pages', access: 'secret', handle: page },
    pageRoute(
      { path: '/invitations/:secret/accept', access: 'members', anyMethod: true },
      async (request) => {
        const { session, token } = await requireForm(request, sources);
        const outcome = await acceptInvitation(sources, request.params.secret ?? '', session.personId);
        if (outcome.ok) {
          await sources.sessions.switchAccount(token, outcome.value.id);
          return seeOther('/dashboard');
        }
        const { language } = session;
        const problem = outcome.refusals
          .map(({ refusal }) => language.texts.dashboard.refusal(refusal))
          .join(' ');
        return show(language, { invitation: null, problem }, { status: 400 });
      },
    ),
  ];
}

/** Returns true if people sign in here without a provider: where the operator configured providers, only if somebody does so. */
export async function mayEnrol({ providers, registry }: InvitationSources): Promise<boolean> {
  const { hasPasskeys, hasPasswords } = await registry.signInWays();
  return providers.length === 0 || hasPasskeys || hasPasswords;
}
