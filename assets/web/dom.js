// biome-ignore-all lint/correctness/noUnusedVariables: the scripts after this one call the functions
// Finds elements by selector and type. This is the first part of the script of every page.

/** The path below which the site is, without a slash at its end. */
const BASE_PATH = document.documentElement.dataset.base ?? '';

/**
 * The first element that matches and has the type; null: there is none.
 * @template {Element} T
 * @param {new () => T} type
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {T | null}
 */
function findElement(type, selector, within = document) {
  const element = within.querySelector(selector);
  return element instanceof type ? element : null;
}

/**
 * Like findElement, for an element that the template always writes; throws if there is none.
 * @template {Element} T
 * @param {new () => T} type
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {T}
 */
function getElement(type, selector, within = document) {
  const element = findElement(type, selector, within);
  if (element === null) throw new Error(`no ${type.name} matches ${selector}`);
  return element;
}

/**
 * All elements that match and have the type, in the order of the document.
 * @template {Element} T
 * @param {new () => T} type
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {T[]}
 */
function findElements(type, selector, within = document) {
  return [...within.querySelectorAll(selector)].flatMap((element) =>
    element instanceof type ? [element] : [],
  );
}

/**
 * The query string of a form's input, without files.
 * @param {HTMLFormElement} form
 * @returns {URLSearchParams}
 */
function queryOf(form) {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') query.append(name, value);
  return query;
}
