import t from 'tap';
import { startProgress, whileWaiting } from '../../src/cli/progress.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it reports progress after a second: a bar on a terminal, lines elsewhere', async (t) => {
  for (const isTTY of [false, true]) {
    const clock = createFakeClock();
    let written = '';
    const stream = {
      isTTY,
      write(text: string) {
        written += text;
        return true;
      },
    };
    const progress = startProgress(4_000, 'services', clock, stream);
    progress.note(1_000);
    await clock.advance(1_000);
    progress.note(2_500);
    await clock.advance(100);
    progress.note(3_000);
    progress.end();
    t.equal(
      written,
      isTTY
        ? `\r\u001b[K${'█'.repeat(15)}${'░'.repeat(9)}  62 %  2,500 of 4,000 services\r\u001b[K${'█'.repeat(18)}${'░'.repeat(6)}  75 %  3,000 of 4,000 services\r\u001b[K`
        : '2,500 of 4,000 services\n',
    );
    written = '';
    const work = async () => {
      await clock.advance(2_000);
      return 7;
    };
    t.equal(await whileWaiting('examining', work, clock, stream), 7);
    t.equal(written, isTTY ? '\r\u001b[Kexamining … 1 s\r\u001b[Kexamining … 2 s\r\u001b[K' : '');
    written = '';
    const early = { ...clock, every: (_: number, task: () => void) => clock.every(400, task) };
    const short = () => clock.advance(900);
    await whileWaiting('examining', short, early, stream);
    t.equal(written, '', 'nothing before a second is over, even if the first look is early');
    await t.rejects(
      whileWaiting('examining', () => Promise.reject(new Error('no')), clock, stream),
      { message: 'no' },
    );
    await clock.advance(5_000);
    t.equal(written, '', 'nothing is said of what is over');
  }
});
