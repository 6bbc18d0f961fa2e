import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The place in node_modules of the package that a file belongs to, or undefined for files of the project. */
export function packageOf(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

/** The licences of packages, as their authors distribute them. They must come with every copy of their code. */
export function licenceTexts(root: string, places: readonly string[]): string {
  const parts = places.map((place) => {
    const folder = join(root, place);
    const {
      name,
      version,
      license = "",
      author = "",
    }: Record<string, unknown> = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const texts = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|copying|notice)([.-]|$)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), "utf8").trim());
    const owner = typeof author === "object" && author !== null && "name" in author ? author.name : author;
    const text =
      texts.length > 0 ? texts : [`Licence: ${license}. ${owner === "" ? "" : `By ${owner}.`}`.trim()];
    return `${name} ${version}\n\n${text.join("\n\n")}\n`;
  });
  const rule = `${"-".repeat(80)}\n`;
  return `This program contains these packages, under their own licences.\n\n${rule}${parts.join(`\n${rule}`)}`;
}
