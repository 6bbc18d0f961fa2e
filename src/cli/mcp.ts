import type { Command } from "commander";
import { EXIT, type Host } from "./host.js";

export function addMcp(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("mcp")
    .description(
      "serve the tools for language models (Model Context Protocol) on standard input and output, from the local store or a service",
    )
    .option(
      "--url <address>",
      "use the service at this address, with the key in SIDEREAL_API_KEY if there is one",
    )
    .action(async ({ url }: { url?: string }) => {
      const problem = await host.mcp(url?.replace(/\/+$/, ""));
      if (problem === undefined) return;
      host.stderr.write(`${problem}\n`);
      finish(EXIT.usage);
    });
}
