// A copy button for each field that asks for one by `data-copy`. What it says: `data-copy`, `data-copied` and
// `data-by-hand`; English where they are not given. Where there are several with one word, `data-copy-label` names each
// for those who do not see what it stands beside. Without scripts the field can be selected and copied by hand.
for (const field of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = field.dataset.copy || 'Copy';
  if (field.dataset.copyLabel !== undefined) button.setAttribute('aria-label', field.dataset.copyLabel);
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.className = 'soft';
  button.addEventListener('click', async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = ` ${field.dataset.copied ?? 'Copied.'}`;
    } catch {
      said.textContent = ` ${field.dataset.byHand ?? 'Press Ctrl+C to copy.'}`;
    }
  });
  field.closest('label').after(button, said);
}
