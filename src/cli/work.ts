import type { Command } from "commander";
import { EXIT, type Host } from "./program.js";

export function addWork(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("work")
    .description(
      "track the configured providers: discover, refresh, backfill, thin, and derive what is served",
    )
    .action(async () => {
      if (host.config.providers.length === 0) {
        process.stderr.write(
          "No provider is configured; SIDEREAL_PROVIDERS=github,codeberg would track these two.\n",
        );
        return finish(EXIT.usage);
      }
      await host.work(await host.openModules());
    });
}
