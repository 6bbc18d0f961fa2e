/** Pixels of a side of a stored avatar: 40 CSS pixels, the largest size on a page, on a screen with two per pixel. */
export const SIDE = 80;
