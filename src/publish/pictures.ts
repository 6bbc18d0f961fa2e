/** Charts and badges as files, and the list of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Theme } from "../charts/charts.js";
import { timeOrNull } from "../lib/clock.js";
import { queryOf, repositoryKey } from "../lib/page-addresses.js";
import {
  fullNameKey,
  type HistoryState,
  type Repository,
  type RepositoryAddress,
} from "../repositories/repositories.js";
import { fileName, OwnFolder, readManifest, writeJson, writtenPath } from "./files.js";
import type { Pass } from "./pass.js";

/** A repository as the list names it, which keeps its files in their place when it is renamed. */
export interface Published {
  listed: RepositoryAddress;
  repository: Repository;
  history: HistoryState;
  /** When its first snapshot was captured. */
  since: number | null;
  files: { chart: string; badge: string };
}

const MANIFEST = "repositories.json";

const FORMAT = "sidereal-published";
const manifestSchema = z.looseObject({
  format: z.literal(FORMAT),
  repositories: z.array(
    z.looseObject({
      provider: z.string(),
      listed: z.string(),
      chart: writtenPath.optional(),
      badge: writtenPath.optional(),
    }),
  ),
  /** Files of earlier runs, while a run is replacing them. */
  left: z.array(writtenPath).default([]),
});

/** The repositories whose pictures an earlier run has written to a folder, and its files. Throws PathFault for a file of others. */
export const readPublished = (folder: string): z.output<typeof manifestSchema> =>
  readManifest(folder, MANIFEST, manifestSchema) ?? { format: FORMAT, repositories: [], left: [] };

/**
 * Writes a chart and a badge of each repository, and the list of them, unless nothing has changed: pictures name the day on which they
 * were drawn. Deletes those of repositories that are no longer published. Returns whether it has drawn, and sentences about files that it
 * could not write.
 */
export async function writePictures(
  { responder }: Pass,
  folder: string,
  { published, theme, isChanged }: { published: readonly Published[]; theme: Theme; isChanged: boolean },
): Promise<{ isDrawn: boolean; problems: string[] }> {
  const { repositories, left, ...earlier } = readPublished(folder);
  const own = new OwnFolder(folder, [
    ...repositories.flatMap(({ chart, badge }) => [chart ?? [], badge ?? []].flat()),
    ...left,
  ]);
  own.claim(published.flatMap(({ files }) => [files.chart, files.badge]));
  const manifest = {
    ...{ format: FORMAT, version: 1, theme },
    repositories: published.map(({ listed, repository, history, since, files }) => ({
      provider: repository.provider,
      listed: listed.fullName,
      fullName: repository.fullName,
      url: repository.url,
      availability: repository.availability,
      stars: repository.stars,
      history: history.state,
      since: timeOrNull(since),
      ...Object.fromEntries(Object.entries(files).filter(([, file]) => own.has(file))),
    })),
  };
  const isWhole = own.files.every((file) => existsSync(join(folder, file)));
  if (!isChanged && isWhole && isDeepStrictEqual({ ...earlier, repositories }, manifest) && left.length === 0)
    return { isDrawn: false, problems: own.problems() };
  // A run that is killed leaves a list with all files, and the next one draws again.
  writeJson(join(folder, MANIFEST), { ...manifest, left: own.files.concat(own.stale) });
  for (const { repository, files } of published) {
    const repo = ["repo", repositoryKey(repository)] as const;
    const look = ["theme", theme] as const;
    const picture =
      (kind: string, ...more: (readonly [string, string])[]) =>
      async () =>
        String((await responder.get(`/api/embed/${kind}.svg?${queryOf([repo, ...more, look])}`)).body);
    await own.write(files.chart, picture("chart", ["window", "all"]));
    await own.write(files.badge, picture("badge", ["kind", "stars"]));
  }
  own.removeStale();
  writeJson(join(folder, MANIFEST), manifest);
  return { isDrawn: own.files.length > 0, problems: own.problems() };
}

/** The files of a repository: those that it has, as addresses lead to them, or new ones by its name in the list. */
export function filesOf(
  listed: RepositoryAddress,
  earlier: z.output<typeof manifestSchema>["repositories"],
): Published["files"] {
  const found = earlier.find((one) => isSame(listed, { provider: one.provider, fullName: one.listed }));
  const parts = [listed.provider.toLowerCase(), ...listed.fullName.split("/")];
  const name = fileName(parts.pop() ?? "");
  const path = [...parts.map((part) => fileName(part, /\.svg$/i)), `${name}.svg`].join("/");
  return { chart: found?.chart ?? `charts/${path}`, badge: found?.badge ?? `badges/${path}` };
}

const isSame = (a: RepositoryAddress, b: RepositoryAddress): boolean =>
  a.provider === b.provider && fullNameKey(a.fullName) === fullNameKey(b.fullName);

export const isListed = ({ listed }: Pick<Published, "listed">, address: RepositoryAddress): boolean =>
  isSame(listed, address);
