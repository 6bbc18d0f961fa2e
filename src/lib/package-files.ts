import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The path of a file that a library brings, such as a font. Next to the bundle there is a copy, as the libraries in it are not
 * installed with it; `scripts/bundle.ts` lists these files.
 */
export function libraryFile(path: string): string {
  const copy = fileURLToPath(new URL(`./files/${basename(path)}`, import.meta.url));
  return existsSync(copy) ? copy : createRequire(import.meta.url).resolve(path);
}

/** A file of this package. The program is below its `dist/`, in a checkout and in an installed package. */
export function packageFile(path: string): URL {
  const { url } = import.meta;
  return new URL(path, url.slice(0, url.lastIndexOf("/dist/") + 1));
}
