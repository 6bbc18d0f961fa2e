/** `export` and `dump`: write the catalogue to files. */
import { createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import type { Modules } from "../modules.js";
import { exportCatalogue, exportParquet, isDumpDue, Refusal, writeDump } from "../transfer/transfer.js";
import { EXIT, type Host, reportOf, showProgress } from "./host.js";

interface ExportOptions {
  format: "ndjson" | "parquet";
  out?: string;
  json?: boolean;
}

export function addExport(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("export")
    .description("write the whole catalogue as NDJSON, which can be imported, or as Parquet files to analyse")
    .argument("[file]", "output file, or the folder of Parquet files; default: standard output")
    .addOption(
      new Option("--format <name>", "format of the output").choices(["ndjson", "parquet"]).default("ndjson"),
    )
    .option("--out <path>", "the same as [file]")
    .option("--json", "print the report as JSON")
    .action(async (file: string | undefined, { format, out, json }: ExportOptions) => {
      const target = out ?? file;
      const problem =
        file !== undefined && out !== undefined
          ? "Give the output once."
          : format === "parquet" && target === undefined
            ? "Parquet files need a folder: --out <folder>."
            : undefined;
      if (problem !== undefined) {
        host.stderr.write(`${problem}\n`);
        return finish(EXIT.usage);
      }
      finish(
        format === "parquet" && target !== undefined
          ? await runParquet(host, target, json === true)
          : await runExport(host, target, json === true),
      );
    });
}

async function runExport(host: Host, file: string | undefined, json: boolean): Promise<number> {
  const modules = await host.openModules();
  const progress = await showRepositories(modules);
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
    const code = fileFault(error);
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

async function runParquet(host: Host, folder: string, json: boolean): Promise<number> {
  const modules = await host.openModules();
  const progress = await showRepositories(modules);
  try {
    const {
      repositoryCount: repositories,
      snapshots,
      files,
    } = await exportParquet(modules.catalog, folder, {
      clock: host.clock,
      onProgress: (done) => progress.update(done),
    });
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    host.stdout.write(
      reportOf(
        json,
        { repositories, snapshots, folder, files: files.length, bytes },
        `${repositories} repositories and ${snapshots} snapshots written to ${files.length} files in ${folder}, ${(bytes / 1e6).toFixed(1)} MB`,
      ),
    );
    return EXIT.ok;
  } catch (error) {
    const reason = error instanceof Refusal ? error.message : fileFault(error);
    if (reason === undefined) throw error;
    host.stderr.write(`${folder} cannot be written: ${reason}\n`);
    return EXIT.failed;
  } finally {
    progress.stop();
    await modules.database.close();
  }
}

export function addDump(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("dump")
    .description(
      "write a dump of the public catalogue to SIDEREAL_DUMPS_DIR, which the service offers to everybody",
    )
    .option("--if-due", "only if the newest one is older than SIDEREAL_DUMPS_DAYS")
    .option("--json", "print the report as JSON")
    .action(async ({ ifDue, json }: { ifDue?: boolean; json?: boolean }) => {
      const { dumps } = host.config;
      if (dumps === undefined) {
        host.stderr.write("SIDEREAL_DUMPS_DIR is not set, so there is no place for dumps.\n");
        return finish(EXIT.usage);
      }
      const isDue = ifDue !== true || (await isDumpDue(dumps.folder, { ...dumps, now: host.clock.now() }));
      if (!isDue) {
        host.stdout.write(reportOf(json === true, { dump: null }, "no dump is due"));
        return;
      }
      finish(await runDump(host, dumps, json === true));
    });
}

async function runDump(
  host: Host,
  { folder, kept }: { folder: string; kept: number },
  json: boolean,
): Promise<number> {
  const modules = await host.openModules();
  const progress = await showRepositories(modules);
  try {
    const { clock } = host;
    const onProgress = (done: number) => progress.update(done);
    const { name, manifest } = await writeDump(modules.catalog, { folder, kept, clock, onProgress });
    const { repositoryCount: repositories, snapshots, files } = manifest;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    host.stdout.write(
      reportOf(
        json,
        { dump: name, repositories, snapshots, files: files.length, bytes },
        `dump ${name} has ${repositories} repositories and ${snapshots} snapshots in ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`,
      ),
    );
    return EXIT.ok;
  } catch (error) {
    const reason = error instanceof Refusal ? error.message : fileFault(error);
    if (reason === undefined) throw error;
    host.stderr.write(`no dump was written: ${reason}\n`);
    return EXIT.failed;
  } finally {
    progress.stop();
    await modules.database.close();
  }
}

/** A bar for all repositories of the catalogue. */
async function showRepositories({ rankings }: Modules): Promise<ReturnType<typeof showProgress>> {
  const { repositories } = await rankings.summary();
  return showProgress(
    repositories,
    "  {bar} {percentage} %  {value} of {total} repositories  {eta_formatted} left",
  );
}

/** The code of an error of the file system. */
function fileFault(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
