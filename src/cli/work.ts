import type { Command } from "commander";
import { EXIT, type Host } from "./host.js";

export function addWork(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("work")
    .description(
      "track the configured providers: discover, refresh, backfill and thin, then update growth, rankings and search",
    )
    .action(async () => {
      if (host.config.providers.length === 0) {
        host.stderr.write(
          "No provider is configured. SIDEREAL_PROVIDERS=github,codeberg tracks these two.\n",
        );
        return finish(EXIT.usage);
      }
      await host.work();
    });
}
