/** The folders of `src` and their imports, for the architecture test and `npm run tree`. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** The floors from the ground up, each with its folders in order. Imports run downward only: to folders named before one's own. */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  ground: ["lib", "config", "database"],
  domain: ["repositories", "forges", "accounts", "growth", "discovery", "transfer", "watchlists", "charts"],
  engines: ["tracking", "http"],
  faces: ["modules", "api", "web", "mcp", "publish", "cli"],
  roof: ["app", "main", "launcher"],
};

/** Paths relative to `src`, with the extension in `from` only. */
export interface Import {
  from: string;
  to: string;
}

/** Paths of all TypeScript files below a folder. */
export function sourceFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(directory, file));
}

/** The relative imports of a file of `src`. */
export function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => ({
    from: relative("src", file),
    to: normalize(join(dirname(relative("src", file)), (match[1] ?? "").replace(/\.js$/, ""))),
  }));
}

/** The folder of a path relative to `src`, or the name of a file that stands alone there. */
export const folderOf = (path: string): string => (path.split("/")[0] ?? "").replace(/\.tsx?$/, "");
