import { pngQuery, zoomOf } from "../api/api.js";
import { dateText } from "../charts/charts.js";
import { queryOf, repositoryKey } from "../lib/page-addresses.js";
import { validationError } from "../lib/validation.js";
import { followChanges } from "../modules.js";
import type { RepositoryAddress } from "../repositories/repositories.js";
import { CachedRequests } from "./cache.js";
import type { Pass } from "./pass.js";
import { problemOf } from "./problems.js";
import { trackWithHistory } from "./reading.js";

export type ChartFormat = "svg" | "png" | "json" | "csv";

/** The parameters of the chart's address besides the repositories, as texts; undefined: the default. */
export type ChartOptions = Readonly<Record<string, string | undefined>>;

/** Checks options before anything is requested. Throws VALIDATION_FAILED, with the name of the parameter. */
export function checkChartOptions(options: ChartOptions): void {
  const { error, data } = pngQuery.omit({ repo: true }).safeParse(options);
  if (error !== undefined) throw validationError(error, "options");
  zoomOf(data);
}

/**
 * Reads repositories with their star histories from their forges, and draws one chart of those that could be read. `chart`: absent if
 * none could. `problems`: sentences about the others. `cache`: a folder for what was read. Throws VALIDATION_FAILED for days in the wrong order.
 */
export async function drawChart(
  pass: Pass,
  addresses: readonly RepositoryAddress[],
  { options, format, cache }: { options: ChartOptions; format: ChartFormat; cache: string },
): Promise<{ chart?: string | Uint8Array; problems: string[] }> {
  const keys: string[] = [];
  const problems: string[] = [];
  for (const address of addresses) {
    const requests = new CachedRequests(pass.contextOf(address.provider), cache, address);
    const { repository, problem } = await trackWithHistory(pass, address, requests.context);
    requests.write();
    if (repository !== undefined) keys.push(repositoryKey(repository));
    const { failure } = requests;
    const sentence = problem ?? (failure && problemOf(pass, address, failure));
    if (sentence !== undefined)
      problems.push(
        failure === undefined ? sentence : `${sentence} Its counts are of ${dateText(requests.readAt)}.`,
      );
  }
  if (keys.length === 0) return { problems };
  await followChanges(pass.modules);
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const isPicture = format === "svg" || format === "png";
  const query = queryOf([
    ...keys.map((key) => ["repo", key] as const),
    ...given,
    ...(isPicture ? [] : [["format", format] as const]),
  ]);
  const { body } = await pass.responder.get(`/api/embed/chart${isPicture ? `.${format}` : ""}?${query}`);
  return { chart: body ?? "", problems };
}
