/** The commands that serve: the service itself, its check, and tools for language models. */
import type { Command } from "commander";
import { z } from "../lib/schema.js";
import { CommandFault, EXIT, type Host } from "./host.js";
import { FORCE, forceClock } from "./work.js";

export function addServe(program: Command, host: Host): void {
  program
    .command("start")
    .description(
      "serve the API and the pages, and track the configured providers; without any, an empty catalogue shows a sample",
    )
    .option("--no-sample", "leave an empty catalogue empty")
    .option(...FORCE)
    .action(async ({ sample, force }: { sample: boolean; force?: boolean }) => {
      if (force === true) await forceClock(host);
      await host.start(sample);
    });
  program
    .command("serve")
    .description("serve the API and the pages, and nothing else")
    .option(...FORCE)
    .action(async ({ force }: { force?: boolean }) => {
      if (force === true) await forceClock(host);
      await host.serve();
    });
}

/** Time for the service to respond. A health check every half minute must not pile up. */
const HEALTH_TIMEOUT_MS = 3_000;

export function addHealth(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("health")
    .description("check that the service on this machine responds")
    .action(async () => finish(await checkHealth(host)));
}

async function checkHealth({ config, stdout, stderr }: Host): Promise<number> {
  const url = `${serviceOf(config)}/healthz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS), redirect: "manual" });
    await response.body?.cancel();
    if (response.ok) {
      stdout.write("The service responds.\n");
      return EXIT.ok;
    }
    stderr.write(`${url} responds with status ${response.status}\n`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    stderr.write(`${url} does not respond: ${cause instanceof Error ? cause.message : String(cause)}\n`);
  }
  return EXIT.failed;
}

/** The address at which this machine reaches the configured service, without a slash at its end. */
function serviceOf({ baseUrl, host, port }: Host["config"]): string {
  return `http://${loopbackOf(host)}:${port}${new URL(baseUrl).pathname.replace(/\/$/, "")}`;
}

/** The address at which this machine reaches a service that listens on another one. */
function loopbackOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

export function addMcp(program: Command, host: Host): void {
  program
    .command("mcp")
    .description(
      "serve the tools for language models (Model Context Protocol) on standard input and output, from a service: that of this machine if it runs, otherwise the local store",
    )
    .option(
      "--url <address>",
      "use the service at this address, with the key in SIDEREAL_API_KEY if there is one",
    )
    .action(async ({ url }: { url?: string }) => {
      const problem = await host.mcp(url?.replace(/\/+$/, "") ?? (await runningService(host)));
      if (problem !== undefined) throw new CommandFault(problem);
    });
}

/** The address of the configured service; undefined if it does not run. It has the catalogue in memory already. */
async function runningService({ config }: Host): Promise<string | undefined> {
  const url = serviceOf(config);
  try {
    const response = await fetch(`${url}/api`, {
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
      redirect: "manual",
    });
    const index = z.object({ data: z.object({ name: z.literal("Sidereal") }) });
    return index.safeParse(await response.json()).success ? url : undefined;
  } catch {
    return undefined;
  }
}
