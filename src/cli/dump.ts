import type { Command } from "commander";
import { isDumpDue, writeDump } from "../dumps/dumps.js";
import { Refusal } from "../transfer/transfer.js";
import { fileFault, showRepositories } from "./export.js";
import { EXIT, type Host } from "./host.js";
import { reportOf } from "./progress.js";

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
