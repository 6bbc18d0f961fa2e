import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
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
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits per pixel, with a palette.
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", header),
    pngChunk("PLTE", createHash("sha256").update(text).digest().subarray(0, 3)),
    pngChunk("IDAT", deflateSync(Buffer.alloc((side + 1) * side))),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** The image at an address, without a token or a limit. */
export function handleAvatar({ path }: ForgeRequest): ForgeResponse {
  return {
    status: 200,
    headers: { "content-type": "image/png" },
    body: "",
    bytes: colouredPng(path),
    repositories: 0,
  };
}
