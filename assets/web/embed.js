// Puts a status page into another site: <script src="https://THIS-SITE/embed.js" data-page="SLUG" async></script>
// An optional data-theme is "light" or "dark", an optional data-lang a language of the page.
(() => {
  const script = document.currentScript;
  const slug = script?.dataset.page ?? '';
  if (!(script instanceof HTMLScriptElement) || !/^[a-z0-9-]{1,60}$/.test(slug)) {
    console.error('embed.js: data-page names no status page');
    return;
  }
  const address = new URL(`p/${slug}/embed`, script.src);
  for (const name of ['theme', 'lang']) {
    const value = script.dataset[name];
    if (value) address.searchParams.set(name, value);
  }
  const frame = document.createElement('iframe');
  frame.src = address.href;
  frame.title = script.dataset.title ?? 'Status';
  frame.loading = 'lazy';
  frame.setAttribute(
    'sandbox',
    'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox',
  );
  Object.assign(frame.style, { border: '0', width: '100%', height: '160px', colorScheme: 'auto' });
  // A height is taken only from this frame, and only while the frame shows this site.
  window.addEventListener('message', ({ origin, source, data }) => {
    if (origin !== address.origin || source !== frame.contentWindow) return;
    if (data?.upbeat !== 'height' || !Number.isFinite(data.height)) return;
    frame.style.height = `${Math.min(2_000, Math.max(40, data.height))}px`;
  });
  script.after(frame);
})();
