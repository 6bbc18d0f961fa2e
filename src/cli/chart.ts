/** `chart`: one picture of repositories, without a store or a server. */
import { statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { type Command, Option } from "commander";
import { MAX_SERIES } from "../charts/charts.js";
import { AppError } from "../lib/errors.js";
import type { ChartFormat } from "../publish/publish.js";
import { parseAddresses } from "./addresses.js";
import { CommandFault, EXIT, type Host } from "./host.js";

const FORMATS: readonly ChartFormat[] = ["svg", "png", "json", "csv"];

interface Options extends Readonly<Record<string, string | undefined>> {
  out?: string;
  format?: ChartFormat;
}

const EXIT_CODES = `
Exit codes:
  0  the chart was written
  1  failed: no repository could be read, or the file cannot be written
  2  wrong arguments or settings
  3  the chart was written, but a repository or its star history could not be read`;

export function addChart(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("chart")
    .description("draw a chart of repositories as their forges have them now, without a store or a server")
    .argument("<repository...>", `1 to ${MAX_SERIES}, such as github:owner/name, a page, or a clone URL`)
    .option("--out <file>", "output file; default: standard output")
    .addOption(new Option("--format <name>", "default: by the ending of the file, or svg").choices(FORMATS))
    .option("--metric <name>", "stars, forks or openIssues; forges have the history of stars only")
    .option("--window <length>", "30d, 90d, 1y or all, up to now", "all")
    .option("--from <day>", "first day, such as 2026-01-31, instead of --window")
    .option("--to <day>", "last day")
    .option("--view <name>", "total, or per-day for gains per day")
    .option("--align <name>", "date, age, first-snapshot, first-count or index")
    .option("--first <count>", "the count of --align first-count")
    .option("--base <day>", "the day of --align index")
    .option("--scale <name>", "linear or log")
    .option("--theme <name>", "auto, light or dark; auto follows the reader's system")
    .option("--shape <name>", "readme, post or square; post and square have a size of their own")
    .option("--width <pixels>", "320 to 1200")
    .option("--height <pixels>", "220 to 800")
    .option("--style <name>", "plain, or sketch for lines as if drawn by hand")
    .option("--background <name>", "paper, or clear for none")
    .option("--title <text>", "instead of the title of the chart")
    .option("--zoom <number>", "pixels of a PNG for each of its size, 1 to 3")
    .addHelpText("after", EXIT_CODES)
    .action(async (texts: string[], { out, format, ...options }: Options) =>
      finish(await draw(host, texts, { out, format: format ?? formatOf(out), options })),
    );
}

/** The format that the ending of a file names; SVG without an ending. */
function formatOf(out = ""): ChartFormat {
  const ending = extname(out).toLowerCase();
  const format = ending === "" ? "svg" : FORMATS.find((one) => ending === `.${one}`);
  if (format === undefined) throw new CommandFault(`--out: the file must end in .${FORMATS.join(", .")}`);
  return format;
}

async function draw(
  host: Host,
  texts: readonly string[],
  { out, format, options }: { out: string | undefined; format: ChartFormat; options: Options },
): Promise<number> {
  if (texts.length > MAX_SERIES)
    throw new CommandFault(`A chart has at most ${MAX_SERIES} repositories; ${texts.length} were given.`);
  // Loads the routes, which no other command needs.
  const { checkChartOptions, drawChart } = await import("../publish/publish.js");
  const refused = (error: unknown) =>
    error instanceof AppError ? new CommandFault(`--${error.message}`) : error;
  try {
    checkChartOptions(options);
  } catch (error) {
    throw refused(error);
  }
  if (out !== undefined && statSync(dirname(out), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CommandFault(`--out: there is no folder ${dirname(out)}`);
  const pass = await host.openPass();
  try {
    const addresses = parseAddresses(texts, pass.forges);
    if (typeof addresses === "string") throw new CommandFault(addresses);
    const { chart, problems } = await drawChart(pass, addresses, {
      options,
      format,
      cache: join(host.cacheFolder, "charts"),
    });
    if (chart === undefined) throw new CommandFault(problems.join("\n"), EXIT.failed);
    if (out === undefined) host.stdout.write(chart);
    else writeFileSync(out, chart);
    for (const problem of problems) host.stderr.write(`${problem}\n`);
    return problems.length === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    throw refused(error);
  } finally {
    await pass.close();
  }
}
