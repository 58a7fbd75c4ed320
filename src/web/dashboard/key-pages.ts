/** `/dashboard/keys`: the API keys of an account, for its owners. */

import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from '../../domain/role.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { age, time } from '../../language/phrase.ts';
import { addKey, listKeys, revokeKey } from '../../resources/keys/keys.ts';
import {
  changeContext,
  type DashboardSources,
  numberIn,
  type RefusedForm,
  type ShowPage,
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
    const keys = await listKeys(context, session);
    return show('./dashboard-keys', session, refused, {
      title: dashboard.keys,
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
    });
  };

  const form = visitorForms(sources, PATH, page, 'owner');

  return [
    visitorRoute(sources, PATH, 'owner', (session) => page(session, null)),
    form('add', async (_, session, fields) => {
      const scopes = (fields.get('scopes') ?? DEFAULT_SCOPES.join(' ')).split(' ');
      const input = { name: fields.get('name') ?? '', expires: fields.get('expires') ?? '90d', scopes };
      const outcome = await addKey(context, session, input);
      if (!outcome.ok) return outcome;
      const { key, record } = outcome.value;
      const title = session.language.texts.dashboard.newKey;
      const { name, scopes: given } = record;
      return show('./dashboard-key', session, null, { title, name, key, beats: given.includes('heartbeat') });
    }),
    form('revoke', async (_, session, fields) => revokeKey(context, session, numberIn(fields, 'id'))),
  ];
}
