/** `/dashboard/members`: the members of an account and the invitations to it. `/dashboard/switch`: another account. */

import { SESSION_MS } from '../../auth/sessions.ts';
import { ROLES } from '../../domain/role.ts';
import { seeOther } from '../../http/form.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import {
  inviteMember,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from '../../resources/members/members.ts';
import {
  changeContext,
  type DashboardSources,
  memberOf,
  type RefusedForm,
  type ShowPage,
  viewForms,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { requireForm, type Visitor } from './sign-in-pages.ts';

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
    return show(
      './dashboard-members',
      {
        title: texts.title,
        forms: viewForms(refused),
        roles: ROLES,
        self: session.personId,
        link: secret === null ? null : `${siteUrl}/invitations/${secret}`,
        members: members.map((member) => ({ ...member, since: [time(member.since)] })),
        invitations: invitations.map((invitation) => ({
          ...invitation,
          expires: texts.expiresAt(time(invitation.expiresAt)),
        })),
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = visitorForms(sources, PATH, page);

  return [
    visitorRoute(sources, PATH, (session) => page(session, null)),
    form(
      'invite',
      async (_, session, fields) => {
        const invitation = { inviterId: session.personId, role: fields.get('role') ?? '' };
        const outcome = await inviteMember(context, memberOf(session), invitation);
        return outcome.ok ? await page(session, null, outcome.value.secret) : outcome;
      },
      'owner',
    ),
    form(
      'withdraw',
      (_, session, fields) => withdrawInvitation(context, memberOf(session), numberIn(fields, 'id')),
      'owner',
    ),
    form(
      'role',
      (_, session, fields) =>
        setMemberRole(context, memberOf(session), numberIn(fields, 'person'), fields.get('role') ?? ''),
      'owner',
    ),
    form(
      'remove',
      (_, session, fields) =>
        removeMember(context, memberOf(session), numberIn(fields, 'person'), session.personId),
      'owner',
    ),
    form(
      'leave',
      async (_, session) => {
        const { personId } = session;
        const outcome = await removeMember(context, memberOf(session), personId, personId);
        if (!outcome.ok) return outcome;
        // The sessions in the account have ended; the person goes on in another account, if there is one.
        if ((await registry.membershipsOf(personId)).length === 0) return seeOther('/sign-in');
        const { token } = await sessions.open(personId);
        return seeOther('/dashboard', sources.cookie.write(token, SESSION_MS / 1_000));
      },
      'viewer',
    ),
    {
      path: '/dashboard/switch',
      bucket: 'pages',
      access: 'members',
      anyMethod: true,
      async handle(request) {
        const { token, form: fields } = await requireForm(request, sources);
        if (!(await sessions.switchAccount(token, numberIn(fields, 'account'))))
          throw new HttpError('forbidden_role', 'You are no member of this account.');
        return seeOther('/dashboard');
      },
    },
  ];
}

function numberIn(fields: ReadonlyMap<string, string>, name: string): number {
  return Number(fields.get(name)) || 0;
}
