import { createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { exportCatalogue } from "../transfer/transfer.js";
import { EXIT, type Host } from "./host.js";
import { reportOf, showProgress } from "./progress.js";

export function addExport(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("export")
    .description("write the whole catalogue as NDJSON; importing it gives an equal catalogue")
    .argument("[file]", "output file; default: standard output")
    .option("--json", "print the report as JSON")
    .action(async (file: string | undefined, { json }: { json?: boolean }) =>
      finish(await runExport(host, file, json === true)),
    );
}

async function runExport(host: Host, file: string | undefined, json: boolean): Promise<number> {
  const modules = await host.openModules();
  const { repositories } = await modules.rankings.summary();
  const progress = showProgress(
    repositories,
    "  {bar} {percentage} %  {value} of {total} repositories  {eta_formatted} left",
  );
  const totals = { repositories: 0, snapshots: 0 };
  const lines = exportCatalogue(modules.catalog, totals, (done) => progress.update(done));
  // Written under another name and renamed at the end, so that the file is always complete.
  const partial = `${file}.partial`;
  try {
    // One that a kill has left may have another mode.
    if (file !== undefined) rmSync(partial, { force: true });
    await pipeline(lines, file === undefined ? host.stdout : createWriteStream(partial, { mode: 0o600 }), {
      end: file !== undefined,
    });
    if (file !== undefined) renameSync(partial, file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    // The reader closed the pipe.
    if (file === undefined && code === "EPIPE") return EXIT.ok;
    if (code === undefined) throw error;
    host.stderr.write(`${file ?? "standard output"} cannot be written: ${code}\n`);
    return EXIT.failed;
  } finally {
    progress.stop();
    await modules.database.close();
  }
  if (file !== undefined) {
    host.stdout.write(
      reportOf(
        json,
        { ...totals, file },
        `${totals.repositories} repositories and ${totals.snapshots} snapshots written to ${file}`,
      ),
    );
  }
  return EXIT.ok;
}
