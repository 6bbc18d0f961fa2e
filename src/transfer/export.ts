import type { Catalog, DumpedRepository } from "../repositories/repositories.js";
import { fileLine, headerLine, repositoryLines } from "./ndjson.js";

/** Repositories per query. */
const DUMP_PAGE = 200;

/** All repositories in the order of their ids, a page at a time, each in a short transaction of its own. */
export async function* dumpPages(catalog: Pick<Catalog, "dump">): AsyncGenerator<DumpedRepository[]> {
  for (let after = 0; ; ) {
    const page = await catalog.dump(after, DUMP_PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.repository.id;
  }
}

/** The whole catalogue as lines: repositories by id, then parted names and the imported files. `totals` counts the lines. */
export async function* exportCatalogue(
  catalog: Pick<Catalog, "dump" | "dumpFiles" | "dumpParted">,
  totals = { repositories: 0, snapshots: 0 },
  onProgress: (repositories: number) => void = () => {},
): AsyncGenerator<string> {
  yield `${headerLine()}\n`;
  for await (const page of dumpPages(catalog)) {
    for (const dumped of page) {
      yield `${[...repositoryLines(dumped)].join("\n")}\n`;
      totals.snapshots += dumped.snapshots.length;
      totals.repositories++;
    }
    onProgress(totals.repositories);
  }
  for (const names of await catalog.dumpParted()) yield `${JSON.stringify({ type: "parted", ...names })}\n`;
  // At the end: a file must not be known before its rows.
  for (const file of await catalog.dumpFiles()) yield `${fileLine(file)}\n`;
}
