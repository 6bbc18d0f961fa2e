/** Prints the folders of `src`, floor by floor: lines, files, and the folders that each imports from. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { FLOORS, folderOf, importsOf, sourceFiles } from "./floors.ts";

const ORDER = Object.values(FLOORS).flat();
const files = sourceFiles("src").map((path) => ({
  folder: folderOf(relative("src", path)),
  lines: readFileSync(path, "utf8").split("\n").length - 1,
  imported: importsOf(path).map(({ to }) => folderOf(to)),
}));
const count = (value: number) => value.toLocaleString("en");
const sum = (chosen: typeof files) =>
  `${count(chosen.reduce((lines, file) => lines + file.lines, 0))} lines, ${chosen.length} file${chosen.length === 1 ? "" : "s"}`;

for (const [floor, folders] of Object.entries(FLOORS)) {
  process.stdout.write(`${floor}\n`);
  for (const folder of folders) {
    const own = files.filter((file) => file.folder === folder);
    if (own.length === 0) continue;
    const imported = new Set(own.flatMap((file) => file.imported));
    const below = ORDER.filter((name) => name !== folder && imported.has(name));
    process.stdout.write(`  ${folder} ${sum(own)}${below.length > 0 ? ` ← ${below.join(" ")}` : ""}\n`);
  }
}
process.stdout.write(`src ${sum(files)}\n`);
