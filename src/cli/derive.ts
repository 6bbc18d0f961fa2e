import type { Command } from "commander";
import { followChanges } from "../modules.js";
import type { Host } from "./host.js";

export function addDerive(program: Command, host: Host): void {
  program
    .command("derive")
    .description(
      "update growth, rankings and search for everything that has changed; the worker does this by itself",
    )
    .action(async () => {
      const modules = await host.openModules();
      try {
        await followChanges(modules, false);
      } finally {
        await modules.database.close();
      }
      host.stdout.write("growth, rankings and search are up to date\n");
    });
}
