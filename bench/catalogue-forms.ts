/** The same catalogue in the forms that YAML has. */

/** Members of the entry with that number, each in a line. */
const lines = (index: number) =>
  `  - slug: service-${index}\n    name: Service ${index}\n    domain: s${index}.example.com\n    category: developer\n`;
const url = (index: number) => `"http://127.0.0.1:9001/${index}"`;
const flow = (index: number) =>
  `{ slug: service-${index}, name: Service ${index}, domain: s${index}.example.com, category: developer, check: { url: ${url(index)} } }`;
const json = (index: number) => JSON.stringify(entryOf(index));
const entryOf = (index: number) => ({
  slug: `service-${index}`,
  name: `Service ${index}`,
  domain: `s${index}.example.com`,
  category: 'developer',
  check: { url: `http://127.0.0.1:9001/${index}` },
});

/** A form: what stands before the entries, between them and after them. */
interface Form {
  readonly entry: (index: number) => string;
  readonly before?: string;
  readonly between?: string;
  readonly after?: string;
}

const plain = (index: number) => `${lines(index)}    check:\n      url: ${url(index)}\n`;

export const FORMS: Readonly<Record<string, Form>> = {
  'a member in a line': { entry: plain },
  'checks in braces': { entry: (index) => `${lines(index)}    check: { url: ${url(index)} }\n` },
  'entries in braces': { entry: (index) => `  - ${flow(index)}\n` },
  anchors: { entry: (index) => `${lines(index)}    check: &check${index}\n      url: ${url(index)}\n` },
  'aliases of the first entry': {
    entry: (index) =>
      index === 0
        ? `${lines(0)}    check: &check\n      url: ${url(0)}\n`
        : `${lines(index)}    check: { <<: *check, url: ${url(index)} }\n`,
  },
  'aliases of a member before': {
    before: 'x-check: &check { method: GET }\nservices:\n',
    entry: (index) => `${lines(index)}    check: { <<: *check, url: ${url(index)} }\n`,
  },
  'one list in brackets': {
    ...{ before: 'services: [\n', between: ',\n', after: '\n  ]\n' },
    entry: (index) => `  ${flow(index)}`,
  },
  'a file in braces': { before: '{services: [\n', entry: flow, between: ',\n', after: ']}\n' },
  JSON: { before: '{"services":[', entry: json, between: ',', after: ']}' },
  'JSON over lines': {
    ...{ before: '{\n  "services": [\n    ', between: ',\n    ', after: '\n  ]\n}\n' },
    entry: (index) => JSON.stringify(entryOf(index), null, 2).replaceAll('\n', '\n    '),
  },
  'quoted keys, four spaces': {
    before: '"services":\n',
    entry: (index) =>
      plain(index)
        .replace(/^ {2}- /, '  -   ')
        .replace(/^ {4}(?=\S)/gm, '      ')
        .replace(/([a-z]+):(?= |\n)/g, '"$1":')
        .replace(/^ {6}(?="url")/m, '          '),
  },
  'dashes at the margin, comments between': {
    entry: (index) => `# The service ${index}: one of many.\n\n${plain(index).replace(/^ {2}/gm, '')}`,
  },
  'lines of Windows, tabs after values': { entry: (index) => plain(index).replaceAll('\n', '\t\r\n') },
  'members after the list': {
    ...{ before: '---\nservices: # all of them\n', after: 'x-note: the end\n...\n' },
    entry: plain,
  },
};

/** The text of a catalogue of so many entries. */
export function catalogueIn(
  { before = 'services:\n', between = '', after = '', entry }: Form,
  count: number,
) {
  return `${before}${Array.from({ length: count }, (_, index) => entry(index)).join(between)}${after}`;
}
