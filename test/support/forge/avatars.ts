import { createHash } from "node:crypto";
import { encodePng } from "../../../src/tracking/avatars/image.js";
import { ownerNumber } from "./github-record.js";
import type { ForgeRequest, ForgeResponse } from "./responses.js";

/** Whether a path is that of an image of an owner, on any kind of forge. */
export const isAvatarPath = (path: string): boolean =>
  /^\/avatars\/|^\/uploads\/-\/system\/group\/avatar\/|^\/[\w-]+\.png$/.test(path);

/** Relative to the site, as GitLab gives it. */
export const groupAvatar = (owner: string): string =>
  `/uploads/-/system/group/avatar/${ownerNumber(owner)}/avatar.png`;

/** An image of one colour, which follows from a text. */
export function colouredPng(text: string, side = 96): Buffer {
  const [red = 0, green = 0, blue = 0] = createHash("sha256").update(text).digest();
  const pixels = new Uint8Array(4 * side * side);
  for (let i = 0; i < pixels.length; i += 4) pixels.set([red, green, blue, 255], i);
  return encodePng(pixels, side);
}

/** The image at an address, without a token or a limit. */
export function handleAvatar({ path, headers }: ForgeRequest): ForgeResponse {
  const etag = `"${createHash("sha256").update(path).digest("hex").slice(0, 16)}"`;
  const isSame = headers["if-none-match"] === etag;
  return {
    status: isSame ? 304 : 200,
    headers: { "content-type": "image/png", etag },
    body: "",
    bytes: isSame ? Buffer.alloc(0) : colouredPng(path),
    repositories: 0,
  };
}
