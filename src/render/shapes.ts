/** Outlines of the status shapes, which distinguish statuses without colours. */
import type { ServiceStatus } from '../domain/status.ts';
import type { Contour } from './font.ts';

/** Width and height of a status shape in pixels. */
export const SHAPE_SIZE = 10;

/** The shape of a status: a dot, triangle, cross or ring. In pixels from the top left corner of its box. */
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

/** A circle; `inner` reverses its direction, so that it cuts a hole. */
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
