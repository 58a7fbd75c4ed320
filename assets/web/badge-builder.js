// Applies a choice and finds services while the reader types, without a reload. The server renders the page, and this
// script replaces the changed parts. Without scripts, the buttons of the forms load that page.
(() => {
  const PAUSE_MS = 200;
  const choice = findElement(HTMLFormElement, '[data-builder-form]');
  const search = getElement(HTMLFormElement, '[data-builder-search]');
  const searchText = getElement(HTMLInputElement, 'input[name="q"]', search);

  /** Creates a reader of pages that returns only the response to the newest request; null: there is a newer request. */
  function createReader() {
    let newest = 0;
    return async (/** @type {string} */ url) => {
      const number = ++newest;
      const response = await fetch(url);
      const text = await response.text();
      if (number !== newest) return null;
      if (response.ok) return new DOMParser().parseFromString(text, 'text/html');
      // Shows the error page, for example that of the rate limit.
      location.assign(url);
      return null;
    };
  }

  /** @param {HTMLFormElement} form */
  function addressOf(form) {
    return `${form.getAttribute('action')}?${queryOf(form)}`;
  }

  /**
   * Replaces parts of this page by those of another page.
   * @param {Document} page
   * @param {string[]} names
   */
  function takeParts(page, names) {
    for (const name of names) {
      const selector = `[data-builder="${name}"]`;
      const part = getElement(HTMLElement, selector);
      const next = getElement(HTMLElement, selector, page);
      if (part instanceof HTMLTextAreaElement && next instanceof HTMLTextAreaElement) part.value = next.value;
      else part.replaceChildren(...next.childNodes);
    }
  }

  const readMatches = createReader();
  async function showMatches() {
    const page = await readMatches(addressOf(search));
    if (page !== null) takeParts(page, ['matches']);
  }

  let pause = 0;
  search.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(showMatches, PAUSE_MS);
  });

  if (choice === null) return;
  const readBadge = createReader();
  async function showChoice(/** @type {HTMLFormElement} */ form) {
    const url = addressOf(form);
    const page = await readBadge(url);
    if (page === null) return;
    takeParts(page, ['picture', 'markdown', 'html', 'themes', 'restructured', 'asciidoc', 'url']);
    // The links to other languages keep the choice.
    const languages = findElement(HTMLElement, '.languages', page);
    if (languages !== null) findElement(HTMLElement, '.languages')?.replaceChildren(...languages.childNodes);
    history.replaceState(null, '', url);
    const message = getElement(HTMLElement, '[data-builder-said]');
    message.textContent = message.dataset.builderSaid ?? '';
    // The links of the found services keep the choice, too.
    const chosen = queryOf(form);
    for (const kept of findElements(HTMLInputElement, '[data-builder-kept]', search))
      kept.value = chosen.get(kept.name) ?? '';
    if (searchText.value !== '') await showMatches();
  }

  getElement(HTMLButtonElement, 'button', choice).hidden = true;
  choice.addEventListener('change', () => showChoice(choice));
})();
