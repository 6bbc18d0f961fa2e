import type { Command } from "commander";
import { EXIT, type Host } from "./host.js";
import { reportOf } from "./progress.js";

/** A repository named on the command line. */
interface Named {
  provider: string;
  fullName: string;
}

export function addTrack(program: Command, host: Host, finish: (code: number) => void): void {
  const names = "such as github:owner/name";
  program
    .command("track")
    .description("track repositories by name, immediately; from then on the worker refreshes them")
    .argument("<repository...>", names)
    .option("--json", "print one JSON object per repository")
    .action(async (texts: string[], { json }: { json?: boolean }) =>
      finish(
        await forEach(host, { texts, json: json === true }, async (tracker, { provider, fullName }) => {
          const { repositoryId, isNew } = await tracker.track(provider, fullName);
          return { id: String(repositoryId), result: isNew ? "tracked" : "already known, refreshed" };
        }),
      ),
    );
  program
    .command("refresh")
    .description("refresh known repositories immediately")
    .argument("<repository...>", names)
    .option("--json", "print one JSON object per repository")
    .action(async (texts: string[], { json }: { json?: boolean }) =>
      finish(
        await forEach(host, { texts, json: json === true }, async (tracker, { provider, fullName }) => {
          const result = await tracker.refresh(provider, fullName);
          return { result: result === "unknown" ? "not tracked" : result, failed: result === "unknown" };
        }),
      ),
    );
}

type Tracker = Awaited<ReturnType<Host["openTracker"]>>;

async function forEach(
  host: Host,
  { texts, json }: { texts: readonly string[]; json: boolean },
  act: (tracker: Tracker, named: Named) => Promise<{ id?: string; result: string; failed?: boolean }>,
): Promise<number> {
  const known = host.config.providers.map(({ name }) => name);
  const named: Named[] = [];
  for (const text of texts) {
    const [provider = "", ...rest] = text.split(":");
    const fullName = rest.join(":");
    if (!known.includes(provider.toUpperCase()) || !fullName.includes("/")) {
      const which =
        known.length === 0 ? "none is configured, see SIDEREAL_PROVIDERS" : known.join(", ").toLowerCase();
      host.stderr.write(`${text}: must be provider:owner/name with a configured provider (${which})\n`);
      return EXIT.usage;
    }
    named.push({ provider: provider.toUpperCase(), fullName });
  }
  const { UpstreamFailure } = await import("../providers/providers.js");
  const tracker = await host.openTracker();
  let code: number = EXIT.ok;
  try {
    for (const one of named) {
      const facts = { provider: one.provider, fullName: one.fullName };
      try {
        const { failed, ...done } = await act(tracker, one);
        if (failed === true) code = EXIT.failed;
        host.stdout.write(
          reportOf(
            json,
            { ...facts, ...done },
            `${one.provider.toLowerCase()}:${one.fullName}: ${done.result}`,
          ),
        );
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        code = EXIT.failed;
        host.stdout.write(
          reportOf(
            json,
            { ...facts, result: "failed", failure: error.kind },
            `${one.provider.toLowerCase()}:${one.fullName}: ${error.kind} (${error.message})`,
          ),
        );
      }
    }
  } finally {
    await tracker.close();
  }
  return code;
}
