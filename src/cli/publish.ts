/** `publish`: charts, badges and pages of a list of repositories as files, without a server. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { type Command, Option } from "commander";
import { THEMES, type Theme } from "../charts/charts.js";
import type { Job } from "../config/config.js";
import { withoutTrailingSlashes } from "../lib/page-addresses.js";
import type { GivenList } from "../publish/publish.js";
import { CommandFault, EXIT, type Host, reportOf } from "./host.js";

interface Options {
  list?: string;
  branch?: string;
  state: string;
  out: string;
  readme: string[];
  theme: Theme;
  site?: string;
  url?: string;
  json?: boolean;
}

/** The list in the working directory. */
const LIST = "repos.txt";
/** Longest list that is read. */
const MAX_LIST_BYTES = 1_000_000;

const EXIT_CODES = `
Exit codes:
  0  everything was read and written
  1  failed: the state is damaged, or a file cannot be written
  2  wrong arguments or settings
  3  done, but something could not be read or written; it keeps what it had
  4  done, but nothing could be read, or a name in the list not for a week: somebody should look`;

export function addPublish(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("publish")
    .description("read repositories once, and write their charts and badges, without a server")
    .argument(
      "[name...]",
      "repositories, or @owner for all of an owner, @me for your own; default: those of --list",
    )
    .option(
      "--list <file>",
      `one of these in each line; default: ${LIST}, or in a job of a CI its own repository`,
    )
    .option("--state <folder>", "counts of earlier runs; made for git", "state")
    .option("--out <folder>", "charts, badges and repositories.json", "charts")
    .option(
      "--branch <name>",
      "in a job: the branch that this folder becomes, for addresses that work everywhere",
    )
    .option("--readme <file...>", "fill its blocks between <!-- sidereal --> and <!-- /sidereal -->", [])
    .addOption(new Option("--theme <name>", "colours of the pictures").choices(THEMES).default("auto"))
    .option("--site <folder>", "also write pages that need no server")
    .option("--url <address>", "with --site: its public address, for feeds and a site map")
    .option("--json", "print the report as JSON")
    .addHelpText("after", EXIT_CODES)
    .action(async (names: string[], options: Options) => finish(await run(host, names, options)));
}

async function run(
  host: Host,
  names: readonly string[],
  { list, json = false, readme, site, url, ...options }: Options,
): Promise<number> {
  const address = url === undefined ? undefined : URL.parse(url)?.href;
  if (url !== undefined && (site === undefined || !/^https?:/.test(address ?? "")))
    throw new CommandFault("--url: must be the http or https address of --site");
  const baseUrl = address === undefined ? undefined : withoutTrailingSlashes(address);
  const given = listOf(names, list, host.config.job);
  const { InputFault, publish, StateFault } = await import("../publish/publish.js");
  const pass = await host.openPass();
  try {
    const report = await publish(pass, {
      ...options,
      list: given,
      readmes: readme,
      clock: host.clock,
      ...(site === undefined ? {} : { site: { folder: site, url: baseUrl } }),
    });
    host.stdout.write(reportOf(json, report, report.markdown.trimEnd()));
    for (const problem of report.problems) host.stderr.write(`${problem}\n`);
    if (report.needsHelp) return EXIT.unread;
    return report.problems.length === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (error instanceof InputFault) throw new CommandFault(error.message);
    throw error instanceof StateFault ? new CommandFault(error.message, EXIT.failed) : error;
  } finally {
    await pass.close();
  }
}

/** The list of the arguments, else the file, else the repository whose job this is. */
function listOf(names: readonly string[], list: string | undefined, job: Job | undefined): GivenList {
  if (names.length > 0 && list !== undefined)
    throw new CommandFault("--list: cannot be used with names of repositories");
  if (names.length > 0) return { names };
  if (list !== undefined || existsSync(LIST)) return { text: readFile(list ?? LIST) };
  if (job !== undefined) return { names: [job.repository] };
  throw new CommandFault(
    `Name repositories, or a --list: there is no ${LIST} here, and this is no job of a CI.`,
  );
}

function readFile(file: string): string {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (size === undefined) throw new CommandFault(`--list: there is no file ${file}`);
  if (size > MAX_LIST_BYTES)
    throw new CommandFault(`--list: ${file} is longer than ${MAX_LIST_BYTES / 1e6} MB`);
  return readFileSync(file, "utf8");
}
