/** Charts and badges as files, and the list of them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Theme } from "../charts/charts.js";
import { queryOf, repositoryKey } from "../lib/page-addresses.js";
import type { Repository, RepositoryAddress } from "../repositories/repositories.js";
import { fileName, readEarlier, removeStale, write, writtenPath } from "./files.js";
import type { Pass } from "./pass.js";

/** A repository as the list names it, which keeps its files where they are when it is renamed. */
export interface Published {
  listed: RepositoryAddress;
  repository: Repository;
}

const MANIFEST = "repositories.json";

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

/** Names of the files of a repository, in the folder of pictures. */
export function filesOf({ provider, fullName }: RepositoryAddress): { chart: string; badge: string } {
  const path = [provider.toLowerCase(), ...fullName.split("/")].map(fileName).join("/");
  return { chart: `charts/${path}.svg`, badge: `badges/${path}.svg` };
}

const readOrEmpty = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

export const isListed = (
  { listed }: Pick<Published, "listed">,
  { provider, fullName }: RepositoryAddress,
): boolean => listed.provider === provider && listed.fullName.toLowerCase() === fullName.toLowerCase();
