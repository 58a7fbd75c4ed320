// Inside the frame: tells the page around it how high this one is. The height is no secret, and the page around it is
// not known, so anybody may hear it; embed.js there listens to this site alone.
if (window.parent !== window) {
  const tell = () => {
    const { height } = document.body.getBoundingClientRect();
    window.parent.postMessage({ upbeat: 'height', height: Math.ceil(height) }, '*');
  };
  new ResizeObserver(tell).observe(document.body);
  tell();
}
