/** What is used of node-canvas-webgl, which comes without types: WebGL 1 by the names of its specification. */
declare module 'node-canvas-webgl' {
  /** A program, shader, buffer, texture or place of a uniform. */
  export type WebglHandle = { readonly __webgl: never };

  export interface WebglContext {
    readonly VERTEX_SHADER: number;
    readonly FRAGMENT_SHADER: number;
    readonly COMPILE_STATUS: number;
    readonly LINK_STATUS: number;
    readonly ARRAY_BUFFER: number;
    readonly STATIC_DRAW: number;
    readonly FLOAT: number;
    readonly TRIANGLES: number;
    readonly TEXTURE_2D: number;
    readonly TEXTURE_MIN_FILTER: number;
    readonly TEXTURE_MAG_FILTER: number;
    readonly TEXTURE_WRAP_S: number;
    readonly TEXTURE_WRAP_T: number;
    readonly NEAREST: number;
    readonly CLAMP_TO_EDGE: number;
    readonly LUMINANCE: number;
    readonly RGBA: number;
    readonly UNSIGNED_BYTE: number;
    readonly UNPACK_ALIGNMENT: number;
    readonly NO_ERROR: number;
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
