/** Pictures from the render thread; badges are kept by what they say. */
import { BoundedMap } from '../async/bounded-map.ts';
import type { ChartPicture, HeatmapPicture } from '../domain/picture.ts';
import type { Log } from '../log.ts';
import { ON_DEMAND, superviseThread } from '../thread/supervised-thread.ts';
import type { BadgeInput } from './badge.ts';

/** Draws pictures in a thread of its own. */
export interface Renderer {
  /** The bytes of a badge. The same bytes are handed to several callers: do not change them. Rejects once closed. */
  badge(input: BadgeInput): Promise<Uint8Array>;
  /** The PNG of a chart; drawn each time. Rejects once closed. */
  chart(picture: ChartPicture): Promise<Uint8Array>;
  /** The PNG of a heat map, by WebGL where that works; drawn each time. Rejects once closed. */
  heatmap(picture: HeatmapPicture): Promise<Uint8Array>;
  /** Ends the thread. Drawings that are under way are rejected. */
  close(): Promise<void>;
}

/** What the thread in `workers/render.ts` answers; declared here because `src/` does not import `workers/`. */
export type RenderMethods = {
  readonly badge: (input: BadgeInput) => Uint8Array;
  readonly chart: (picture: ChartPicture) => Uint8Array;
  /** `fault`: why WebGL did not draw it; null: it did. */
  readonly heatmap: (
    picture: HeatmapPicture,
  ) => Promise<{ readonly png: Uint8Array; readonly fault: string | null }>;
};

/** What a renderer is made of. */
export interface RendererSettings {
  readonly log: Log;
  /** Badges kept; the least recently asked for goes first. About 1.5 KB each; default 4,096. */
  readonly badgesKept?: number;
  /** Entry of the thread; default `workers/render.ts`. */
  readonly entry?: URL;
}

const ENTRY = new URL('../../workers/render.ts', import.meta.url);
/** Tries for one drawing: a thread that ends on the way is replaced, one that ends each time has a reason. */
const TRIES = 2;

/** Prepares the render thread, which the first image starts. */
export function createRenderer(settings: RendererSettings): Renderer {
  const { log, badgesKept = 4_096, entry = ENTRY } = settings;
  const kept = new BoundedMap<string, Promise<Uint8Array>>(badgesKept);
  let closed = false;
  let webglFault: string | null = null;

  const thread = superviseThread<RenderMethods>({
    name: 'the render thread',
    entry,
    workerData: null,
    policy: ON_DEMAND,
    onEnd: ({ message }) =>
      log.warn({ error: message }, 'the render thread ended; the next image starts a new one'),
  });

  const call = async <K extends keyof RenderMethods & string>(
    method: K,
    args: Parameters<RenderMethods[K]>,
  ): Promise<Awaited<ReturnType<RenderMethods[K]>>> => {
    for (let left = TRIES - 1; ; left--) {
      if (closed) throw new Error('the renderer is closed');
      try {
        return await thread.call(method, args);
      } catch (error) {
        // An error of the drawing itself would come again; only the end of the thread is worth another try.
        if (left === 0 || closed || thread.isRunning()) throw error;
      }
    }
  };

  return {
    badge(input) {
      const key = keyOf(input);
      const found = kept.touch(key);
      if (found !== undefined) return found;
      const drawing = call('badge', [input]);
      kept.set(key, drawing);
      drawing.catch(() => {
        if (kept.get(key) === drawing) kept.delete(key);
      });
      return drawing;
    },
    chart: (picture) => call('chart', [picture]),
    async heatmap(picture) {
      const { png, fault } = await call('heatmap', [picture]);
      if (fault !== null && fault !== webglFault)
        log.info({ reason: fault }, 'heat maps are drawn without WebGL');
      webglFault = fault;
      return png;
    },
    async close() {
      closed = true;
      await thread.stop();
    },
  };
}

/** All that a badge shows, in a fixed order. */
function keyOf({ name, fallback, status, theme, ageText, figure, format, title, asOf }: BadgeInput): string {
  return JSON.stringify([name, fallback, status, theme, ageText, figure, format, title, asOf]);
}
