/** Who sees a status page, and its password. */
import { findPasswordProblem, hashPassword, verifyPassword } from '../../auth/password-hash.ts';
import type { OwnedPage, PageAccess } from '../../domain/status-page.ts';
import type { PageEdit, PagePasswords } from '../../store/ports/status-pages.ts';
import { accept, type Outcome, refuse } from '../kit/change.ts';

/** Who is to see a page. */
export interface WantedReaders {
  readonly slug: string;
  readonly access: PageAccess;
  /** A new password in clear text; null or empty: that of before stays. */
  readonly password: string | null;
}

/** The stored form of a page's readers. */
export type SealedReaders = Required<Pick<PageEdit, 'access' | 'passwordHash'>>;

/** The problem of a page's readers, before anything is hashed; for the codes see {@link sealReaders}. */
export function checkReaders(
  { slug, access = 'public', password = '' }: Partial<WantedReaders> & Pick<WantedReaders, 'slug'>,
  before: Pick<OwnedPage, 'access'> | null,
): Outcome<void> {
  const isNew = password !== null && password !== '';
  if (access !== 'password')
    return isNew ? refuse({ code: 'page_password_unused' }, 'password') : accept(undefined);
  if (!isNew)
    return before?.access === 'password'
      ? accept(undefined)
      : refuse({ code: 'page_password_missing' }, 'password');
  const problem = findPasswordProblem(password, slug);
  return problem === null ? accept(undefined) : refuse(problem, 'password');
}

/**
 * Hashes the password of a page; one that the page has already stays. `before`: the page as it is; null: it is new. Refused with
 * `page_password_missing`, `page_password_unused`, `password_length` and `password_weak`.
 */
export async function sealReaders(
  { slug, access, password }: WantedReaders,
  before: Pick<OwnedPage, 'id' | 'access'> | null,
  registry?: PagePasswords,
): Promise<Outcome<SealedReaders>> {
  // Forms cut spaces at the ends, where people do not see them.
  const text = (password ?? '').trim();
  const checked = checkReaders({ slug, access, password: text }, before);
  if (!checked.ok) return checked;
  const kept = { access, passwordHash: null };
  if (text === '') return accept(kept);
  const stored = before === null ? null : ((await registry?.findPagePassword(before.id)) ?? null);
  if (stored !== null && (await verifyPassword(text, stored))) return accept(kept);
  return accept({ access, passwordHash: await hashPassword(text) });
}
