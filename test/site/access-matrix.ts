/**
 * Who may send which request, as `docs/access.md` shows it: `npm run access` writes the file from the URL table.
 * `test/http/route.test.ts` and `test/web/roles.test.ts` send these requests to the site with each kind of key and role.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { includesRole, isRole, KEY_SCOPES, ROLES } from '../../src/domain/role.ts';
import { type Access, includesScope, type Route, scopeOf } from '../../src/http/route.ts';
import { startApi } from './site-world.ts';

/** The file. */
export const MATRIX_FILE = join(import.meta.dirname, '../../docs/access.md');

const YES = 'yes';
const MARK = '<!-- from here on by npm run access -->';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  /** False: the route reads no keys, and does not count requests. */
  readonly isCounted: boolean;
}

/** Every request of the URL table: the methods that are read or written, and forms, which take any method. */
function requestsOf(routes: readonly Route[]): Request[] {
  return routes.flatMap(({ path, access, bucket, anyMethod, handle, writes = {} }) => {
    const common = { path, isCounted: bucket !== 'none' };
    const reads = handle === undefined ? [] : [{ ...common, method: anyMethod ? 'any' : 'GET', access }];
    const changes = Object.entries(writes).map(([method, operation]) => ({
      ...common,
      ...{ method, access: operation.access },
    }));
    return [...reads, ...changes];
  });
}

/** What a key is answered. `scope` null: no key. */
function answerToKey({ access, isCounted }: Request, scope: string | null): string {
  if (!isCounted) return YES;
  const needed = scopeOf(access);
  if (needed === null || (scope === null && access === 'everyone')) return YES;
  if (scope === null) return '401';
  return includesScope([scope], needed) ? YES : '403';
}

/** What a member of the account is answered. */
function answerToRole(access: Access, role: (typeof ROLES)[number]): string {
  const needed = typeof access === 'object' && 'member' in access ? access.member : 'viewer';
  return isRole(needed) && includesRole(role, needed) ? YES : '403';
}

/** Requests below headings that say how they are answered, one list for all that are answered alike. */
function lists(
  heads: readonly string[],
  requests: readonly Request[],
  answer: (one: Request) => readonly string[],
): string {
  const alike = Map.groupBy(requests, (one) =>
    answer(one)
      .map((word, index) => `${heads[index]} ${word}`)
      .join(', '),
  );
  return [...alike].map(([title, some]) => `### ${title}\n\n${listOf(some)}`).join('\n\n');
}

const nameOf = ({ method, path }: Request) => `\`${method} ${path}\``;
const isForMembers = ({ access }: Request) =>
  access === 'members' || (typeof access === 'object' && 'member' in access);

const listOf = (requests: readonly Request[]) => requests.map((one) => `- ${nameOf(one)}`).join('\n');

/** The lists, in Markdown. */
export function accessMatrix(routes: readonly Route[]): string {
  const requests = requestsOf(routes);
  const secret = requests.filter(({ access }) => access === 'secret');
  const members = requests.filter(isForMembers);
  const others = requests.filter((one) => !secret.includes(one) && !members.includes(one));
  const roles = ROLES.toReversed();
  return [
    '## By key',
    lists(['no key', ...KEY_SCOPES.map((scope) => `\`${scope}\``)], others, (one) =>
      [null, ...KEY_SCOPES].map((scope) => answerToKey(one, scope)),
    ),
    '## By role',
    lists(roles, members, ({ access }) => roles.map((role) => answerToRole(access, role))),
    '## By a secret in the path',
    listOf(secret),
  ].join('\n\n');
}

/** The text of the file with these lists: what stands above them is written by hand. */
export function withMatrix(text: string, matrix: string): string {
  const [above = ''] = text.split(MARK);
  return `${above}${MARK}\n\n${matrix}\n`;
}

if (import.meta.main) {
  const world = await startApi();
  const text = readFileSync(MATRIX_FILE, 'utf8');
  writeFileSync(MATRIX_FILE, withMatrix(text, accessMatrix(world.api.routes)));
  await world.close();
}
