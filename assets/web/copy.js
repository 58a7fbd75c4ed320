// A copy button for each field that asks for one. Without scripts the field can be selected and copied by hand.
for (const field of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  const said = document.createElement('span');
  said.setAttribute('role', 'status');
  said.className = 'soft';
  button.addEventListener('click', async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = ' Copied.';
    } catch {
      said.textContent = ' Press Ctrl+C to copy.';
    }
  });
  field.closest('label').after(button, said);
}
