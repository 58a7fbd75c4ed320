/** The distribution's Chromium for tests: how it is started, how people view pages, and what axe reports. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { hasProgram } from './install-servers.ts';

/** The same engine without windows; the whole browser takes seven times its CPU time for a page. */
const EXECUTABLE = ['chromium-headless-shell', 'chromium'].find(hasProgram);

/** What a page shows where its template names a value that is not there. */
export const UNFILLED = /\b(?:undefined|NaN|Infinity)\b|\[object /;

/** Options of a test that needs the browser. */
export const NEEDS_BROWSER =
  EXECUTABLE === undefined ? { skip: 'Chromium is missing: apt-get install chromium-headless-shell' } : {};

/** How people look at pages. */
export const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1_280, height: 900 }, rules: 'all' },
  // The same elements in other colours, and the same colours in another order: what differs is looked at.
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1_280, height: 900 }, rules: 'colours' },
  { name: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 }, rules: 'all but colours' },
] as const;

/** Which of axe's rules: to compare the colours of everything takes most of its time. */
export type AxeRules = 'all' | 'colours' | 'all but colours';

const AXE_OPTIONS: Readonly<Record<AxeRules, object>> = {
  all: {},
  colours: { runOnly: ['color-contrast'] },
  'all but colours': { rules: { 'color-contrast': { enabled: false } } },
};
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What a page may need on a busy machine, milliseconds. */
const PATIENCE_MS = 60_000;

/** Starts it. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: `/usr/bin/${EXECUTABLE}`,
    args: ['--no-sandbox', '--disable-quic'],
    // A test may live by a clock of its own (`wall-clock.ts`); the browser does not start by it.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'LD_PRELOAD')),
    timeout: PATIENCE_MS,
  });
}

/** What axe finds on the page, a line each. */
export async function findFaults(page: Page, rules: AxeRules = 'all'): Promise<string[]> {
  // What it would load again are styles and media, of which only rules that are not tried know.
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...AXE_OPTIONS[rules] });
  const isLoaded = await page.evaluate('typeof axe === "object"');
  const violations = (await page.evaluate(
    `${isLoaded ? '' : AXE}; axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as Finding[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`),
  );
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Signs in with the provider of `identity-server.ts`, under that name. */
export async function signIn(page: Page, siteUrl: string, name: string): Promise<void> {
  await page.goto(`${siteUrl}/sign-in`);
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${siteUrl}/dashboard`);
}
