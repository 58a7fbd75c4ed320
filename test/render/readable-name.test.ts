import fc from 'fast-check';
import t from 'tap';
import { loadFont } from '../../src/render/font.ts';
import { readableLine, readableName } from '../../src/render/readable-name.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';

const has = loadFont('semibold').has;

t.test('it shows what the fonts can draw and puts the domain in place of the rest', async (t) => {
  const table: readonly (readonly [name: string, fallback: string | null, shown: string])[] = [
    ['GitHub', 'github.com', 'GitHub'],
    ['Åland Öl & Söhne', 'a.ax', 'Åland Öl & Söhne'],
    ['Łódź Đặng İstanbul Ħ', 'x.y', 'Łódź Đặng İstanbul Ħ'],
    ['Почта России', 'pochta.ru', 'Почта России'],
    ['Ελληνικά', 'elta.gr', 'Ελληνικά'],
    ['微信', 'weixin.qq.com', 'weixin.qq.com'],
    ['한국전력', 'kepco.co.kr', 'kepco.co.kr'],
    ['خدمة', 'x.sa', 'x.sa'],
    ['Naver 네이버', 'naver.com', 'Naver'],
    ['淘宝 (Taobao)', 'taobao.com', 'Taobao'],
    ['東京 TV', 'tv-tokyo.co.jp', 'tv-tokyo.co.jp'],
    ['Ｆｕｌｌ Ｗｉｄｔｈ', 'x.y', 'Full Width'],
    ['ﬁle ﬂow', 'x.y', 'file flow'],
    ['Cafe\u0301', 'x.y', 'Café'],
    ['Rocket 🚀 Chat', 'rocket.chat', 'Rocket Chat'],
    ['🚀', 'rocket.chat', 'rocket.chat'],
    ['Line\none\ttwo', 'x.y', 'Line one two'],
    ['safe\u202egnp.exe', 'x.y', 'safegnp.exe'],
    ['zero\u200bwidth', 'x.y', 'zerowidth'],
    ['', 'x.y', 'x.y'],
    ['   ', null, '–'],
    ['微信', null, '□□'],
    ['x\ud800y', 'x.y', 'xy'],
    ['1Password', 'x.y', '1Password'],
    ['9GAG', 'x.y', '9GAG'],
    ['C++', 'x.y', 'C++'],
  ];
  t.same(
    table.map(([name, fallback]) => readableName(name, fallback, has)),
    table.map(([, , shown]) => shown),
  );
});

t.test('it never gives anything that the font lacks, and always something', async () => {
  fc.assert(
    fc.property(anyText(), fc.option(fc.domain()), (name, fallback) => {
      const shown = readableName(name, fallback, has);
      return shown.length > 0 && [...shown].every(has) && [...readableLine(name, has)].every(has);
    }),
    { numRuns: propertyRuns(400) },
  );
});
