import { join } from "node:path";
import { z } from "zod";
import type { Theme } from "../charts/charts.js";
import type { Clock } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { updateDerived } from "../modules.js";
import { addressReader } from "../repositories/repositories.js";
import { untrack } from "../tracking/tracking.js";
import { dumpPages, importFiles, stateFiles, writeState } from "../transfer/transfer.js";
import { readEarlier, write } from "./files.js";
import { resolveList } from "./list.js";
import type { Pass } from "./pass.js";
import { isListed, type Published, readPublished, writePictures } from "./pictures.js";
import { readAll } from "./reading.js";
import { fillReadme } from "./readme.js";
import { writeSite } from "./site.js";

/** The state holds lines that cannot be read; nothing was written, as they would be lost. */
export class StateFault extends Error {}

export interface PublishOptions {
  /** The text of the list. */
  list: string;
  /** Folders of the state and of the pictures. */
  state: string;
  out: string;
  readmes: readonly string[];
  theme: Theme;
  /** Folder and public address of a site; an address without a slash at its end. */
  site?: { folder: string; url: string | undefined };
  clock: Clock;
}

export interface PublishReport {
  /** Repositories that the list names, and those of them that were read now. */
  listed: number;
  read: number;
  repositories: {
    repository: string;
    stars: number | null /** Since the state was written; null: it is new. */;
    gained: number | null;
  }[];
  /** Whether the state, and whether the pictures were written. */
  isChanged: boolean;
  isDrawn: boolean;
  /** Pages of the site. */
  pages: number;
  /** Sentences about what could not be read. */
  problems: string[];
}

/**
 * Reads what a list names once and writes its state and its pictures. What could not be read keeps its last counts; the files of what has
 * left the list are deleted. Throws StateFault.
 */
export async function publish(pass: Pass, options: PublishOptions): Promise<PublishReport> {
  const { state, out, readmes, theme, clock } = options;
  const { catalog } = pass.modules;
  await importState(pass, state);
  const reader = addressReader(pass.forges);
  const read = (name: string) => {
    const address = reader(name);
    return "problem" in address ? address.problem : address;
  };
  const last = readPublished(out).map(({ provider, listed }) =>
    read(repositoryKey({ provider, fullName: listed })),
  );
  const { addresses, comparisons, problems } = await resolveList(
    pass,
    options.list,
    last.filter((address) => typeof address !== "string"),
  );
  const before = await Promise.all(
    addresses.map(({ provider, fullName }) => catalog.findByName(provider, fullName)),
  );
  const since = clock.now();
  const nodeIds = join(state, "node-ids.json");
  const outcome = await readAll(pass, addresses, readEarlier(nodeIds, nodeIdsSchema) ?? {});
  const isChanged = await writeState(catalog, state, { since, withoutHistory: outcome.withoutHistory });
  await removeOthers(pass.modules, new Set(outcome.ids));
  await updateDerived(pass.modules);
  write(nodeIds, `${JSON.stringify(outcome.nodeIds, null, 1)}\n`);
  const published: Published[] = [];
  const repositories: PublishReport["repositories"] = [];
  for (const [i, listed] of addresses.entries()) {
    const id = outcome.ids[i];
    const repository = id === undefined ? undefined : await catalog.find(id);
    if (repository === undefined) continue;
    published.push({ listed, repository });
    const { stars } = repository;
    const last = before[i]?.repository.stars ?? null;
    const gained = stars === null || last === null ? null : stars - last;
    repositories.push({ repository: repositoryKey(repository), stars, gained });
  }
  const isDrawn = await writePictures(pass, out, { published, theme, isChanged });
  const pages =
    options.site === undefined
      ? 0
      : await writeSite(pass, options.site.folder, {
          repositories: published.map(({ repository }) => repository),
          comparisons: comparisons
            .map((some) => some.flatMap((one) => published.find((it) => isListed(it, one))?.repository ?? []))
            .filter((some) => some.length > 1),
          url: options.site.url,
        });
  // Before anything was read once, a block would only lose its text.
  const filled = published.length > 0 || addresses.length === 0 ? readmes : [];
  const inReadmes = filled.flatMap((readme) => fillReadme(readme, out, { published, read }));
  return {
    listed: addresses.length,
    read: outcome.read,
    repositories,
    isChanged,
    isDrawn,
    pages,
    problems: [...problems, ...outcome.problems, ...inReadmes],
  };
}

/** They only save requests. */
const nodeIdsSchema = z.record(z.string(), z.record(z.string(), z.string()));

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
