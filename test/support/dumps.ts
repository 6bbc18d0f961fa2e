import { createHash } from "node:crypto";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The name of the planted dump. */
export const PLANTED = "sidereal-20260430T120000Z.ndjson.gz";

/** What the file of a planted dump has: bytes that tell their place. */
export function plantedBytes(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 7 + (i >> 8)) & 255));
}

/** Plants a dump of so many bytes, without compressing anything. `isSparse`: zeros that take no room. */
export function plantDump(folder: string, bytes: number, { isSparse = false } = {}): void {
  mkdirSync(folder, { recursive: true });
  const content = isSparse ? Buffer.alloc(0) : plantedBytes(bytes);
  writeFileSync(join(folder, PLANTED), content);
  if (isSparse) truncateSync(join(folder, PLANTED), bytes);
  const description = {
    version: 1,
    asOf: "2026-04-30T12:00:00.000Z",
    catalogue: "real",
    repositoryCount: 10,
    snapshots: 50,
    bytes,
    sha256: createHash("sha256").update(content).digest("hex"),
  };
  writeFileSync(join(folder, PLANTED.replace("ndjson.gz", "json")), JSON.stringify(description));
}
