// A copy button for each field that asks for one. Without scripts the field can be selected and copied by hand.
for (const field of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = field.dataset.copy || 'Copy';
  // Where there are several, each says what it copies.
  if (field.dataset.copy !== '') button.setAttribute('aria-label', field.dataset.copy);
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.className = 'soft';
  button.addEventListener('click', async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = field.dataset.copied ?? ' Copied.';
    } catch {
      said.textContent = field.dataset.copyByHand ?? ' Press Ctrl+C to copy.';
    }
  });
  field.closest('label').after(button, said);
}
