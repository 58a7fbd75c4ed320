/** The theme of a page: that of `?appearance=`, which a cookie stores, otherwise that of the reader's system. */
import { readCookie } from '../../http/cookies.ts';

/** The themes that a reader can choose; `system`: that of the reader's system. */
const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const COOKIE = 'upbeat-theme';
const COOKIE_SECONDS = 31_536_000;

/** The theme of a page, and the links to the page in other ones. */
export interface ChosenTheme {
  readonly theme: Theme;
  /** True if `?appearance=` made the choice in this request; the response then stores it in a cookie. */
  readonly keepTheme: boolean;
  /** All themes, each with the relative URL of this page in it. */
  readonly themes: readonly { readonly theme: Theme; readonly href: string }[];
}

/** Chooses the theme by the query and the `Cookie` header of a request. Unknown themes are ignored. */
export function chooseTheme(query: string, cookies: string | undefined): ChosenTheme {
  const parameters = new URLSearchParams(query);
  const asked = readTheme(parameters.get('appearance') ?? '');
  const themes = THEMES.map((theme) => {
    parameters.set('appearance', theme);
    return { theme, href: `?${parameters}` };
  });
  const theme = asked ?? readTheme(readCookie(cookies, COOKIE)) ?? 'system';
  return { theme, keepTheme: asked !== null, themes };
}

/** The cookies of a response: a choice is stored for a year. */
export function themeCookies({ keepTheme, theme }: ChosenTheme): readonly string[] {
  return keepTheme ? [`${COOKIE}=${theme}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax`] : [];
}

function readTheme(text: string): Theme | null {
  return THEMES.find((theme) => theme === text) ?? null;
}
