/** `/dashboard/keys`: the API keys of an account, for its owners. */

import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from '../../domain/role.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { age, time } from '../../language/phrase.ts';
import { addKey, listKeys, revokeKey } from '../../resources/keys/keys.ts';
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
import type { Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/keys';
/** The scopes that the form offers for a key, the default first. */
const SCOPE_CHOICES: readonly (readonly KeyScope[])[] = [DEFAULT_SCOPES, ['heartbeat'], ['read'], KEY_SCOPES];

export function keyPages(show: ShowPage, sources: DashboardSources): Route[] {
  const context = changeContext(sources);

  const page = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { dashboard } = session.language.texts;
    const keys = await listKeys(context, memberOf(session));
    return show(
      './dashboard-keys',
      {
        title: dashboard.keys,
        forms: viewForms(refused),
        keys: keys.map((key) => ({
          ...key,
          created: [age(key.createdAt)],
          used: [key.lastUsedAt === null ? dashboard.never : age(key.lastUsedAt)],
          scopes: key.scopes.map((scope) => dashboard.scope[scope]).join(', '),
          state:
            key.revokedAt !== null
              ? dashboard.revokedAt(time(key.revokedAt))
              : key.expiresAt === null
                ? [dashboard.noExpiry]
                : key.state === 'expired'
                  ? dashboard.expiredAt(time(key.expiresAt))
                  : dashboard.expiresAt(time(key.expiresAt)),
          isLive: key.state === 'valid',
        })),
        scopeChoices: SCOPE_CHOICES.map((chosen) => ({
          value: chosen.join(' '),
          text: chosen.map((scope) => dashboard.scope[scope]).join(', '),
        })),
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = visitorForms(sources, PATH, page);

  return [
    visitorRoute(sources, PATH, (session) => page(session, null), 'owner'),
    form(
      'add',
      async (_, session, fields) => {
        const scopes = (fields.get('scopes') ?? DEFAULT_SCOPES.join(' ')).split(' ');
        const input = { name: fields.get('name') ?? '', expires: fields.get('expires') ?? '90d', scopes };
        const outcome = await addKey(context, memberOf(session), input);
        if (!outcome.ok) return outcome;
        const { key, record } = outcome.value;
        const title = session.language.texts.dashboard.newKey;
        const { name, scopes: given } = record;
        return show('./dashboard-key', { title, name, key, beats: given.includes('heartbeat') }, session);
      },
      'owner',
    ),
    form(
      'revoke',
      async (_, session, fields) => revokeKey(context, memberOf(session), Number(fields.get('id')) || 0),
      'owner',
    ),
  ];
}
