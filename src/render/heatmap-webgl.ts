/**
 * Draws the cells of a heat map by WebGL, in a separate process (`heatmap-process.ts`). The levels are a texture, and the
 * fragment shader follows its rule for each pixel.
 */
import type { createCanvas, WebglContext, WebglHandle } from 'node-canvas-webgl';
import type { Colour } from './colours.ts';
import { type CellField, MARKED_FROM, NO_CELL } from './heatmap-process.ts';

/** Maximum number of levels in the shader. */
const LEVELS = 8;

const VERTEX = `
attribute vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }`;

/** All numbers are whole and below 2^24, so floats of high precision are exact. */
const FRAGMENT = `
precision highp float;
uniform sampler2D levels;
uniform vec2 cells;
uniform vec2 size;
uniform float gap;
uniform vec3 ground;
uniform vec3 fills[${LEVELS}];
uniform vec3 inks[${LEVELS}];
uniform float marks[${LEVELS}];

bool isMarked(float mark, vec2 at, vec2 inner) {
  if (mark < 0.5 || inner.x < ${MARKED_FROM - 1}.0 || inner.y < ${MARKED_FROM - 1}.0) return false;
  vec2 far = 2.0 * at + 1.0 - inner;
  float reach = min(inner.x, inner.y) - 3.0;
  if (abs(far.x) > reach + 0.5 || abs(far.y) > reach + 0.5) return false;
  if (mark < 1.5) return abs(far.y) < 1.5;
  float thick = reach > 3.5 ? 2.5 : 0.5;
  bool rising = abs(far.x + far.y) < thick;
  return mark < 2.5 ? rising : rising || abs(far.x - far.y) < thick;
}

void main() {
  // The lowest row of WebGL is the last of a picture.
  vec2 pixel = vec2(floor(gl_FragCoord.x), cells.y * size.y - 1.0 - floor(gl_FragCoord.y));
  vec2 cell = floor((pixel + 0.5) / size);
  vec2 at = pixel - cell * size;
  vec2 inner = size - gap;
  float level = floor(texture2D(levels, (cell + 0.5) / cells).r * 255.0 + 0.5);
  vec3 colour = ground;
  if (at.x < inner.x - 0.5 && at.y < inner.y - 0.5 && level < ${LEVELS}.0) {
    for (int index = 0; index < ${LEVELS}; index++) {
      if (abs(level - float(index)) > 0.5) continue;
      colour = isMarked(marks[index], at, inner) ? inks[index] : fills[index];
    }
  }
  gl_FragColor = vec4(colour, 1.0);
}`;

/** Draws a field as RGBA pixels from the top. Throws if there is no display, or if the field is too large. */
export function drawCellsByWebgl(field: CellField, create: typeof createCanvas): Uint8Array {
  const { columns, rows, cellWidth, cellHeight, gap, cells, ground, fills, inks, marks } = field;
  const width = columns * cellWidth;
  const height = rows * cellHeight;
  if (fills.length > LEVELS || NO_CELL < LEVELS) throw new Error(`more than ${LEVELS} levels`);
  const gl = open(create(width, height));
  const program = link(gl);
  gl.useProgram(program);
  const place = (name: string) => gl.getUniformLocation(program, name);
  gl.uniform2f(place('cells'), columns, rows);
  gl.uniform2f(place('size'), cellWidth, cellHeight);
  gl.uniform1f(place('gap'), gap);
  const [red = 0, green = 0, blue = 0] = shares(ground);
  gl.uniform3f(place('ground'), red, green, blue);
  gl.uniform3fv(place('fills'), padded(fills.flatMap(shares), 3 * LEVELS));
  gl.uniform3fv(place('inks'), padded(inks.flatMap(shares), 3 * LEVELS));
  gl.uniform1fv(place('marks'), padded(marks, LEVELS));

  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
    gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
    gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.LUMINANCE, columns, rows, 0, gl.LUMINANCE, gl.UNSIGNED_BYTE, cells);

  // One triangle that covers everything.
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  const corner = gl.getAttribLocation(program, 'corner');
  gl.enableVertexAttribArray(corner);
  gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
  gl.viewport(0, 0, width, height);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
  const upsideDown = new Uint8Array(width * height * 4);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, upsideDown);
  const error = gl.getError();
  if (error !== gl.NO_ERROR) throw new Error(`WebGL answers with error ${error}`);

  const data = new Uint8Array(upsideDown.length);
  for (let row = 0; row < height; row++) {
    const from = (height - 1 - row) * width * 4;
    data.set(upsideDown.subarray(from, from + width * 4), row * width * 4);
  }
  return data;
}

/** Without a display, the package throws a TypeError. */
function open(canvas: ReturnType<typeof createCanvas>): WebglContext {
  try {
    return canvas.getContext('webgl', { antialias: false });
  } catch {
    throw new Error('WebGL finds no display');
  }
}

function link(gl: WebglContext): WebglHandle {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

function shares(colour: Colour): number[] {
  return [colour >>> 16, (colour >>> 8) & 0xff, colour & 0xff].map((value) => value / 255);
}

function padded(values: readonly number[], length: number): Float32Array {
  const all = new Float32Array(length);
  all.set(values);
  return all;
}
