/** `export` and `dump`: write the catalogue to files. */
import { createWriteStream, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { errorCode } from "../lib/errors.js";
import type { Modules } from "../modules.js";
import { exportCatalogue, isDumpDue, Refusal, writeDump, writeState } from "../transfer/transfer.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, showProgress, withModules } from "./host.js";

interface ExportOptions {
  format: "ndjson" | "state";
  out?: string;
  json?: boolean;
}

export function addExport(program: Command, host: Host): void {
  program
    .command("export")
    .description("write the whole catalogue as NDJSON, which can be imported, or as a state of publish")
    .argument("[file]", "output file, or the folder of a state; default: standard output")
    .addOption(
      new Option("--format <name>", "format of the output").choices(["ndjson", "state"]).default("ndjson"),
    )
    .option("--out <path>", "the same as [file]")
    .option("--json", "print the report as JSON")
    .action(async (file: string | undefined, { format, out, json = false }: ExportOptions) => {
      const given = out ?? file;
      const target = given === "-" ? undefined : given;
      if (file !== undefined && out !== undefined) throw new CommandFault("Give the output once.");
      if (format === "ndjson") return runExport(host, target, json);
      if (target === undefined)
        throw new CommandFault(`The format ${format} needs a folder: --out <folder>.`);
      await withCatalogue(host, `${target} cannot be written`, async ({ catalog }) => {
        await writeState(catalog, target);
        return reportOf(json, { folder: target }, `written to ${target}`);
      });
    });
}

export function addDump(program: Command, host: Host): void {
  program
    .command("dump")
    .description("write a dump of the public catalogue to SIDEREAL_DUMPS_DIR, for everybody to download")
    .option("--if-due", "only if the newest one is a week old")
    .option("--json", "print the report as JSON")
    .action(async ({ ifDue = false, json = false }: { ifDue?: boolean; json?: boolean }) => {
      const { clock, config, stdout } = host;
      const { dumps } = config;
      if (dumps === undefined)
        throw new CommandFault("SIDEREAL_DUMPS_DIR is not set, so there is no place for dumps.");
      const { folder, kept } = dumps;
      if (ifDue && !(await isDumpDue(folder, { ...dumps, now: clock.now() }))) {
        stdout.write(reportOf(json, { dump: null }, "no dump is due"));
        return;
      }
      await withCatalogue(host, "no dump was written", async ({ catalog }, onProgress) => {
        const dump = await writeDump(catalog, { folder, kept, clock, onProgress });
        const { name, repositoryCount: repositories, snapshots, bytes } = dump;
        const text = `${repositories} repositories and ${snapshots} snapshots in ${(bytes / 1e6).toFixed(1)} MB`;
        return reportOf(json, { dump: name, repositories, snapshots, bytes }, `${name}: ${text}`);
      });
    });
}

async function runExport(host: Host, file: string | undefined, json: boolean): Promise<void> {
  // Written under another name and renamed at the end, so that the file is always complete.
  const partial = `${file}.partial`;
  const failed = `${file ?? "standard output"} cannot be written`;
  return withCatalogue(host, failed, async ({ catalog }, onProgress) => {
    const totals = { repositories: 0, snapshots: 0 };
    const lines = exportCatalogue(catalog, totals, onProgress);
    if (file === undefined) {
      await pipeline(lines, host.stdout, { end: false }).catch((error: unknown) => {
        // The reader closed the pipe.
        if (errorCode(error) !== "EPIPE") throw error;
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

/** Runs an export with a bar for its repositories, and prints its report. `failed`: the sentence if files fail. */
async function withCatalogue(
  host: Host,
  failed: string,
  write: (modules: Modules, onProgress: (repositories: number) => void) => Promise<string>,
): Promise<void> {
  requireStore(host.config);
  await withModules(host, async (modules) => {
    const { repositories } = await modules.rankings.counters();
    const form = "  {bar} {percentage} %  {value} of {total} repositories  {eta_formatted} left";
    const progress = showProgress(repositories, form);
    try {
      host.stdout.write(await write(modules, (done) => progress.update(done)));
    } catch (error) {
      const reason = error instanceof Refusal ? error.message : errorCode(error);
      throw reason === undefined ? error : new CommandFault(`${failed}: ${reason}`, EXIT.failed);
    } finally {
      progress.stop();
    }
  });
}
