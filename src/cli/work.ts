/** `work` and `derive`: the work of a worker, until it is stopped or once. */
import { type Command, InvalidArgumentError } from "commander";
import { isoTime } from "../lib/clock.js";
import { followChanges } from "../modules.js";
import type { Plan, PlannedWork } from "../tracking/tracking.js";
import { type Host, reportOf, withModules } from "./host.js";

const LISTED = 20;

interface WorkOptions {
  once?: boolean;
  explain?: boolean;
  limit: number;
  json?: boolean;
  force?: boolean;
}

/** The option of the commands that delete old data. */
export const FORCE = ["--force", "delete old data although nothing confirms this machine's clock"] as const;

export async function forceClock(host: Host): Promise<void> {
  await withModules(host, ({ deletionClock }) => deletionClock.force(), { upgrades: true });
  host.stderr.write(
    `Old data is deleted by this machine's clock, which shows ${isoTime(host.clock.now())}.\n`,
  );
}

export function addWork(program: Command, host: Host): void {
  program
    .command("work")
    .description(
      "track the configured providers, or on demand without any: discover, refresh, backfill and thin, then update growth",
    )
    .option("--once", "do everything that is due and the quota allows, then exit")
    .option("--explain", "only list what would be requested now, and why")
    .option("--limit <number>", "with --explain: repositories listed per lane", parseLimit, LISTED)
    .option("--json", "with --explain: print one JSON object per provider")
    .option(...FORCE)
    .action(async ({ once, explain, limit, json, force }: WorkOptions) => {
      if (explain === true) {
        for (const plan of await host.explain(limit))
          host.stdout.write(reportOf(json === true, plan, describe(plan)));
        return;
      }
      if (force === true) await forceClock(host);
      await (once === true ? host.workOnce() : host.work());
    });
}

function parseLimit(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("must be a whole number up to 9999.");
  return Number(text);
}

function describe(plan: Plan): string {
  const { provider, walk, refresh, details, recheck, backfill, requests, batchSize, unscheduled } = plan;
  const calls = Math.ceil(refresh.due / batchSize);
  const inCalls =
    refresh.due === 0 ? "" : ` in ${calls} ${calls === 1 ? "call" : "calls"} of up to ${batchSize}`;
  const lines = [
    provider,
    `  discover  ${describeWalk(walk)}`,
    ...describeWork("requests", requests),
    ...describeWork("refresh", refresh, inCalls),
    ...describeWork("own records", details),
    ...describeWork("recheck", recheck),
    ...describeWork("backfill", backfill),
  ];
  if (unscheduled > 0)
    lines.push(`  ${unscheduled} repositories are not on the schedule yet; the worker adds them`);
  return lines.join("\n");
}

function describeWalk(walk: Plan["walk"]): string {
  if (walk === null) return "nothing: only requested repositories are tracked";
  const next = walk.isDue || walk.nextAt === null ? "" : `; next at ${isoTime(walk.nextAt)}`;
  return `${walk.isDue ? "a page of the list" : "nothing"}: ${walk.why}${next}`;
}

function describeWork(lane: string, { due, first, nextAt }: PlannedWork, how = ""): string[] {
  const label = lane.padEnd(8);
  if (due === 0)
    return [`  ${label}  nothing is due${nextAt === null ? "" : `; next at ${isoTime(nextAt)}`}`];
  const listed = first.map(
    ({ fullName, dueAt, why, providerId }) =>
      `              ${fullName}${providerId === null ? " (by name)" : ""}: ${why}; due since ${isoTime(dueAt)}`,
  );
  const rest = due - first.length;
  return [
    `  ${label}  ${due} ${due === 1 ? "repository" : "repositories"}${how}`,
    ...listed,
    ...(rest > 0 ? [`              and ${rest} more`] : []),
  ];
}

export function addDerive(program: Command, host: Host): void {
  program
    .command("derive")
    .description("update growth after changes; the worker does this by itself")
    .action(async () => {
      await withModules(host, followChanges);
      host.stdout.write("growth is up to date\n");
    });
}
