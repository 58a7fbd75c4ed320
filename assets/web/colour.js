// Adds a field that shows and picks a colour beside each text field with `data-colour`, which names it for screen readers. Without
// scripts the reader writes the colour.
for (const field of findElements(HTMLInputElement, '[data-colour]')) {
  const picker = document.createElement('input');
  picker.type = 'color';
  picker.setAttribute('aria-label', field.dataset.colour ?? '');
  const show = () => {
    if (/^#[\da-f]{6}$/i.test(field.value)) picker.value = field.value;
  };
  field.addEventListener('input', show);
  picker.addEventListener('input', () => {
    field.value = picker.value;
    show();
  });
  if (field.value === '') picker.value = field.placeholder;
  show();
  (field.closest('label') ?? field).after(picker);
}
