// Adds a copy button to each field with `data-copy`. Attributes of the field give the texts: `data-copy` of the button,
// `data-copied` after a copy, `data-by-hand` where the clipboard is refused; English is the default. `data-copy-label`
// names the button for screen readers, where several have one text. Without scripts the reader selects the field.
for (const field of [
  ...findElements(HTMLInputElement, '[data-copy]'),
  ...findElements(HTMLTextAreaElement, '[data-copy]'),
]) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = field.dataset.copy || 'Copy';
  if (field.dataset.copyLabel !== undefined) button.setAttribute('aria-label', field.dataset.copyLabel);
  const message = document.createElement('span');
  message.setAttribute('role', 'status');
  message.className = 'soft';
  button.addEventListener('click', async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      message.textContent = ` ${field.dataset.copied ?? 'Copied.'}`;
    } catch {
      message.textContent = ` ${field.dataset.byHand ?? 'Press Ctrl+C to copy.'}`;
    }
  });
  (field.closest('label') ?? field).after(button, message);
}
