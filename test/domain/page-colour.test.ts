/** The brand colour of a page is readable in both themes. */
import t from 'tap';
import { contrastOf, readableColours, readColour } from '../../src/domain/page-colour.ts';

t.test('contrast is that of WCAG', async (t) => {
  const table: readonly [string, string, number][] = [
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#ff0000', '#ffffff', 4],
  ];
  for (const [one, other, contrast] of table) {
    t.equal(Math.round(contrastOf(one, other) * 100) / 100, contrast, one);
    t.equal(contrastOf(one, other), contrastOf(other, one));
  }
});

t.test('a colour that can be read stays, any other one is adjusted as little as needed', async (t) => {
  t.same(readableColours('#0757ba').light, '#0757ba');
  t.same(readableColours('#79b8ff').dark, '#79b8ff');
  const steps = ['00', '33', '66', '99', 'cc', 'ff'];
  for (const red of steps) {
    for (const green of steps) {
      for (const blue of steps) {
        const colour = `#${red}${green}${blue}`;
        const { light, dark } = readableColours(colour);
        const least = Math.min(
          contrastOf(light, '#ffffff'),
          contrastOf(light, '#f6f8fa'),
          contrastOf(dark, '#161b22'),
          contrastOf(dark, '#0d1117'),
        );
        if (least < 4.5) t.fail(`${colour}: ${light} ${dark} ${least}`);
        const isNearest = light === colour || contrastOf(light, '#f6f8fa') < 5;
        if (!isNearest) t.fail(`${colour} is made darker than needed: ${light}`);
      }
    }
  }
});

t.test('it reads six hexadecimal digits', async (t) => {
  for (const text of ['#0A7D4F', ' 0a7d4f ']) t.equal(readColour(text), '#0a7d4f');
  for (const text of ['', '#fff', 'red', '#0a7d4g', '#0a7d4f;x', 'url(//evil)'])
    t.equal(readColour(text), null, text);
});
