// Search as the reader types: a list under the field, from an index that is loaded when the field is first entered.
// Without this script the form asks the server.
(() => {
  const form = findElement(HTMLFormElement, 'form[data-search]');
  if (form === null) return;
  const field = getElement(HTMLInputElement, 'input[name="q"]', form);
  const category = getElement(HTMLSelectElement, 'select[name="category"]', form);
  const list = getElement(HTMLUListElement, '[role="listbox"]', form);
  const message = getElement(HTMLElement, '[data-search-said]', form);
  const nothing = getElement(HTMLElement, '[data-search-nothing]', form);
  const { search: indexUrl = '', none = '', one = '', many = '', similar = '', ...words } = form.dataset;
  const MAX_SHOWN = 8;
  /** Time without a key after which the server is asked for similar names, milliseconds. */
  const SIMILAR_DELAY_MS = 250;
  const categories = new Map([...category.options].map(({ value, text }) => [value, text]));

  /** @typedef {{ name: string, domain: string, page: string, group: string, status: string, low: string }} Found */
  /** @type {Found[] | null} */
  let services = null;
  let isLoading = false;
  let active = -1;
  /** Timer; 0: not set. */
  let similarTimer = 0;

  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  field.setAttribute('aria-expanded', 'false');
  field.setAttribute('autocomplete', 'off');

  /**
   * @param {SearchRow} row
   * @returns {Found}
   */
  function readRow([name, domain, page, group, status]) {
    const named = page === 0 ? domain.replaceAll('.', '-') : page;
    return { name, domain, page: named, group, status, low: name.toLowerCase() };
  }

  async function readIndex() {
    try {
      const response = await fetch(indexUrl);
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      /** @type {SearchRow[]} */
      const rows = await response.json();
      services = rows.map(readRow);
      if (document.activeElement === field) show();
    } catch {
      // The form still asks the server; the next focus tries again.
      isLoading = false;
    }
  }

  function load() {
    if (isLoading) return;
    isLoading = true;
    void readIndex();
  }

  /**
   * Smaller is better: the name begins with the text, a word of it does, the domain does, the text is somewhere within.
   * @param {Found} service
   * @param {string} text
   */
  function rank({ low, domain }, text) {
    if (low.startsWith(text)) return 0;
    if (low.includes(` ${text}`)) return 1;
    if (domain.startsWith(text)) return 2;
    return low.includes(text) || domain.includes(text) ? 3 : 4;
  }

  /**
   * @param {Found[]} all
   * @param {string} text
   */
  function findServices(all, text) {
    /** @type {Found[][]} */
    const ranks = [[], [], [], []];
    for (const service of all) {
      if (category.value !== '' && service.group !== category.value) continue;
      ranks[rank(service, text)]?.push(service);
    }
    return ranks.flat();
  }

  /**
   * @param {Found} service
   * @param {number} index
   */
  function createOption({ name, domain, page, group, status }, index) {
    const item = document.createElement('li');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    item.dataset.href = `${BASE_PATH}/status/${page}`;
    const sign = document.createElement('span');
    sign.className = `sign ${status}`;
    sign.textContent = words[status] ?? '';
    const title = document.createElement('strong');
    title.textContent = name;
    const more = document.createElement('span');
    more.className = 'soft';
    more.textContent = `${domain} · ${categories.get(group) ?? group}`;
    item.append(title, more, sign);
    return item;
  }

  function close() {
    list.hidden = true;
    nothing.hidden = true;
    active = -1;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  /** @param {number} count */
  function sayCount(count) {
    if (count === 0) return none;
    return count === 1 ? one : many.replace('{count}', count.toLocaleString(document.documentElement.lang));
  }

  function show() {
    const text = field.value.trim().toLowerCase();
    clearTimeout(similarTimer);
    if (services === null || text === '') return close();
    const found = findServices(services, text);
    showFound(found, sayCount(found.length));
    if (found.length === 0) similarTimer = setTimeout(showSimilar, SIMILAR_DELAY_MS, text);
  }

  /**
   * Asks the server for services with a similar name, after a slip.
   * @param {string} text
   */
  async function showSimilar(text) {
    const response = await fetch(`${indexUrl}?${new URLSearchParams({ like: text })}`).catch(() => null);
    if (!response?.ok) return;
    /** @type {SearchRow[]} */
    const rows = await response.json();
    const isCurrent = document.activeElement === field && field.value.trim().toLowerCase() === text;
    if (isCurrent && rows.length > 0) showFound(rows.map(readRow), similar);
  }

  /**
   * @param {readonly Found[]} found
   * @param {string} said
   */
  function showFound(found, said) {
    list.replaceChildren(...found.slice(0, MAX_SHOWN).map(createOption));
    message.textContent = said;
    close();
    // A listbox must have an option, so a sentence replaces it if nothing was found.
    nothing.hidden = found.length > 0;
    list.hidden = found.length === 0;
    field.setAttribute('aria-expanded', String(found.length > 0));
  }

  /** @param {Element | null | undefined} item */
  function openOption(item) {
    if (item instanceof HTMLElement && item.dataset.href !== undefined) location.assign(item.dataset.href);
  }

  /** @param {number} index */
  function choose(index) {
    const items = list.children;
    list.children[active]?.setAttribute('aria-selected', 'false');
    active = (index + items.length) % items.length;
    const item = items[active];
    if (item === undefined) return;
    item.setAttribute('aria-selected', 'true');
    item.scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', item.id);
  }

  field.addEventListener('focus', () => {
    load();
    show();
  });
  field.addEventListener('pointerenter', load);
  field.addEventListener('input', show);
  // The list is open only while the field has the focus, because otherwise no key or click would close it.
  category.addEventListener('change', () => document.activeElement === field && show());
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) show();
      if (list.hidden) return;
      event.preventDefault();
      choose(event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1);
    } else if (event.key === 'Enter' && active >= 0) {
      event.preventDefault();
      openOption(list.children[active]);
    } else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  // The field keeps the focus while the mouse is pressed on the list, so that the list is still open at the click.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    if (target instanceof Element) openOption(target.closest('[role="option"]'));
  });
  field.addEventListener('blur', close);
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const isTyping =
      target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
    if (key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  document.addEventListener('upbeat:news', ({ detail: { statuses, others } }) => {
    if (services === null || statuses === undefined) return;
    /** @type {Map<string, string>} */
    const byPage = new Map();
    for (const [status, pages] of Object.entries(statuses))
      for (const page of pages) byPage.set(page, status);
    for (const service of services) service.status = byPage.get(service.page) ?? others ?? service.status;
  });
  // The reader may have entered the field before this script was loaded.
  if (document.activeElement === field) load();
})();
