// Drawings whose parts have figures (<svg data-tips>): one stop for the Tab key, arrow keys within, and a tip at the part under pointer,
// finger or focus. A part is an element with a <title>. `data-columns`, `data-rows`, `data-offset` and `data-head` describe a grid whose
// gaps count as well; `data-how` says to screen readers how to walk.
(() => {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  // Screen readers get the label of the part itself.
  tip.setAttribute('aria-hidden', 'true');

  const hide = () => {
    tip.hidden = true;
    document.querySelector('[data-tips] .here')?.classList.remove('here');
  };
  /** @param {SVGElement} part */
  const show = (part) => {
    hide();
    if (!tip.isConnected) document.body.append(tip);
    part.classList.add('here');
    tip.textContent = part.dataset.tip ?? part.getAttribute('aria-label');
    tip.hidden = false;
    const place = part.getBoundingClientRect();
    const left = place.left + place.width / 2 - tip.offsetWidth / 2;
    const maxLeft = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, maxLeft)) + window.scrollX}px`;
    tip.style.top = `${place.top + window.scrollY - tip.offsetHeight - 8}px`;
  };

  /** @param {SVGSVGElement} drawing */
  function makeWalkable(drawing) {
    const parts = findElements(SVGElement, '*', drawing).filter((part) =>
      part.querySelector(':scope > title'),
    );
    const last = parts.at(-1);
    if (last === undefined || drawing.dataset.tips === 'walkable') return;
    drawing.dataset.tips = 'walkable';
    const columns = Number(drawing.dataset.columns);
    const rows = Number(drawing.dataset.rows ?? 1);
    const offset = Number(drawing.dataset.offset ?? 0);
    const head = Number(drawing.dataset.head ?? 0);
    drawing.setAttribute('role', 'group');
    drawing.setAttribute('aria-description', drawing.dataset.how ?? '');
    for (const part of parts) {
      const title = part.querySelector('title');
      const text = title?.textContent ?? '';
      // A link names its service, too, and its tip the time alone.
      if (part instanceof SVGAElement) part.dataset.tip = text;
      else {
        part.setAttribute('role', 'img');
        part.setAttribute('aria-label', text);
      }
      part.setAttribute('tabindex', '-1');
      title?.remove();
    }
    last.setAttribute('tabindex', '0');

    /** @param {PointerEvent} event */
    const partAt = ({ clientX, clientY, target }) => {
      const hit = parts.find((part) => target instanceof Element && part.contains(target));
      if (hit !== undefined || Number.isNaN(columns)) return hit;
      const box = drawing.getBoundingClientRect();
      const units = drawing.viewBox.baseVal;
      const column = Math.floor(((clientX - box.left) / box.width) * columns);
      const y = ((clientY - box.top) / box.height) * units.height - head;
      const row = rows === 1 ? 0 : Math.floor((y / (units.height - head)) * rows);
      return row < 0 || row >= rows ? undefined : parts[column * rows + row - offset];
    };
    /** @param {PointerEvent} event */
    const follow = (event) => {
      const part = partAt(event);
      if (part === undefined) hide();
      else show(part);
    };
    /** @type {ReadonlyMap<string, number>} */
    const steps = new Map([
      ['ArrowLeft', -rows],
      ['ArrowRight', rows],
      ['ArrowUp', rows === 1 ? 1 : -1],
      ['ArrowDown', rows === 1 ? -1 : 1],
      ['Home', -parts.length],
      ['End', parts.length],
    ]);
    drawing.addEventListener('pointermove', follow);
    drawing.addEventListener('pointerdown', follow);
    drawing.addEventListener('pointerleave', hide);
    drawing.addEventListener('focusin', ({ target }) => {
      if (target instanceof SVGElement && parts.includes(target)) show(target);
    });
    drawing.addEventListener('focusout', hide);
    drawing.addEventListener('keydown', (event) => {
      const step = steps.get(event.key);
      if (event.key === 'Escape') hide();
      if (step === undefined) return;
      event.preventDefault();
      const here = event.target instanceof SVGElement ? parts.indexOf(event.target) : 0;
      const next = Math.max(0, Math.min(parts.length - 1, here + step));
      parts[here]?.setAttribute('tabindex', '-1');
      parts[next]?.setAttribute('tabindex', '0');
      parts[next]?.focus();
    });
  }

  const makeAll = () => findElements(SVGSVGElement, 'svg[data-tips]').forEach(makeWalkable);
  makeAll();
  // Parts of the page that were loaded again.
  document.addEventListener('upbeat:parts', makeAll);
})();
