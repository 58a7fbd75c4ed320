// Forms with `data-passkey` ask the browser for a passkey: `use` one to sign in, or `new` to make one. They are hidden
// until this script has found that the browser knows passkeys. `data-challenge` is where the question comes from,
// `data-failed` what is shown when the dialog was cancelled. The answer is sent with the form.
// Where a field for a name has `autocomplete="username webauthn"`, the browser offers passkeys in it, too.

/** How often the question behind the offers of the browser is replaced, milliseconds: the server takes answers for 5 minutes. */
const RENEWAL_MS = 240_000;

if (SimpleWebAuthnBrowser.browserSupportsWebAuthn()) {
  for (const form of findElements(HTMLFormElement, 'form[data-passkey]')) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void askPasskey(form);
    });
    if (form.dataset.passkey === 'use') void offerInField(form);
  }
}

/**
 * Lets the browser offer passkeys in the field for the name, if it can and there is one.
 * @param {HTMLFormElement} form
 */
async function offerInField(form) {
  if (document.querySelector('input[autocomplete~="webauthn"]') === null) return;
  if (!(await SimpleWebAuthnBrowser.browserSupportsWebAuthnAutofill())) return;
  const button = getElement(HTMLButtonElement, 'button', form);
  const offer = async () => {
    // A dialog that the visitor has opened would be closed.
    if (button.disabled) return;
    try {
      const { options, state } = await fetchQuestion(form);
      const choice = { optionsJSON: options, useBrowserAutofill: true };
      sendAnswer(form, state, await SimpleWebAuthnBrowser.startAuthentication(choice));
    } catch {
      // The button or a newer offer has taken its place, or the visitor has chosen none. The button still works.
    }
  };
  void offer();
  setInterval(() => void offer(), RENEWAL_MS);
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
    const { options, state } = await fetchQuestion(form);
    const answer =
      form.dataset.passkey === 'new'
        ? await SimpleWebAuthnBrowser.startRegistration({ optionsJSON: options })
        : await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options });
    sendAnswer(form, state, answer);
  } catch {
    message.textContent = form.dataset.failed ?? '';
    button.disabled = false;
  }
}

/**
 * Fetches what a passkey is asked.
 * @param {HTMLFormElement} form
 */
async function fetchQuestion(form) {
  const response = await fetch(form.dataset.challenge ?? '', { method: 'POST', body: queryOf(form) });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return await response.json();
}

/**
 * Sends the answer of a passkey with the form.
 * @param {HTMLFormElement} form
 * @param {string} state
 * @param {object} answer
 */
function sendAnswer(form, state, answer) {
  getElement(HTMLInputElement, '[name="state"]', form).value = state;
  getElement(HTMLInputElement, '[name="answer"]', form).value = JSON.stringify(answer);
  form.submit();
}
