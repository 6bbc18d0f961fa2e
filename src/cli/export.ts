/** `export` and `dump`: write the catalogue to files. */
import { createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import type { Modules } from "../modules.js";
import {
  exportCatalogue,
  exportParquet,
  isDumpDue,
  type ParquetManifest,
  Refusal,
  writeDump,
} from "../transfer/transfer.js";
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
    .action(async (file: string | undefined, { format, out, json = false }: ExportOptions) => {
      const target = out ?? file;
      if (file !== undefined && out !== undefined) return finish(usageFault(host, "Give the output once."));
      if (format === "ndjson") return finish(await runExport(host, target, json));
      if (target === undefined)
        return finish(usageFault(host, "Parquet files need a folder: --out <folder>."));
      const failed = `${target} cannot be written`;
      const code = await withCatalogue(host, failed, async ({ catalog }, onProgress) => {
        const manifest = await exportParquet(catalog, target, { clock: host.clock, onProgress });
        const { sizes, text } = sizesOf(manifest);
        return reportOf(json, { ...sizes, folder: target }, `${text} in ${target}`);
      });
      finish(code);
    });
}

export function addDump(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("dump")
    .description("write a dump of the public catalogue to SIDEREAL_DUMPS_DIR, for everybody to download")
    .option("--if-due", "only if the newest one is a week old")
    .option("--json", "print the report as JSON")
    .action(async ({ ifDue = false, json = false }: { ifDue?: boolean; json?: boolean }) => {
      const { clock, config, stdout } = host;
      const { dumps } = config;
      if (dumps === undefined)
        return finish(usageFault(host, "SIDEREAL_DUMPS_DIR is not set, so there is no place for dumps."));
      const { folder, kept } = dumps;
      if (ifDue && !(await isDumpDue(folder, { ...dumps, now: clock.now() }))) {
        stdout.write(reportOf(json, { dump: null }, "no dump is due"));
        return;
      }
      const code = await withCatalogue(host, "no dump was written", async ({ catalog }, onProgress) => {
        const { name, manifest } = await writeDump(catalog, { folder, kept, clock, onProgress });
        const { sizes, text } = sizesOf(manifest);
        return reportOf(json, { dump: name, ...sizes }, `dump ${name}: ${text}`);
      });
      finish(code);
    });
}

function usageFault(host: Host, message: string): number {
  host.stderr.write(`${message}\n`);
  return EXIT.usage;
}

/** Sizes of Parquet files, for programs and in words. */
function sizesOf({ repositoryCount: repositories, snapshots, files }: ParquetManifest) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const text = `${repositories} repositories and ${snapshots} snapshots written to ${files.length} files of ${(bytes / 1e6).toFixed(1)} MB`;
  return { sizes: { repositories, snapshots, files: files.length, bytes }, text };
}

async function runExport(host: Host, file: string | undefined, json: boolean): Promise<number> {
  // Written under another name and renamed at the end, so that the file is always complete.
  const partial = `${file}.partial`;
  const failed = `${file ?? "standard output"} cannot be written`;
  return withCatalogue(host, failed, async ({ catalog }, onProgress) => {
    const totals = { repositories: 0, snapshots: 0 };
    const lines = exportCatalogue(catalog, totals, onProgress);
    if (file === undefined) {
      await pipeline(lines, host.stdout, { end: false }).catch((error: unknown) => {
        // The reader closed the pipe.
        if (fileFault(error) !== "EPIPE") throw error;
      });
      return "";
    }
    // One that a kill has left may have another mode.
    rmSync(partial, { force: true });
    await pipeline(lines, createWriteStream(partial, { mode: 0o600 }));
    renameSync(partial, file);
    const { repositories, snapshots } = totals;
    return reportOf(
      json,
      { ...totals, file },
      `${repositories} repositories and ${snapshots} snapshots written to ${file}`,
    );
  });
}

/** Runs what writes the catalogue, with a bar for its repositories, and prints the report that it returns. `failed`: what it says if files fail. */
async function withCatalogue(
  host: Host,
  failed: string,
  write: (modules: Modules, onProgress: (repositories: number) => void) => Promise<string>,
): Promise<number> {
  const modules = await host.openModules();
  const { repositories } = await modules.rankings.summary();
  const form = "  {bar} {percentage} %  {value} of {total} repositories  {eta_formatted} left";
  const progress = showProgress(repositories, form);
  try {
    const report = await write(modules, (done) => progress.update(done));
    progress.stop();
    host.stdout.write(report);
    return EXIT.ok;
  } catch (error) {
    const reason = error instanceof Refusal ? error.message : fileFault(error);
    if (reason === undefined) throw error;
    host.stderr.write(`${failed}: ${reason}\n`);
    return EXIT.failed;
  } finally {
    progress.stop();
    await modules.database.close();
  }
}

/** The code of an error of the file system. */
function fileFault(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
