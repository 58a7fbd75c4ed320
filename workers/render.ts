/** The thread that draws pictures. The first one with text loads the fonts. */
import { parentPort } from 'node:worker_threads';
import type { HeatmapPicture } from '../src/domain/picture.ts';
import { drawBadge } from '../src/render/badge.ts';
import { drawChart } from '../src/render/chart.ts';
import { drawHeatmap } from '../src/render/heatmap.ts';
import { createCellDrawer, findMissingWebgl } from '../src/render/heatmap-process.ts';
import { serveThread } from '../src/thread/rpc.ts';

const missing = findMissingWebgl();
const drawCells = createCellDrawer();

/** The methods of the thread. */
export const methods = {
  badge: drawBadge,
  chart: drawChart,
  async heatmap(picture: HeatmapPicture) {
    // Draws cells into the picture itself, which takes 4 MB less than by pixels of their own.
    if (missing !== null) return { png: await drawHeatmap(picture), fault: missing };
    let fault: string | null = null;
    const png = await drawHeatmap(picture, async (field) => {
      const drawn = await drawCells(field);
      fault = drawn.fault;
      return drawn.pixels;
    });
    return { png, fault };
  },
};

if (parentPort !== null) serveThread(parentPort, methods);
