/**
 * The bundled sample: real history of popular repositories, so that the first start has something to show. It is imported
 * like any other history, and `Catalog` removes it as soon as something else is recorded.
 */
import { packageFile } from "../lib/package-files.js";
import { type Modules, updateDerived } from "../modules.js";
import { readSample } from "../transfer/transfer.js";

/** Next to `dist/` in a checkout and in an installed package. Built by scripts/build-sample.ts. */
const SAMPLE_FILE = packageFile("sample/github-ranking.json.zst");

/** Imports the sample into an empty catalogue, and completes an interrupted import. */
export async function importSample(modules: Modules): Promise<void> {
  const { catalog } = modules;
  if (await catalog.isEmpty()) await catalog.recordSample(await readSample(SAMPLE_FILE));
  if ((await catalog.kind()) === "sample") await updateDerived(modules);
}
