/** `/dashboard/members`: the members of an account and the invitations to it. `/dashboard/switch`: another account. */

import { SESSION_MS } from '../../auth/sessions.ts';
import { ROLES } from '../../domain/role.ts';
import { seeOther } from '../../http/form.ts';
import { HttpError } from '../../http/problem.ts';
import { type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
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
  type RefusedForm,
  type ShowPage,
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
      setMemberRole(context, session, numberIn(fields, 'person'), fields.get('role') ?? ''),
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
