/** Charts and badges as files, the list of them, and blocks in READMEs that show them. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { z } from "zod";
import { snippetsOf, type Theme } from "../charts/charts.js";
import { queryOf, repositoryKey } from "../lib/page-addresses.js";
import { replaceFile } from "../lib/replace-file.js";
import type { Repository, RepositoryAddress } from "../repositories/repositories.js";
import { fileName, readEarlier, removeStale, write, writtenPath } from "./files.js";
import type { Pass } from "./pass.js";

/** A repository as the list names it, which keeps its files where they are when it is renamed. */
export interface Published {
  listed: RepositoryAddress;
  repository: Repository;
}

const MANIFEST = "repositories.json";
const CHART = { width: 600, height: 380 };

const manifestSchema = z.object({
  repositories: z.array(
    z.object({ provider: z.string(), listed: z.string(), chart: writtenPath, badge: writtenPath }),
  ),
});

/** The repositories whose pictures an earlier run has written to a folder, and their files. */
export const readPublished = (folder: string): z.output<typeof manifestSchema>["repositories"] =>
  readEarlier(join(folder, MANIFEST), manifestSchema)?.repositories ?? [];

/**
 * Writes a chart and a badge of each repository, and the list of them, unless nothing has changed: pictures name the day on which they
 * were drawn. Deletes those of repositories that are no longer published. Returns whether it has drawn.
 */
export async function writePictures(
  { responder }: Pass,
  folder: string,
  { published, theme, isChanged }: { published: readonly Published[]; theme: Theme; isChanged: boolean },
): Promise<boolean> {
  const entries = published.map((one) => ({ ...one, files: filesOf(one.listed) }));
  const manifest = `${JSON.stringify(
    {
      format: "sidereal-published",
      version: 1,
      theme,
      repositories: entries.map(({ listed, repository, files }) => ({
        provider: repository.provider,
        listed: listed.fullName,
        fullName: repository.fullName,
        url: repository.url,
        availability: repository.availability,
        stars: repository.stars,
        ...files,
      })),
    },
    null,
    1,
  )}\n`;
  const isWhole = entries.every(({ files }) =>
    Object.values(files).every((file) => existsSync(join(folder, file))),
  );
  if (!isChanged && isWhole && readOrEmpty(join(folder, MANIFEST)) === manifest) return false;
  for (const { repository, files } of entries) {
    const repo = ["repo", repositoryKey(repository)] as const;
    const look = ["theme", theme] as const;
    const chart = queryOf([repo, ["window", "all"], look]);
    const badge = queryOf([repo, ["kind", "stars"], look]);
    write(join(folder, files.chart), (await responder.get(`/api/embed/chart.svg?${chart}`)).body);
    write(join(folder, files.badge), (await responder.get(`/api/embed/badge.svg?${badge}`)).body);
  }
  removeStale(
    folder,
    readPublished(folder).flatMap(({ chart, badge }) => [chart, badge]),
    entries.flatMap(({ files }) => Object.values(files)),
  );
  write(join(folder, MANIFEST), manifest);
  return entries.length > 0;
}

function filesOf({ provider, fullName }: RepositoryAddress): { chart: string; badge: string } {
  const path = [provider.toLowerCase(), ...fullName.split("/")].map(fileName).join("/");
  return { chart: `charts/${path}.svg`, badge: `badges/${path}.svg` };
}

const readOrEmpty = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

const BEGIN = /<!-- sidereal((?: [^\s<>]{1,440}){0,100}) -->/g;
const END = "<!-- /sidereal -->";

/**
 * Fills the blocks of a README between `<!-- sidereal -->` and `<!-- /sidereal -->` with the charts of all repositories, or of those that
 * the first comment names. Returns what is wrong with the blocks.
 */
export function fillReadme(
  path: string,
  folder: string,
  {
    published,
    read,
  }: { published: readonly Published[]; read: (name: string) => RepositoryAddress | string },
): string[] {
  const text = readFileSync(path, "utf8");
  const problems: string[] = [];
  let filled = "";
  let from = 0;
  for (const begin of text.matchAll(BEGIN)) {
    const bodyAt = begin.index + begin[0].length;
    if (begin.index < from) continue;
    const end = text.indexOf(END, bodyAt);
    if (end === -1) {
      problems.push(`${path}: <!-- sidereal --> has no ${END} after it`);
      break;
    }
    const names = (begin[1] ?? "").split(" ").filter((name) => name !== "");
    const shown = names.length === 0 ? [...published] : [];
    for (const name of names) {
      const address = read(name);
      const found = typeof address === "string" ? undefined : published.find((one) => isListed(one, address));
      if (found === undefined) problems.push(`${path}: a block names a repository that is not in the list`);
      else shown.push(found);
    }
    const lines = shown.map((one) => pictureOf(one, relative(dirname(path), folder)));
    filled += `${text.slice(from, bodyAt)}\n${lines.map((line) => `${line}\n`).join("")}`;
    from = end;
  }
  if (filled === "") problems.push(`${path}: has no block <!-- sidereal --> … ${END}`);
  const result = filled + text.slice(from);
  replaceFile(realpathSync(path), result);
  return problems;
}

export const isListed = ({ listed }: Published, { provider, fullName }: RepositoryAddress): boolean =>
  listed.provider === provider && listed.fullName.toLowerCase() === fullName.toLowerCase();

function pictureOf({ listed, repository }: Published, folder: string): string {
  const image = [...folder.split(sep), ...filesOf(listed).chart.split("/")]
    .filter((part) => part !== "")
    .map(encodeURIComponent)
    .join("/");
  const alt = `Stars of ${repository.fullName} over time`;
  return snippetsOf({ image, page: encodeURI(repository.url ?? image), alt, ...CHART }).markdown;
}
