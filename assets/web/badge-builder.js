// Shows another choice, and the services that match what is being written, at once. The server makes both; without
// scripts the buttons ask for them.
const PAUSE_MS = 200;
const choice = document.querySelector('[data-builder-form]');
const search = document.querySelector('[data-builder-search]');

/** Makes a reader of pages that gives only the answer to the newest question; null: it is not wanted any more. */
function createReader() {
  let turns = 0;
  return async (url) => {
    const turn = ++turns;
    const response = await fetch(url);
    const text = await response.text();
    if (turn !== turns) return null;
    if (response.ok) return new DOMParser().parseFromString(text, 'text/html');
    // Too many questions, or none to be answered now: the page itself says so.
    location.assign(url);
    return null;
  };
}

function addressOf(form) {
  return `${form.getAttribute('action')}?${new URLSearchParams(new FormData(form))}`;
}

/** Takes over the parts of a page that the names ask for. */
function take(page, names) {
  for (const name of names) {
    const part = document.querySelector(`[data-builder="${name}"]`);
    const next = page.querySelector(`[data-builder="${name}"]`);
    if (part instanceof HTMLTextAreaElement) part.value = next.value;
    else part.replaceChildren(...next.childNodes);
  }
}

const readMatches = createReader();
async function find() {
  const page = await readMatches(addressOf(search));
  if (page !== null) take(page, ['matches']);
}

let pause;
search.addEventListener('input', () => {
  clearTimeout(pause);
  pause = setTimeout(find, PAUSE_MS);
});

const readBadge = createReader();
async function show() {
  const url = addressOf(choice);
  const page = await readBadge(url);
  if (page === null) return;
  take(page, ['picture', 'markdown', 'html', 'restructured', 'asciidoc', 'url']);
  // The page in another language is to show the same choice.
  document.querySelector('.languages')?.replaceChildren(...page.querySelector('.languages').childNodes);
  history.replaceState(null, '', url);
  const said = document.querySelector('[data-builder-said]');
  said.textContent = said.dataset.builderSaid;
  // What was found before leads to the choice that is now.
  for (const kept of search.querySelectorAll('[data-builder-kept]'))
    kept.value = choice.elements[kept.dataset.builderKept].value;
  if (search.elements.q.value !== '') await find();
}

if (choice !== null) {
  choice.querySelector('button').hidden = true;
  choice.addEventListener('change', show);
}
