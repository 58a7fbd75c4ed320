/** Outlines of the badge's shapes. Each status has its own, so that it can be told without seeing colours. */
import type { ServiceStatus } from '../domain/status.ts';
import type { Contour } from './font.ts';

/** Pixels across and down that a status' shape takes. */
export const SHAPE_SIZE = 10;

/** The shape beside a status' word: a dot, a triangle, a cross, a ring. In pixels from its box's top left corner. */
export function statusShape(status: ServiceStatus): readonly Contour[] {
  switch (status) {
    case 'up':
      return [circle(5, 5, 4, false)];
    case 'slow':
      return [polygon([5, 0], [10, 9], [0, 9])];
    case 'down':
      return [cross(5, 5, 4, 1.25)];
    case 'unknown':
      return [circle(5, 5, 4, false), circle(5, 5, 2.4, true)];
  }
}

/** A circle; `inner` runs the other way round, to cut a hole. */
export function circle(x: number, y: number, radius: number, inner: boolean): Contour {
  const corners = 48;
  const points = Array.from({ length: corners }, (_, index): readonly [number, number] => {
    const angle = ((inner ? -index : index) * 2 * Math.PI) / corners;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
  return polygon(...points);
}

function cross(x: number, y: number, arm: number, half: number): Contour {
  const a = arm - half;
  const points = [
    [0, -half],
    [a, -arm],
    [arm, -a],
    [half, 0],
    [arm, a],
    [a, arm],
    [0, half],
    [-a, arm],
    [-arm, a],
    [-half, 0],
    [-arm, -a],
    [-a, -arm],
  ] as const;
  return polygon(...points.map(([dx, dy]): readonly [number, number] => [x + dx, y + dy]));
}

function polygon(...points: readonly (readonly [x: number, y: number])[]): Contour {
  return points.map(([x, y], index) => ({ type: index === 0 ? 'M' : 'L', x, y }));
}
