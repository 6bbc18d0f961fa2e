import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./imports.js";

/** Where the public data sets are looked for: beside the repository, or where the environment says. */
const FOLDER =
  process.env.SIDEREAL_TEST_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));

/** Why tests with real data cannot run, for `skip`; false when they can. */
export const withoutRealData: string | false = existsSync(join(FOLDER, "github-ranking"))
  ? false
  : "the public data sets are not here: set SIDEREAL_TEST_DATA to a folder with github-ranking, awesome-go and multi-provider";

/** The path of a file of the data sets. */
export function realData(...path: string[]): string {
  return join(FOLDER, ...path);
}

/** Takes files out of a .tar.xz archive into a folder that is gone when the tests end; gives their paths. */
export function unpack(archive: string, names: readonly string[]): string[] {
  const folder = temporaryFolder();
  execFileSync("tar", ["-xJf", archive, "-C", folder, ...names]);
  return names.map((name) => join(folder, name));
}

/** The rows of a CSV file as objects, read in the plainest way, apart from everything that is tested. */
export function plainRows(path: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  let cell = "";
  let isQuoted = false;
  const text = readFileSync(path, "utf8").replaceAll("\r\n", "\n").replace(/\n?$/, "\n");
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "," || character === "\n")) {
      rows.at(-1)?.push(cell);
      cell = "";
      if (character === "\n") rows.push([]);
    } else cell += character;
  }
  const [header = [], ...rest] = rows.slice(0, -1);
  return rest.map((row) => Object.fromEntries(header.map((column, i) => [column, row[i] ?? ""])));
}
