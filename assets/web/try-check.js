// Tries the check of a form without leaving the page, so that credentials that were typed stay. Without scripts, and where the
// form is refused, the button sends the form.
for (const button of findElements(HTMLButtonElement, 'button[data-try]'))
  button.addEventListener('click', async (event) => {
    const { form } = button;
    const place = document.querySelector('#trial');
    if (form === null || place === null || 'refused' in button.dataset || !form.checkValidity()) return;
    event.preventDefault();
    // The form has no files.
    const sent = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
    const body = new URLSearchParams([...sent, [button.name, button.value]]);
    button.disabled = true;
    const shown = await fetch(form.action, { method: 'POST', body })
      .then(async (answer) => (answer.ok ? await answer.text() : ''))
      .then((text) => new DOMParser().parseFromString(text, 'text/html').querySelector('#trial'))
      .catch(() => null);
    button.disabled = false;
    if (shown !== null) return place.replaceChildren(...shown.children);
    button.dataset.refused = '';
    form.requestSubmit(button);
  });
