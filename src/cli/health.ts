import type { Command } from "commander";
import { EXIT, type Host } from "./host.js";

/** Time for the service to respond. A health check every half minute must not pile up. */
const TIMEOUT_MS = 3_000;

export function addHealth(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("health")
    .description("check that the service on this machine responds")
    .action(async () => finish(await checkHealth(host)));
}

async function checkHealth({ config, stdout, stderr }: Host): Promise<number> {
  const { pathname } = new URL(config.baseUrl);
  const url = `http://${loopbackOf(config.host)}:${config.port}${pathname.replace(/\/$/, "")}/healthz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
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

/** Where this machine reaches a service that listens on an address. */
function loopbackOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
