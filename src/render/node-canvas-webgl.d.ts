/** Types of the parts of node-canvas-webgl that are used. It has none of its own; the names are those of WebGL 1. */
declare module 'node-canvas-webgl' {
  /** A program, shader, buffer, texture or place of a uniform. */
  export type WebglHandle = { readonly __webgl: never };

  type WebglConstant =
    | 'VERTEX_SHADER'
    | 'FRAGMENT_SHADER'
    | 'COMPILE_STATUS'
    | 'LINK_STATUS'
    | 'ARRAY_BUFFER'
    | 'STATIC_DRAW'
    | 'FLOAT'
    | 'TRIANGLES'
    | 'TEXTURE_2D'
    | 'TEXTURE_MIN_FILTER'
    | 'TEXTURE_MAG_FILTER'
    | 'TEXTURE_WRAP_S'
    | 'TEXTURE_WRAP_T'
    | 'NEAREST'
    | 'CLAMP_TO_EDGE'
    | 'LUMINANCE'
    | 'RGBA'
    | 'UNSIGNED_BYTE'
    | 'UNPACK_ALIGNMENT'
    | 'NO_ERROR';

  export interface WebglContext extends Readonly<Record<WebglConstant, number>> {
    createProgram(): WebglHandle;
    createShader(kind: number): WebglHandle;
    shaderSource(shader: WebglHandle, source: string): void;
    compileShader(shader: WebglHandle): void;
    getShaderParameter(shader: WebglHandle, name: number): boolean;
    getShaderInfoLog(shader: WebglHandle): string;
    attachShader(program: WebglHandle, shader: WebglHandle): void;
    linkProgram(program: WebglHandle): void;
    getProgramParameter(program: WebglHandle, name: number): boolean;
    getProgramInfoLog(program: WebglHandle): string;
    useProgram(program: WebglHandle): void;
    createBuffer(): WebglHandle;
    bindBuffer(target: number, buffer: WebglHandle): void;
    bufferData(target: number, data: Float32Array, usage: number): void;
    getAttribLocation(program: WebglHandle, name: string): number;
    enableVertexAttribArray(place: number): void;
    vertexAttribPointer(
      place: number,
      size: number,
      type: number,
      normalized: boolean,
      stride: number,
      offset: number,
    ): void;
    createTexture(): WebglHandle;
    bindTexture(target: number, texture: WebglHandle): void;
    texParameteri(target: number, name: number, value: number): void;
    pixelStorei(name: number, value: number): void;
    texImage2D(
      target: number,
      level: number,
      internal: number,
      width: number,
      height: number,
      border: number,
      format: number,
      type: number,
      pixels: Uint8Array,
    ): void;
    getUniformLocation(program: WebglHandle, name: string): WebglHandle;
    uniform1f(place: WebglHandle, value: number): void;
    uniform2f(place: WebglHandle, x: number, y: number): void;
    uniform3f(place: WebglHandle, x: number, y: number, z: number): void;
    uniform3fv(place: WebglHandle, values: Float32Array): void;
    uniform1fv(place: WebglHandle, values: Float32Array): void;
    viewport(x: number, y: number, width: number, height: number): void;
    drawArrays(mode: number, first: number, count: number): void;
    readPixels(
      x: number,
      y: number,
      width: number,
      height: number,
      format: number,
      type: number,
      into: Uint8Array,
    ): void;
    getError(): number;
  }

  /** Throws without the libraries that it was built on. */
  export function createCanvas(
    width: number,
    height: number,
  ): {
    /** Throws without a display. */
    getContext(kind: 'webgl', options?: { readonly antialias?: boolean }): WebglContext;
  };
}
