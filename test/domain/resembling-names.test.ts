/** Names that look alike (decisions, Ownership; Unicode Technical Standard 39). */
import t from 'tap';
import { nameKeys, resembles } from '../../src/domain/resembling-names.ts';

t.test(
  'it sees through letters of other scripts, case, accents, spaces, punctuation and decoration',
  async (t) => {
    const alike: Readonly<Record<string, readonly string[]>> = {
      GitHub: [
        'github',
        'GITHUB',
        'GlTHUB',
        'G1tHub',
        'G|tHub',
        ' Git Hub ',
        'Git-Hub.',
        '[GitHub]',
        'GіtHub',
        'GitНub',
        'Gitһub',
        'Ꮐithub',
        'ＧｉｔＨｕｂ',
        '𝐆𝐢𝐭𝐇𝐮𝐛',
        'Ⓖⓘⓣⓗⓤⓑ',
        '🅶🅸🆃🅷🆄🅱',
        '🇬🇮🇹🇭🇺🇧',
        'ɢɪᴛʜᴜʙ',
        'Ġîťĥüb',
        'GitHub™',
        'Git\u200bHub',
        'Git\u00adHub',
        'Git\u3164Hub',
        'Git⁠Hub',
      ],
      PayPal: ['PayPaI', 'PаyPal', 'Раураӏ'],
      Google: ['G00gle', 'Gοοgle', 'Googłe'],
      Microsoft: ['Rnicrosoft', 'Micros0ft'],
      WhatsApp: ['VVhatsApp'],
      X: ['x', 'Х', '✗ x'],
    };
    for (const [name, others] of Object.entries(alike))
      for (const other of others)
        t.ok(resembles(other, name) && resembles(name, other), `${name} and ${other} ${nameKeys(other)}`);
  },
);

t.test('it distinguishes names that differ', async (t) => {
  const different = [
    ['GitHub', 'GitLab'],
    ['GitHub', 'GitHub mirror'],
    ['Stripe', 'Stride'],
    ['Zoom', 'Zoo'],
    ['微信', '微博'],
    ['C', 'C2'],
    ['!!!', '???'],
    ['', ''],
  ] as const;
  for (const [one, other] of different) t.notOk(resembles(one, other), `${one} and ${other}`);
});
