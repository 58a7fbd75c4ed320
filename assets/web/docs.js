// Shows the response of a "Try it" form below the form, instead of leaving the page, with the reader's key if there is one.
const keyField = getElement(HTMLElement, '[data-key-field]');
const key = getElement(HTMLInputElement, '[data-key]', keyField);
keyField.hidden = false;

for (const form of findElements(HTMLFormElement, 'form.try')) {
  const output = getElement(HTMLOutputElement, 'form.try + output', form.parentElement ?? document);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const query = queryOf(form);
    const path = (form.dataset.path ?? '').replace(/\{(\w+)\}/g, (_, name) => {
      const value = query.get(name) ?? '';
      query.delete(name);
      return encodeURIComponent(value);
    });
    for (const [name, value] of [...query]) if (value === '') query.delete(name);
    const url = query.size > 0 ? `${path}?${query}` : path;
    const text = document.createElement('pre');
    text.tabIndex = 0;
    text.textContent = `GET ${url} …`;
    output.replaceChildren(text);
    const token = key.value.trim();
    const response = await fetch(
      url,
      token === '' ? {} : { headers: { Authorization: `Bearer ${token}` } },
    ).catch(() => null);
    if (response === null) {
      text.textContent = `GET ${url}\nThere was no response. Is the connection lost?`;
      return;
    }
    const type = response.headers.get('content-type') ?? '';
    const left = response.headers.get('x-ratelimit-remaining');
    const remaining = left === null ? '' : `, ${left} requests left this minute`;
    const head = `GET ${url}\n${response.status} ${response.statusText}${remaining}\n\n`;
    if (type.startsWith('image/')) {
      const picture = document.createElement('img');
      picture.src = url;
      picture.alt = 'The picture';
      text.textContent = head;
      output.append(picture);
    } else {
      const body = await response.text();
      text.textContent = head + (type.includes('json') ? JSON.stringify(JSON.parse(body), null, 2) : body);
    }
  });
}
