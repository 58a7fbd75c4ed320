// Shows the answer of a "Try it" form below the form, instead of leaving the page.
for (const form of document.querySelectorAll('form.try')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const output = form.parentElement.querySelector('output');
    const values = new FormData(form);
    const slug = values.get('slug');
    const path = form.dataset.path.replace('{slug}', encodeURIComponent(slug ?? ''));
    const query = new URLSearchParams([...values].filter(([name, value]) => name !== 'slug' && value !== ''));
    const url = query.size > 0 ? `${path}?${query}` : path;
    output.replaceChildren();
    const shown = document.createElement('pre');
    output.append(shown);
    shown.textContent = `GET ${url} …`;
    const response = await fetch(url);
    const type = response.headers.get('content-type') ?? '';
    const left = response.headers.get('x-ratelimit-remaining');
    const line = `GET ${url}\n${response.status} ${response.statusText}${left === null ? '' : `, ${left} requests left this minute`}\n\n`;
    if (type.startsWith('image/')) {
      const picture = document.createElement('img');
      picture.src = url;
      picture.alt = 'The badge';
      shown.textContent = line;
      output.append(picture);
    } else {
      shown.textContent = line + JSON.stringify(await response.json(), null, 2);
    }
  });
}
