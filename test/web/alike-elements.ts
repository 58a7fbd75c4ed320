/** Axe on pages with long lists, and on many pages: it looks at a few of the elements that differ in nothing by which it judges. */
import type { Page } from 'playwright-core';
import { type AxeRules, findFaults } from '../support/browser.ts';

const MAX_ALIKE = 3;
/**
 * Hides siblings that are alike (rows of tables, bars of charts, options), which are marked, and what stood at the same place of a page
 * before, but for headings and landmarks. Returns what is left for axe. `html-validate` finds ids that are there twice.
 */
const HIDE_ALIKE = `((seenBefore) => {
  const judged = new Set(['class', 'role', 'type', 'style', 'tabindex', 'lang', 'hidden', 'aria-hidden']);
  const pointing = new Set(['for', 'list', 'form', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns']);
  const isFound = (ids) => ids.split(' ').every((id) => document.getElementById(id) !== null);
  const valueOf = ({ name, value }) => (judged.has(name) ? value : pointing.has(name) ? isFound(value) : value === '');
  const hashOf = (text) => {
    let [a, b] = [0x9e3779b1, 0x85ebca77];
    for (let at = 0; at < text.length; at++) {
      a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
      b = Math.imul(b ^ text.charCodeAt(at), 0x5bd1e995);
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  };
  const looks = new Map();
  const signs = new Map();
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
    const look = JSON.stringify([one.tagName, attributes, one.labels?.length, one.textContent.trim() === '']);
    const sign = hashOf(look + inside);
    looks.set(one, look);
    signs.set(one, sign);
    return sign;
  };
  signOf(document.body);
  // Rules about the whole page judge these.
  const lasting = 'h1, h2, h3, h4, h5, h6, header, main, footer, nav, aside, section, form, fieldset, table, iframe, label, [role], [aria-label]';
  const known = new Set(seenBefore);
  const seen = [];
  const hideKnown = (one, place) => {
    for (const child of one.children) {
      if (child.hasAttribute('data-alike')) continue;
      const key = hashOf(place + signs.get(child));
      if (!child.matches(lasting) && child.querySelector(lasting) === null) {
        if (known.has(key)) {
          child.setAttribute('data-known', '');
          continue;
        }
        seen.push(key);
      }
      // Without their insides they would have no name.
      if (child.matches('h1, h2, h3, h4, h5, h6, a, button, caption, label, legend, summary, th, [role]')) continue;
      hideKnown(child, hashOf(place + looks.get(child)));
    }
  };
  const styles = [...document.styleSheets].map(({ href }) => href);
  hideKnown(document.body, hashOf(JSON.stringify([styles, document.documentElement.lang, looks.get(document.body)])));
  const hiding = new CSSStyleSheet();
  hiding.replaceSync('[data-alike], [data-known] { display: none !important }');
  document.adoptedStyleSheets.push(hiding);
  return seen;
})`;
const SHOW_ALIKE = `(() => {
  document.adoptedStyleSheets.pop();
  for (const one of document.querySelectorAll('[data-known]')) one.removeAttribute('data-known');
})()`;

/**
 * As {@link findFaults}, but for what is alike; siblings that it has not looked at have the attribute `data-alike` from then on. `known`:
 * what it has looked at by these rules, in this look, on pages before; what it looks at now is added.
 */
export async function findFaultsOfUnlike(page: Page, rules: AxeRules, known: Set<string>): Promise<string[]> {
  const seen = (await page.evaluate(`${HIDE_ALIKE}(${JSON.stringify([...known])})`)) as string[];
  const faults = await findFaults(page, rules).finally(() => page.evaluate(SHOW_ALIKE));
  for (const key of seen) known.add(key);
  return faults;
}
