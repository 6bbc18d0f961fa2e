import type { Catalog, DumpedRepository } from "../catalog/catalog.js";

/** Repositories per query. */
const DUMP_PAGE = 200;

/** What an export reads of the catalogue. */
export type DumpedCatalog = Pick<Catalog, "dump" | "kind">;

/** All repositories in the order of their ids, a page at a time, each in a short transaction of its own. */
export async function* dumpPages(catalog: Pick<DumpedCatalog, "dump">): AsyncGenerator<DumpedRepository[]> {
  for (let after = 0; ; ) {
    const page = await catalog.dump(after, DUMP_PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.repository.id;
  }
}
