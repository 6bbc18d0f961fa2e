import type { Command } from "commander";
import type { Host } from "./host.js";

export function addServe(program: Command, host: Host): void {
  program
    .command("start")
    .description(
      "serve the API and the pages, and track the configured providers; without any, an empty catalogue shows a sample",
    )
    .option("--no-sample", "leave an empty catalogue empty")
    .action(({ sample }: { sample: boolean }) => host.start(sample));
  program
    .command("serve")
    .description("serve the API and the pages, and nothing else")
    .action(() => host.serve());
}
