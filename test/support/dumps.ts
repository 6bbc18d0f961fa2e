import { createHash } from "node:crypto";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The name of the planted dump. */
export const PLANTED = "20260430T120000Z";

/** What the files of a planted dump have: bytes that tell their place. */
export function plantedBytes(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 7 + (i >> 8)) & 255));
}

/** Plants a dump whose repositories take so many bytes, without writing Parquet. `isSparse`: zeros that take no room. */
export function plantDump(folder: string, bytes: number, { isSparse = false } = {}): void {
  const files = ["repositories.parquet", "snapshots/2026-03.parquet", "snapshots/2026-04.parquet"];
  const entries = files.map((path, i) => {
    const location = join(folder, PLANTED, path);
    mkdirSync(dirname(location), { recursive: true });
    const content = i > 0 ? plantedBytes(1_000 * i) : isSparse ? Buffer.alloc(0) : plantedBytes(bytes);
    writeFileSync(location, content);
    if (isSparse && i === 0) truncateSync(location, bytes);
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { path, bytes: i === 0 ? bytes : content.length, rows: 10 * (i + 1), sha256 };
  });
  const manifest = {
    format: "sidereal-parquet",
    version: 1,
    asOf: "2026-04-30T12:00:00.000Z",
    catalogue: "real",
    repositoryCount: 10,
    snapshots: 50,
    files: entries,
  };
  writeFileSync(join(folder, PLANTED, "manifest.json"), JSON.stringify(manifest));
}
