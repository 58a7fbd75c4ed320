// Forms with `data-passkey` ask the browser for a passkey: `use` one to sign in, or `new` to make one. They are hidden
// until this script has found that the browser knows passkeys. `data-challenge` is where the question comes from,
// `data-failed` what is shown when the dialog was cancelled. The answer is sent with the form.
if (SimpleWebAuthnBrowser.browserSupportsWebAuthn()) {
  for (const form of findElements(HTMLFormElement, 'form[data-passkey]')) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void askPasskey(form);
    });
  }
}

/**
 * Asks for a passkey and sends the form, or shows that it failed.
 * @param {HTMLFormElement} form
 */
async function askPasskey(form) {
  const message = getElement(HTMLElement, '[role="alert"]', form);
  const button = getElement(HTMLButtonElement, 'button', form);
  message.textContent = '';
  button.disabled = true;
  try {
    const response = await fetch(form.dataset.challenge ?? '', { method: 'POST', body: queryOf(form) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const { options, state } = await response.json();
    const answer =
      form.dataset.passkey === 'new'
        ? await SimpleWebAuthnBrowser.startRegistration({ optionsJSON: options })
        : await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options });
    getElement(HTMLInputElement, '[name="state"]', form).value = state;
    getElement(HTMLInputElement, '[name="answer"]', form).value = JSON.stringify(answer);
    form.submit();
  } catch {
    message.textContent = form.dataset.failed ?? '';
    button.disabled = false;
  }
}
