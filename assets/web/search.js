// Search as you type: a list under the field, from an index that is loaded when the field is first entered. Without
// this script the form asks the server.
(() => {
  const form = document.querySelector('form[data-search]');
  if (form === null) return;
  const field = form.querySelector('input[name="q"]');
  const category = form.querySelector('select[name="category"]');
  const list = form.querySelector('[role="listbox"]');
  const said = form.querySelector('[data-search-said]');
  const MOST = 8;
  const categories = new Map([...category.options].map(({ value, text }) => [value, text]));
  const nothing = form.querySelector('[data-search-nothing]');
  let services = null;
  let loading = null;
  let active = -1;

  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  field.setAttribute('aria-expanded', 'false');
  field.setAttribute('autocomplete', 'off');

  function load() {
    loading ??= fetch(form.dataset.search)
      .then((response) => (response.ok ? response.json() : Promise.reject(new Error(String(response.status)))))
      .then((rows) => {
        services = rows.map(([name, domain, page, group, status]) => ({
          name,
          domain,
          page: page === 0 ? domain.replaceAll('.', '-') : page,
          group,
          status,
          low: name.toLowerCase(),
        }));
        if (document.activeElement === field) show();
      })
      .catch(() => {
        // The form still asks the server; the next focus tries again.
        loading = null;
      });
  }

  // The better the smaller: the name begins with it, a word of it does, the domain does, it is somewhere within.
  function rank({ low, domain }, text) {
    if (low.startsWith(text)) return 0;
    if (low.includes(` ${text}`)) return 1;
    if (domain.startsWith(text)) return 2;
    return low.includes(text) || domain.includes(text) ? 3 : 4;
  }

  function find(text) {
    const found = [[], [], [], []];
    for (const service of services) {
      if (category.value !== '' && service.group !== category.value) continue;
      found[rank(service, text)]?.push(service);
    }
    return found.flat();
  }

  function option({ name, domain, page, group, status }, index) {
    const item = document.createElement('li');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    item.dataset.href = `/status/${page}`;
    const sign = document.createElement('span');
    sign.className = `sign ${status}`;
    sign.textContent = form.dataset[status];
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

  function show() {
    const text = field.value.trim().toLowerCase();
    if (services === null || text === '') return close();
    const found = find(text);
    list.replaceChildren(...found.slice(0, MOST).map(option));
    const count = found.length;
    said.textContent =
      count === 0
        ? form.dataset.none
        : count === 1
          ? form.dataset.one
          : form.dataset.many.replace('{count}', count.toLocaleString(document.documentElement.lang));
    close();
    // A list of options must have one; that nothing was found is told in its place.
    nothing.hidden = count > 0;
    list.hidden = count === 0;
    field.setAttribute('aria-expanded', String(count > 0));
  }

  function choose(index) {
    const items = list.children;
    if (items.length === 0) return;
    items[active]?.setAttribute('aria-selected', 'false');
    active = (index + items.length) % items.length;
    items[active].setAttribute('aria-selected', 'true');
    items[active].scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', items[active].id);
  }

  field.addEventListener('focus', () => {
    load();
    show();
  });
  field.addEventListener('pointerenter', load);
  field.addEventListener('input', show);
  // The list stands under the field while the field has the focus: elsewhere no key and no click would close it.
  category.addEventListener('change', () => document.activeElement === field && show());
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) show();
      if (list.hidden) return;
      event.preventDefault();
      choose(event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1);
    } else if (event.key === 'Enter' && active >= 0) {
      event.preventDefault();
      location.assign(list.children[active].dataset.href);
    } else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  // The field keeps the focus while the list is pressed, so that the list is still there to be clicked.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const item = event.target.closest('[role="option"]');
    if (item !== null) location.assign(item.dataset.href);
  });
  field.addEventListener('blur', close);
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  document.addEventListener('upbeat:news', ({ detail: { statuses, others } }) => {
    if (services === null || statuses === undefined) return;
    const byPage = new Map();
    for (const [status, pages] of Object.entries(statuses)) for (const page of pages) byPage.set(page, status);
    for (const service of services) service.status = byPage.get(service.page) ?? others ?? service.status;
  });
  // Entered before this script came.
  if (document.activeElement === field) load();
})();
