// Runs inside the embedded frame: reports the frame's height to the embedding page, where embed.js reads it. The target
// origin is `*`, since any site may embed the page and the height is no secret. The frame reloads once a minute while it
// is visible: an event stream for every reader of every embedding site would be too many.
if (window.parent !== window) {
  setInterval(() => {
    if (document.visibilityState === 'visible') location.reload();
  }, 60_000);
  const sendHeight = () => {
    const { height } = document.body.getBoundingClientRect();
    window.parent.postMessage({ upbeat: 'height', height: Math.ceil(height) }, '*');
  };
  new ResizeObserver(sendHeight).observe(document.body);
  sendHeight();
}
