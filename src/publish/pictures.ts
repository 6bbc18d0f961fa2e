/** Charts and badges as files, and the list of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { ChartPoint, Theme } from "../charts/charts.js";
import { isoDay, timeOrNull, WEEK_MS } from "../lib/clock.js";
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
  /** Its stars, as charts show them. */
  points: readonly ChartPoint[];
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
      drawn: z.iso.date().optional(),
    }),
  ),
  /** Files of earlier runs, while a run is replacing them. */
  left: z.array(writtenPath).default([]),
});

/** The repositories whose pictures an earlier run has written to a folder, and its files. Throws PathFault for a file of others. */
export const readPublished = (folder: string): z.output<typeof manifestSchema> =>
  readManifest(folder, MANIFEST, manifestSchema) ?? { format: FORMAT, repositories: [], left: [] };

/** How long a picture stays if only time has passed. */
const KEPT_MS = WEEK_MS;

/**
 * Writes a chart and a badge of each repository, and the list of them. Pictures that show the same counts as before stay for a week:
 * each one takes room in git, and the date at its foot is that of its counts. Deletes those of repositories that are no longer published.
 * Returns the number of repositories whose pictures were drawn, and sentences about files that it could not write.
 */
export async function writePictures(
  { responder }: Pass,
  folder: string,
  { published, theme, now }: { published: readonly Published[]; theme: Theme; now: number },
): Promise<{ drawn: number; problems: string[] }> {
  const { repositories, left, ...earlier } = readPublished(folder);
  const own = new OwnFolder(folder, [
    ...repositories.flatMap(({ chart, badge }) => [chart ?? [], badge ?? []].flat()),
    ...left,
  ]);
  own.claim(published.flatMap(({ files }) => [files.chart, files.badge]));
  // A run that was killed has left a list of all files, not all of which it had drawn.
  const isSameLook = earlier.theme === theme && left.length === 0;
  const byName = new Map(repositories.map((one) => [repositoryKey({ ...one, fullName: one.listed }), one]));
  const entries = published.map((one) => {
    const { drawn, ...before } = byName.get(repositoryKey(one.listed)) ?? {};
    const entry = entryOf(one, (file) => own.has(file));
    const isKept =
      isSameLook &&
      drawn !== undefined &&
      now - Date.parse(drawn) < KEPT_MS &&
      isDeepStrictEqual(before, entry) &&
      Object.values(one.files).every((file) => !own.has(file) || existsSync(join(folder, file)));
    return { one, isKept, entry: { ...entry, drawn: isKept ? drawn : isoDay(now) } };
  });
  const manifest = { format: FORMAT, version: 1, theme, repositories: entries.map(({ entry }) => entry) };
  const redrawn = entries.filter(({ isKept }) => !isKept);
  if (redrawn.length > 0 || own.stale.length > 0)
    writeJson(join(folder, MANIFEST), { ...manifest, left: own.files.concat(own.stale) });
  for (const { repository, files } of redrawn.map(({ one }) => one)) {
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
  return { drawn: redrawn.length, problems: own.problems() };
}

/** What the pictures of a repository show, and their files. */
function entryOf(
  { listed, repository, history, since, points, files }: Published,
  isOwn: (file: string) => boolean,
) {
  return {
    provider: repository.provider,
    listed: listed.fullName,
    fullName: repository.fullName,
    url: repository.url,
    availability: repository.availability,
    stars: repository.stars,
    // A count that waits for confirmation is not shown yet.
    shown: points.at(-1)?.value ?? null,
    history: history.state,
    since: timeOrNull(since),
    ...Object.fromEntries(Object.entries(files).filter(([, file]) => isOwn(file))),
  };
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
