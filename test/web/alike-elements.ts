/** Axe on pages with long lists: of siblings that differ in nothing by which it judges, it looks at a few. */
import type { Page } from 'playwright-core';
import { type AxeRules, findFaults } from '../support/browser.ts';

const MAX_ALIKE = 3;
/** Marks and hides the other ones: rows of tables, bars of charts, options. `html-validate` finds ids that are there twice. */
const HIDE_ALIKE = `(() => {
  const known = new Map();
  const judged = new Set(['class', 'role', 'type', 'style', 'tabindex', 'lang', 'hidden', 'aria-hidden']);
  const pointing = new Set(['for', 'list', 'form', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns']);
  const isFound = (ids) => ids.split(' ').every((id) => document.getElementById(id) !== null);
  const valueOf = ({ name, value }) => (judged.has(name) ? value : pointing.has(name) ? isFound(value) : value === '');
  const signOf = (one) => {
    const counts = new Map();
    const inside = [...one.children].map((child) => {
      const sign = signOf(child);
      counts.set(sign, (counts.get(sign) ?? 0) + 1);
      // A field whose label is not shown would have none.
      if (counts.get(sign) > ${MAX_ALIKE} && child.tagName !== 'LABEL') child.setAttribute('data-alike', '');
      return sign;
    });
    const attributes = [...one.attributes]
      .filter(({ name }) => name !== 'data-alike')
      .map((attribute) => [attribute.name, valueOf(attribute)]);
    const sign = JSON.stringify([one.tagName, attributes, one.labels?.length, one.textContent.trim() === '', inside]);
    if (!known.has(sign)) known.set(sign, known.size);
    return known.get(sign);
  };
  signOf(document.body);
  const hiding = new CSSStyleSheet();
  hiding.replaceSync('[data-alike] { display: none !important }');
  document.adoptedStyleSheets.push(hiding);
})()`;
const SHOW_ALIKE = 'void document.adoptedStyleSheets.pop()';

/** As {@link findFaults}. What it has not looked at has the attribute `data-alike` from then on. */
export async function findFaultsOfUnlike(page: Page, rules?: AxeRules): Promise<string[]> {
  await page.evaluate(HIDE_ALIKE);
  return await findFaults(page, rules).finally(() => page.evaluate(SHOW_ALIKE));
}
