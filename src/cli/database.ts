import type { Command } from "commander";
import {
  type DistributionOptions,
  DistributionRefused,
  type DistributionStatus,
  distribute,
  readDistribution,
  type TableMoved,
  undistribute,
} from "../database/database.js";
import type { Modules } from "../modules.js";
import { megabytes, secondsSince } from "./backup.js";
import { EXIT, type Host, reportOf } from "./host.js";

/** Maximum number of shards, enough for a cluster of any size. */
const MAX_SHARDS = 1_024;

interface Options {
  json?: boolean;
}

export function addDatabase(program: Command, host: Host, finish: (code: number) => void): void {
  const database = program
    .command("database")
    .description(
      "distribute the history of repositories over several PostgreSQL servers with Citus, and show how it is distributed",
    );
  database
    .command("status", { isDefault: true })
    .description("show nodes, shards, bytes and rows, and what is local")
    .option("--json", "print one JSON object")
    .action(async (options: Options) => finish(await runStatus(host, options.json === true)));
  database
    .command("distribute")
    .description(
      "check the nodes, then distribute snapshots and past ranks; continues where it was interrupted, while others read",
    )
    .option("--shards <count>", "shards of each table; default: citus.shard_count of the server")
    .option("--json", "print the report as JSON")
    .action(async ({ shards, json }: Options & { shards?: string }) =>
      finish(await runDistribute(host, { shards, json: json === true })),
    );
  database
    .command("undistribute")
    .description("bring distributed tables back to the coordinator, while others read")
    .option("--json", "print the report as JSON")
    .action(async (options: Options) =>
      finish(
        await move(host, options.json === true, (modules, moving) => undistribute(modules.database, moving)),
      ),
    );
}

async function runDistribute(
  host: Host,
  { shards, json }: { shards: string | undefined; json: boolean },
): Promise<number> {
  const count = shards === undefined ? undefined : Number(shards);
  if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= MAX_SHARDS)) {
    host.stderr.write(`--shards: must be a whole number from 1 to ${MAX_SHARDS}\n`);
    return EXIT.usage;
  }
  return move(host, json, (modules, moving) => distribute(modules.database, { ...moving, shards: count }));
}

/** Moves tables, and reports each of them and every problem. */
async function move(
  host: Host,
  json: boolean,
  work: (modules: Modules, options: DistributionOptions) => Promise<void>,
): Promise<number> {
  const { clock, stdout, stderr } = host;
  const began = clock.monotonic();
  const tables: TableMoved[] = [];
  const modules = await host.openModules();
  try {
    await work(modules, {
      clock,
      onNote: (note) => stderr.write(`${note}\n`),
      onPlan: (plan) => {
        if (plan.length > 0)
          stderr.write(
            `moving ${plan.join(", ")}: repositories cannot be recorded meanwhile, everything else continues\n`,
          );
      },
      onTable: (moved) => {
        tables.push(moved);
        if (!json) stdout.write(`${describeMoved(moved)}\n`);
      },
    });
    const seconds = secondsSince(host, began);
    const end = tables.length === 0 ? "nothing to do" : `done in ${seconds} s`;
    stdout.write(reportOf(json, { tables, seconds }, end));
    return tables.some(({ isLeftOver }) => isLeftOver) ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (!(error instanceof DistributionRefused)) throw error;
    stderr.write(reportOf(json, { error: error.message }, error.message));
    return EXIT.failed;
  } finally {
    await modules.database.close();
  }
}

function describeMoved({ table, pausedMs, isLeftOver }: TableMoved): string {
  const paused = `${table}: writes paused for ${(pausedMs / 1_000).toFixed(1)} s`;
  return isLeftOver
    ? `${paused}; its old rows could not be removed, because somebody reads it for long. Run this again.`
    : paused;
}

async function runStatus(host: Host, json: boolean): Promise<number> {
  const modules = await host.openModules();
  try {
    const status = await readDistribution(modules.database);
    host.stdout.write(reportOf(json, status, describe(status)));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof DistributionRefused)) throw error;
    host.stderr.write(reportOf(json, { error: error.message }, error.message));
    return EXIT.failed;
  } finally {
    await modules.database.close();
  }
}

function describe({
  citusVersion,
  nodes,
  distributed,
  local,
  leftOver,
  isBalanced,
}: DistributionStatus): string {
  if (citusVersion === null)
    return "not distributed: this PostgreSQL database does not have the extension citus";
  const list = (names: readonly string[]) => names.join(", ") || "none";
  const lines = [
    `Citus ${citusVersion}`,
    ...nodes.map((node) => `  ${describeNode(node)}`),
    `distributed   ${list(distributed)}`,
    `local         ${list(local)}${local.length > 0 ? "" : " of these"}, and all other tables`,
  ];
  if (distributed.length > 0)
    lines.push(
      isBalanced
        ? "balance       the nodes have the same number of shards"
        : 'balance       uneven; "select citus_rebalance_start()" on the coordinator moves shards',
    );
  if (leftOver.length > 0)
    lines.push(
      `left over     old rows of ${leftOver.join(", ")} on the coordinator; "sidereal database distribute" removes them`,
    );
  const prepared = nodes.reduce((sum, node) => sum + (node.preparedTransactions ?? 0), 0);
  if (prepared > 0)
    lines.push(
      `transactions  ${prepared} prepared over a minute ago; Citus ends them once all nodes can be reached`,
    );
  return lines.join("\n");
}

function describeNode({
  host,
  port,
  isCoordinator,
  isActive,
  isReachable,
  shards,
  bytes,
  rows,
}: DistributionStatus["nodes"][number]): string {
  const role = isCoordinator ? "coordinator" : "worker";
  const state = !isReachable ? "cannot be reached" : isActive ? "active" : "not active";
  const size = bytes === null || rows === null ? "" : `, ${megabytes(bytes)}, about ${rows} rows`;
  return `${role} ${host}:${port}  ${state}, ${shards} shards${size}`;
}
