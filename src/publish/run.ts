import { lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { historyView } from "../api/api.js";
import { chartPoints, type Theme } from "../charts/charts.js";
import { readSeries } from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { updateDerived } from "../modules.js";
import { addressReader, type Catalog, type Repository } from "../repositories/repositories.js";
import { untrack } from "../tracking/tracking.js";
import { dumpPages, importFiles, stateFiles, writeState } from "../transfer/transfer.js";
import { InputFault, makeFolder, readEarlier, writeJson } from "./files.js";
import { readKnown, wholeHistories, writeKnown } from "./known.js";
import { type GivenList, type Listed, type ListedAddress, readList, resolveList } from "./list.js";
import { encodedPath, ownRepository, rawAddress } from "./own.js";
import type { Pass } from "./pass.js";
import {
  type EarlierEntry,
  filesOf,
  isListed,
  isSame,
  namesOf,
  type Published,
  readPublished,
  writePictures,
} from "./pictures.js";
import { type ReadOutcome, readAll } from "./reading.js";
import { fillReadme, markdownOf } from "./readme.js";
import { newsOf, reportText, type StarNews, type Totals, totalsOf } from "./report.js";
import { readSite, writeSite } from "./site.js";
import { unreadSchema } from "./unread.js";

/** The state holds lines that cannot be read; nothing was written, as they would be lost. */
export class StateFault extends Error {}

export interface PublishOptions {
  list: GivenList;
  /** Folders of the state and of the pictures. */
  state: string;
  out: string;
  readmes: readonly string[];
  /** The branch of the job's repository that the working directory becomes; then pictures have addresses that work everywhere. */
  branch?: string;
  theme: Theme;
  /** Folder and public address of a site; an address without a slash at its end. */
  site?: { folder: string; url: string | undefined };
  clock: Clock;
}

export interface PublishReport extends Totals {
  /** Repositories that the list names, and those of them that were read now. */
  listed: number;
  read: number;
  repositories: (StarNews & {
    history: ReturnType<typeof historyView>;
    /** The Markdown that shows its chart anywhere; undefined unless the charts become a branch of a job's repository. */
    embed: string | undefined;
  })[];
  /** Whether the state has anything new except that counts are still the same. */
  isChanged: boolean;
  /** Repositories whose pictures were drawn. */
  drawn: number;
  /** Pages of the site. */
  pages: number;
  /** Sentences about repositories and files that could not be read or written. */
  problems: string[];
  /** Sentences about repositories that their forges no longer show, or that have left the list. */
  gone: string[];
  /** Whether somebody must look: nothing could be read, or a name in the list for a week. */
  needsHelp: boolean;
  /** The report for readers. */
  markdown: string;
}

/**
 * Reads the repositories of a list once and writes its state and its pictures. Those that could not be read keep their last counts; the files of
 * repositories that have left the list are deleted. Throws InputFault and StateFault.
 */
export async function publish(pass: Pass, options: PublishOptions): Promise<PublishReport> {
  const { state, out, readmes, theme, clock } = options;
  const { catalog } = pass.modules;
  const list = readList(pass, options.list);
  checkPaths(options);
  await importState(pass, state);
  const reader = addressReader(pass.forges);
  const read = (name: string) => {
    const address = reader(name);
    return "problem" in address ? address.problem : address;
  };
  const earlier = readPublished(out).repositories;
  const earlierIds = await Promise.all(earlier.map((one) => idOf(catalog, one)));
  const last = earlier.map(({ provider, listed }) => read(repositoryKey({ provider, fullName: listed })));
  const { addresses, comparisons, title, problems } = await resolveList(
    pass,
    list,
    last.filter((address) => typeof address !== "string"),
  );
  const before = await Promise.all(
    addresses.map(({ provider, fullName }) => catalog.findByName(provider, fullName)),
  );
  const since = clock.now();
  const outcome = await readAll(pass, addresses, {
    known: readKnown(state),
    whole: wholeHistories(stateFiles(state)),
    unread: readEarlier(join(state, UNREAD), unreadSchema) ?? {},
    now: since,
  });
  const isChanged = await keep(pass, state, { outcome, since });
  const address = addressOf(pass, options);
  const described = await describe(pass.modules, addresses, {
    ...{ before, earlier, address, ids: outcome.ids },
    filesOf: fileNames(pass, earlier, { addresses, earlierIds }),
  });
  const { published, repositories, left, lastAt } = described;
  const pictures = await writePictures(pass, out, { published, theme, now: since });
  const site = await drawSite(pass, options.site, { published, comparisons, title });
  // Before anything was read once, a block would only lose its text.
  const inReadmes = (published.length > 0 ? readmes : []).flatMap((readme) =>
    fillReadme(readme, address ?? encodedPath(relative(dirname(readme), out)), { published, read }),
  );
  const report = {
    listed: addresses.length,
    read: outcome.read,
    repositories,
    ...totalsOf(repositories),
    drawn: pictures.drawn,
    problems: [problems, outcome.problems, pictures.problems, site.problems, inReadmes].flat(),
    gone: [...outcome.gone, ...left],
  };
  return {
    ...report,
    isChanged,
    pages: site.pages,
    needsHelp:
      outcome.isOverdue || (outcome.read === 0 && outcome.gone.length < Math.max(1, addresses.length)),
    markdown: reportText({ ...report, now: since, lastAt }),
  };
}

/** Names that were never read. */
const UNREAD = "unread.json";

/** Writes what was read since a time into the state, and computes pages of the listed repositories alone. Returns whether the state has changed. */
async function keep(
  pass: Pass,
  state: string,
  { outcome, since }: { outcome: ReadOutcome; since: number },
): Promise<boolean> {
  const isChanged = await writeState(pass.modules.catalog, state, since);
  writeKnown(state, outcome.known);
  await removeOthers(pass.modules, new Set(outcome.ids));
  await updateDerived(pass.modules);
  const unread = join(state, UNREAD);
  if (Object.keys(outcome.unread).length > 0) writeJson(unread, outcome.unread);
  else rmSync(unread, { force: true });
  return isChanged;
}

/** The public address of the folder of charts; undefined unless it is on a branch of a job's repository. */
function addressOf(pass: Pass, { branch, out }: PublishOptions): string | undefined {
  const folder = relative(process.cwd(), out);
  const raw = branch === undefined || folder.startsWith("..") ? undefined : rawAddress(pass, branch);
  return raw === undefined || folder === "" ? raw : `${raw}/${encodedPath(folder)}`;
}

/** The id of a repository in the state that an earlier run has published; undefined: it is not there. */
async function idOf(
  catalog: Catalog,
  { provider, listed, fullName = listed }: EarlierEntry,
): Promise<number | undefined> {
  const found =
    (await catalog.findByName(provider, listed)) ?? (await catalog.findByName(provider, fullName));
  return found?.repository.id;
}

/** Finds the names of files: those of the list, and those that earlier runs have given to the same repository. */
function fileNames(
  pass: Pass,
  earlier: readonly EarlierEntry[],
  {
    addresses,
    earlierIds,
  }: { addresses: readonly ListedAddress[]; earlierIds: readonly (number | undefined)[] },
): (listed: ListedAddress, id: number) => Published["files"] {
  const home = ownRepository(pass)?.provider ?? "GITHUB";
  return (listed, id) => {
    const own = earlier.filter((one, i) => {
      if (isSame(listed, one)) return true;
      // Renamed in the list.
      return id === earlierIds[i] && !addresses.some((address) => isSame(address, one));
    });
    return filesOf(listed, { home, forges: pass.forges, earlier: own });
  };
}

/** What there is now of each repository of the list, without those that were never read; what has left it, and when it was read last. */
async function describe(
  { catalog, database }: Pass["modules"],
  addresses: readonly ListedAddress[],
  {
    before,
    earlier,
    address,
    ids,
    filesOf,
  }: {
    before: readonly ({ repository: Repository } | undefined)[];
    earlier: readonly EarlierEntry[];
    /** Of the folder of charts. */
    address: string | undefined;
    ids: readonly (number | undefined)[];
    filesOf: (listed: ListedAddress, id: number) => Published["files"];
  },
) {
  const published: Published[] = [];
  const repositories: PublishReport["repositories"] = [];
  for (const [i, listed] of addresses.entries()) {
    const id = ids[i];
    const repository = id === undefined ? undefined : await catalog.find(id);
    if (repository === undefined) continue;
    const history = await catalog.historyState(repository.id);
    const { firstSnapshotAt: since } = await catalog.snapshotRange(repository.id);
    const { series } = await readSeries(database, repository.id);
    const points = chartPoints(series, "stars");
    const one = { listed, repository, history, since, points, files: filesOf(listed, repository.id) };
    published.push(one);
    repositories.push({
      ...newsOf(one, series, before[i]?.repository),
      // The next run tries again, whenever it is.
      history: historyView({ ...history, nextAt: null }, 0),
      embed: address === undefined ? undefined : markdownOf(one, address),
    });
  }
  const names = new Set(published.flatMap(({ files }) => namesOf(files)));
  const left = earlier
    .filter((one) => !published.some(({ listed }) => isSame(listed, one)) && !names.has(one.chart ?? ""))
    .map(({ provider, listed }) => `${repositoryKey({ provider, fullName: listed })}: left the list`);
  const readAt = before.flatMap((one) => one?.repository.countedAt ?? []);
  return { published, repositories, left, lastAt: readAt.length === 0 ? null : Math.max(...readAt) };
}

async function drawSite(
  pass: Pass,
  site: PublishOptions["site"],
  {
    published,
    comparisons,
    title = ownerOfMost(published),
  }: { published: readonly Published[]; comparisons: Listed["comparisons"]; title: string | undefined },
): Promise<Pick<PublishReport, "pages" | "problems">> {
  if (site === undefined) return { pages: 0, problems: [] };
  return writeSite(pass, site.folder, {
    repositories: published.map(({ repository }) => repository),
    comparisons: comparisons
      .map(({ addresses, name }) => ({
        name,
        repositories: addresses.flatMap((one) => published.find((it) => isListed(it, one))?.repository ?? []),
      }))
      .filter(({ repositories }) => repositories.length > 1),
    title,
    url: site.url,
  });
}

/** The owner of most of the repositories. */
function ownerOfMost(published: readonly Published[]): string {
  const owners = [...Map.groupBy(published, ({ repository }) => repository.owner)];
  return owners.sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? "Repositories";
}

/** Throws InputFault unless everything can be written where it is wanted. */
function checkPaths({ state, out, site, readmes }: PublishOptions): void {
  for (const folder of [state, out, site?.folder ?? []].flat()) makeFolder(folder);
  for (const entry of readdirSync(state, { withFileTypes: true }))
    if (entry.isSymbolicLink())
      throw new InputFault(`${join(state, entry.name)} is a link; links are not followed`);
  readPublished(out);
  if (site !== undefined) readSite(site.folder);
  for (const readme of readmes)
    if (lstatSync(readme, { throwIfNoEntry: false })?.isFile() !== true)
      throw new InputFault(`--readme: there is no file ${readme}; links are not followed`);
}

/** The state keeps repositories that have left the list; pages and rankings have those in it. */
async function removeOthers(
  modules: Pass["modules"],
  listed: ReadonlySet<number | undefined>,
): Promise<void> {
  for await (const page of dumpPages(modules.catalog))
    for (const { repository } of page)
      if (!listed.has(repository.id)) await untrack(modules, repository, { deletes: true });
}

async function importState({ modules }: Pass, folder: string): Promise<void> {
  let problem: string | undefined;
  const { refused } = await importFiles(modules.catalog, stateFiles(folder), {
    onRefused: ({ file, line, reason }) => {
      problem ??= `${file}:${line}: ${reason}`;
    },
  });
  if (refused > 0)
    throw new StateFault(`The state cannot be read: ${problem ?? ""}; ${refused} lines are damaged`);
}
