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
  files: { chart: string; badge: string; former: Former };
}

/** Names that earlier runs gave to the files of a repository, and that addresses still lead to. */
interface Former {
  charts: readonly string[];
  badges: readonly string[];
}

const MANIFEST = "repositories.json";

const FORMAT = "sidereal-published";
const manifestSchema = z.looseObject({
  format: z.literal(FORMAT),
  repositories: z.array(
    z.looseObject({
      provider: z.string(),
      listed: z.string(),
      fullName: z.string().optional(),
      chart: writtenPath.optional(),
      badge: writtenPath.optional(),
      drawn: z.iso.date().optional(),
      former: z
        .object({ charts: z.array(writtenPath), badges: z.array(writtenPath) })
        .default({ charts: [], badges: [] }),
    }),
  ),
  /** Files of earlier runs, while a run is replacing them. */
  left: z.array(writtenPath).default([]),
});

/** The repositories whose pictures an earlier run has written to a folder, and its files. Throws InputFault for a file of others. */
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
  const own = new OwnFolder(folder, [...repositories.flatMap(namesOf), ...left]);
  const current = published.flatMap(({ files }) => [files.chart, files.badge]);
  own.claim(current);
  const taken = new Set(current.map((file) => file.toLowerCase()));
  own.claim(
    published.flatMap(({ files }) =>
      namesOf({ former: files.former }).filter((file) => !taken.has(file.toLowerCase())),
    ),
  );
  // A run that was killed has left a list of all files, some of which it had not drawn.
  const isSameLook = earlier.theme === theme && left.length === 0;
  const byName = new Map(repositories.map((one) => [repositoryKey({ ...one, fullName: one.listed }), one]));
  const entries = published.map((one) => {
    const { drawn, ...before } = byName.get(repositoryKey(one.listed)) ?? {};
    const entry = entryOf(one, (file) => own.has(file));
    const isKept =
      isSameLook &&
      drawn !== undefined &&
      Math.abs(now - Date.parse(drawn)) < KEPT_MS &&
      isDeepStrictEqual(before, entry) &&
      namesOf(one.files).every((file) => !own.has(file) || existsSync(join(folder, file)));
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
    for (const file of [files.chart, ...files.former.charts])
      await own.write(file, picture("chart", ["window", "all"]));
    for (const file of [files.badge, ...files.former.badges])
      await own.write(file, picture("badge", ["kind", "stars"]));
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
    ...(isOwn(files.chart) && { chart: files.chart }),
    ...(isOwn(files.badge) && { badge: files.badge }),
    former: { charts: files.former.charts.filter(isOwn), badges: files.former.badges.filter(isOwn) },
  };
}

export type EarlierEntry = z.output<typeof manifestSchema>["repositories"][number];

/** All names of files of a repository. */
export const namesOf = ({
  chart,
  badge,
  former,
}: {
  chart?: string | undefined;
  badge?: string | undefined;
  former: Former;
}): string[] => [chart ?? [], badge ?? [], former.charts, former.badges].flat();

/** The names of top folders that something else may have: files of a branch, and what is next to charts. */
const TAKEN = /\.|^(?:badges|charts|state)$/i;

/**
 * The files of a repository: `acme/kite.svg` on the forge `home`, `codeberg/acme/kite.svg` on others. `earlier`: what earlier runs wrote
 * of it, which addresses lead to.
 */
export function filesOf(
  listed: RepositoryAddress,
  {
    home,
    forges,
    earlier,
  }: { home: string; forges: readonly { name: string }[]; earlier: readonly EarlierEntry[] },
): Published["files"] {
  const owners = listed.fullName.split("/");
  const name = fileName(owners.pop() ?? "");
  const isForge = (part: string) => forges.some((forge) => forge.name === part.toUpperCase());
  const isHome = listed.provider === home;
  const folders = owners.map((part, i) => {
    if (i > 0 || !isHome) return fileName(part, /\.svg$/i);
    return fileName(part, isForge(part) ? /^/ : TAKEN);
  });
  if (!isHome) folders.unshift(fileName(listed.provider.toLowerCase(), TAKEN));
  const chart = [...folders, `${name}.svg`].join("/");
  const badge = `badges/${chart}`;
  const former = (of: (entry: EarlierEntry) => readonly string[], now: string) =>
    [...new Set(earlier.flatMap(of))].filter((file) => file.toLowerCase() !== now.toLowerCase());
  return {
    chart,
    badge,
    former: {
      charts: former((one) => [one.chart ?? [], one.former.charts].flat(), chart),
      badges: former((one) => [one.badge ?? [], one.former.badges].flat(), badge),
    },
  };
}

/** Whether two entries of lists have the same name. */
export const isSame = (a: Named, b: Named): boolean =>
  a.provider === b.provider && fullNameKey(listedOf(a)) === fullNameKey(listedOf(b));

type Named = RepositoryAddress | Pick<EarlierEntry, "provider" | "listed">;
const listedOf = (one: Named): string => ("listed" in one ? one.listed : one.fullName);

export const isListed = ({ listed }: Pick<Published, "listed">, address: RepositoryAddress): boolean =>
  isSame(listed, address);
