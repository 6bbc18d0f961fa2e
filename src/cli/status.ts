import type { Command } from "commander";
import { isoTime } from "../clock.js";
import type { SearchStatus } from "../search/search.js";
import type { ProviderStatus } from "../tracking/tracking.js";
import type { Host } from "./host.js";
import { reportOf } from "./progress.js";

export function addStatus(program: Command, host: Host): void {
  program
    .command("status")
    .description(
      "show the state of tracking (due refreshes, freshness, failures, remaining quota) and of the search index",
    )
    .option("--json", "print one JSON object")
    .action(async ({ json }: { json?: boolean }) => {
      const { readStatus } = await import("../tracking/tracking.js");
      const modules = await host.openModules();
      try {
        const status = await readStatus(modules.database, host.clock.now());
        const search = await modules.search.status();
        const tracked = status.map(describe).join("\n\n") || "nothing is tracked yet";
        host.stdout.write(
          reportOf(
            json === true,
            { providers: status, search },
            `${tracked}\n\nsearch index    ${describeSearch(search)}`,
          ),
        );
      } finally {
        await modules.database.close();
      }
    });
}

function describe(status: ProviderStatus): string {
  const {
    provider,
    scheduled,
    due,
    overdue,
    claimed,
    repositories,
    freshness,
    walk,
    workers,
    backfillWaiting,
    rechecksWaiting,
  } = status;
  const states = Object.entries(repositories).map(([state, count]) => `${count} ${state.toLowerCase()}`);
  const lines = [
    provider,
    `  repositories  ${states.join(", ") || "none"}; ${scheduled} scheduled`,
    `  queue         ${due} due, ${overdue} for over an hour, ${claimed} claimed, ${rechecksWaiting} to be read a second time, ${backfillWaiting} waiting for backfill`,
    `  freshness     ${
      freshness === null
        ? "nothing refreshed yet"
        : `median ${hours(freshness.median)}, 90 % ${hours(freshness.p90)}, 99 % ${hours(freshness.p99)}`
    }`,
    `  discovery     ${
      walk === null
        ? "not started"
        : `${walk.isRunning ? "running" : `next at ${isoTime(walk.nextAt)}`}, ${walk.found} found since ${isoTime(walk.startedAt)}, ${walk.walks} walks finished`
    }`,
  ];
  for (const { worker, at, report } of workers) {
    const failures = Object.entries(report.failures).map(([kind, count]) => `${count} ${kind}`);
    lines.push(
      `  worker        ${worker}, last seen ${isoTime(at)}: ${report.refreshed} refreshed (${report.doubted} doubtful, ${report.rechecked} read a second time), ${report.discovered} discovered, stretch ${report.stretch.toFixed(2)}`,
      `  failures      ${failures.join(", ") || "none"}${
        report.lastFailure === null
          ? ""
          : `; last ${isoTime(report.lastFailure.at)}: ${report.lastFailure.kind}, ${report.lastFailure.message}`
      }`,
    );
    for (const { token, resource, limit, remaining, resetAt } of report.quota) {
      const reset = resetAt === null ? "" : `, resets ${isoTime(resetAt)}`;
      lines.push(`  quota         ${token} ${resource}: ${remaining ?? "?"} of ${limit ?? "?"} left${reset}`);
    }
  }
  return lines.join("\n");
}

function describeSearch({ isBuilt, waiting, isUpdating }: SearchStatus): string {
  if (waiting === 0) return "up to date";
  const state = isBuilt
    ? `${waiting} changes to add`
    : `not built: nothing is found of ${waiting} repositories`;
  return isUpdating ? `${state}; a process is doing it` : `${state}; derive or the worker does it`;
}

function hours(ms: number): string {
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
