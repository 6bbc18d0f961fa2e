import { Resvg } from "@resvg/resvg-js";

const decoded = (base64: string): Buffer => Buffer.from(base64, "base64");

/** The colour of the images of one colour. */
export const COLOUR = [0xc0, 0x20, 0x40] as const;

/** 30 × 20 pixels of one colour. */
export const JPEG = decoded(
  "/9j/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAAUAB4DASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAQH/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AgwETWAAAAAAH/9k=",
);

/** 20 × 30 pixels of one colour. */
export const GIF = decoded(
  "R0lGODlhFAAeAIAAAExpccAgQCH5BAUAAAAALAAAAAAUAB4AAAIXjI+py+0Po5y02ouz3rz7D4biSJZmUgAAOw==",
);

/** Three pictures, the first of them black, after an extension that says to repeat them. */
export const MOVING_GIF = decoded(
  "R0lGODlhCAAIAIAAAExpcQAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAACAAIAAACB4yPqcvtXQAAIfkEBQAAAAAsAAAAAAgACACATGlxZGRkAgeMj6nL7V0AACH5BAUAAAAALAAAAAAIAAgAgExpccjIyAIHjI+py+1dAAA7",
);

/** 8 × 8 pixels: the left half transparent, the right half of the colour. */
export const HALF_PNG = decoded(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAFklEQVQYlWNgQAMHFBz+I2N0+WGqAADVmEPhMYZbhgAAAABJRU5ErkJggg==",
);

/** 8 × 8 pixels, all transparent. */
export const CLEAR_PNG = decoded(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAMAAADz0U65AAAAA1BMVEVMaXFNx9g6AAAAAXRSTlMAQObYZgAAAAlwSFlzAAAD6AAAA+gBtXtSawAAAAxJREFUCJljYKAOAAAASAABe6URyAAAAABJRU5ErkJggg==",
);

export const WEBP = decoded(
  "UklGRjgAAABXRUJQVlA4ICwAAABwAQCdASoIAAgAAUAmJaACdAFAAAD+8PorXFzZEUf/c4H/+wcf/3Bx/EgAAA==",
);

/** The red, green, blue and opacity of a pixel of a PNG of 80 × 80 pixels. */
export function pixelOf(png: Buffer, x: number, y: number): number[] {
  const size = `width="80" height="80"`;
  const image = `<image ${size} href="data:image/png;base64,${png.toString("base64")}"/>`;
  const { pixels } = new Resvg(`<svg xmlns="http://www.w3.org/2000/svg" ${size}>${image}</svg>`).render();
  return [...pixels.subarray((y * 80 + x) * 4).subarray(0, 4)];
}
