import { once } from "node:events";
import { createWriteStream, renameSync } from "node:fs";
import type { Command } from "commander";
import { exportCatalogue } from "../transfer/transfer.js";
import type { Host } from "./program.js";
import { report, showProgress } from "./progress.js";

export function addExport(program: Command, host: Host): void {
  program
    .command("export")
    .description("write the whole catalogue as NDJSON, which imports to an equal one")
    .argument("[file]", "where to; standard output otherwise")
    .option("--json", "print the report as JSON")
    .action(async (file: string | undefined, { json }: { json?: boolean }) =>
      runExport(host, file, json === true),
    );
}

async function runExport(host: Host, file: string | undefined, json: boolean): Promise<void> {
  const modules = await host.openModules();
  try {
    // Written beside it and renamed at the end, so that a file of this name is always whole.
    const partial = `${file}.partial`;
    const stream = file === undefined ? process.stdout : createWriteStream(partial);
    const { repositories } = await modules.rankings.summary();
    const progress = showProgress(
      repositories,
      "  {bar} {percentage} %  {value} of {total} repositories  {eta_formatted} left",
    );
    const totals = await exportCatalogue(
      modules.catalog,
      async (text) => {
        if (!stream.write(text)) await once(stream, "drain");
      },
      (done) => progress.update(done),
    );
    progress.stop();
    if (file === undefined) return;
    stream.end();
    await once(stream, "finish");
    renameSync(partial, file);
    report(
      json,
      { ...totals, file },
      `${totals.repositories} repositories and ${totals.snapshots} snapshots written to ${file}`,
    );
  } finally {
    await modules.database.close();
  }
}
