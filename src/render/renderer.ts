/** Draws pictures in the render thread, and caches badges. */
import { BoundedMap } from '../async/bounded-map.ts';
import type { AnyBadge, ChartPicture, HeatmapPicture } from '../domain/picture.ts';
import type { Log } from '../log.ts';
import { ON_DEMAND, superviseThread } from '../thread/supervised-thread.ts';
import { SMALL_YOUNG_MB } from '../thread/v8-options.ts';

/** The methods of `workers/render.ts`; declared here because `src/` does not import `workers/`. */
type RenderMethods = {
  readonly badge: (picture: AnyBadge) => Uint8Array;
  readonly chart: (picture: ChartPicture) => Uint8Array;
  /** `fault`: why WebGL did not draw it; null: it did. */
  readonly heatmap: (
    picture: HeatmapPicture,
  ) => Promise<{ readonly png: Uint8Array; readonly fault: string | null }>;
};

const ENTRY = new URL('../../workers/render.ts', import.meta.url);
/** Attempts for a drawing whose thread ends. */
const MAX_ATTEMPTS = 2;
/** Maximum number of cached badges with a label, which displace no others: there is any number of labels. */
const MAX_LABELLED = 500;

/** Creates the renderer; the first image starts its thread. Its methods reject once it is closed. */
export function createRenderer(options: {
  readonly log: Log;
  /** Maximum number of cached badges, about 1.5 KB each; default 4,096. */
  readonly maxBadges?: number;
  /** Entry of the thread; default `workers/render.ts`. */
  readonly entry?: URL;
}) {
  const { log, maxBadges = 4_096, entry = ENTRY } = options;
  const kept = new BoundedMap<string, Promise<Uint8Array>>(maxBadges);
  const labelled = new BoundedMap<string, Promise<Uint8Array>>(MAX_LABELLED);
  let closed = false;
  let webglFault: string | null = null;

  const thread = superviseThread<RenderMethods>({
    name: 'the render thread',
    entry,
    workerData: null,
    limits: { maxYoungGenerationSizeMb: SMALL_YOUNG_MB },
    policy: ON_DEMAND,
    onEnd: ({ message }) =>
      log.warn({ error: message }, 'the render thread ended; the next image starts a new one'),
  });

  const call = async <K extends keyof RenderMethods & string>(
    method: K,
    args: Parameters<RenderMethods[K]>,
  ): Promise<Awaited<ReturnType<RenderMethods[K]>>> => {
    for (let left = MAX_ATTEMPTS - 1; ; left--) {
      if (closed) throw new Error('the renderer is closed');
      try {
        return await thread.call(method, args);
      } catch (error) {
        // An error of the drawing would occur again; only the end of the thread is worth another attempt.
        if (left === 0 || closed || thread.isRunning()) throw error;
      }
    }
  };

  return {
    /** The bytes of a badge. Several callers share them, so do not change them. */
    badge(picture: AnyBadge): Promise<Uint8Array> {
      const key = keyOf(picture);
      const cache = picture.label === undefined ? kept : labelled;
      const found = cache.touch(key);
      if (found !== undefined) return found;
      const drawing = call('badge', [picture]);
      cache.set(key, drawing);
      drawing.catch(() => {
        if (cache.get(key) === drawing) cache.delete(key);
      });
      return drawing;
    },
    /** The PNG of a chart, not cached. */
    chart: (picture: ChartPicture): Promise<Uint8Array> => call('chart', [picture]),
    /** The PNG of a heat map, by WebGL if possible, not cached. */
    async heatmap(picture: HeatmapPicture): Promise<Uint8Array> {
      const { png, fault } = await call('heatmap', [picture]);
      if (fault !== null && fault !== webglFault)
        log.info({ reason: fault }, 'heat maps are drawn without WebGL');
      webglFault = fault;
      return png;
    },
    /** Ends the thread and rejects the drawings in flight. */
    async close(): Promise<void> {
      closed = true;
      await thread.stop();
    },
  };
}

/** The content of a badge in a fixed order. */
function keyOf(picture: AnyBadge): string {
  if ('shield' in picture) {
    const { label, labelColour, message, colour, shield } = picture;
    return JSON.stringify([shield, label, labelColour, message, colour]);
  }
  const { name, fallback, status, theme, ageText, figure } = picture;
  const { label, style, scale, format, title, asOf } = picture;
  const look = [label, style, scale, format];
  return JSON.stringify([name, fallback, status, theme, ageText, figure, look, title, asOf]);
}
