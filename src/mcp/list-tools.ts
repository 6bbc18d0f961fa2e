import { inputSchemas, type JsonSchema } from "../api/api.js";
import { invalidParameter } from "../lib/errors.js";
import { explorePageOf, listOutput, listResult, listSchema } from "./rows.js";
import { type Arguments, askFor, queryOfArguments, type Tool, type ToolContext, tool } from "./tool.js";

/** Rows of a list: enough to choose from, and few enough to read. */
const MAX_ROWS = 25;
const DEFAULT_ROWS = 10;

export const limitSchema: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: MAX_ROWS,
  default: DEFAULT_ROWS,
  description: "Maximum number of rows.",
};

/** Parameters of lists that a tool has no use for. */
const UNUSED = ["id", "fullName", "page", "format", "limit", "fields"];

/** The parameters of an operation that lists repositories, as arguments of a tool. */
export function listInput(operationId: string): Record<string, JsonSchema> {
  const known = Object.entries(inputSchemas(operationId)).filter(([name]) => !UNUSED.includes(name));
  return { ...Object.fromEntries(known), limit: limitSchema };
}

/** Parameters of a search that a ranking does not take. */
const NOT_IN_RANKINGS = ["q", "verbatim", "sort", "order", "archived", "fork", "license", "maxStars"];

const RANKINGS: ReadonlyMap<string, string> = new Map([
  ["trending", "Trending"],
  ["rising", "Rising"],
  ["new-hot", "New and hot"],
  ["fork-growth", "Fork growth"],
]);

const GROWTH =
  "Growth is measured from the service's own snapshots. `starsGained` is the counted gain, without bursts and other doubtful movements; `doubts` and `confidence` say how far to trust it. Windows end at `asOf`, which may be days ago.";

/** The tools that list repositories. */
export function listTools(): readonly Tool[] {
  const searchInput = listInput("listRepositories");
  const filters = Object.fromEntries(
    Object.entries(searchInput).filter(([name]) => !NOT_IN_RANKINGS.includes(name)),
  );
  return [
    tool({
      name: "search_repositories",
      title: "Search repositories",
      description: `Finds tracked repositories by words, name or address, and by filters such as language, topic and stars; sorted by relevance, stars, growth and more. ${GROWTH} Without q it lists what matches the filters.`,
      input: searchInput,
      output: listOutput,
      run: (args, context) =>
        list(args, context, { path: "/api/repos", page: explorePageOf(args), title: "Search" }),
    }),
    tool({
      name: "list_ranking",
      title: "Rankings by growth",
      description: `Repositories that grow now. trending: broad momentum; rising: fast relative to size; new-hot: younger than 90 days; fork-growth: forks relative to size. ${GROWTH} For most stars gained use search_repositories with sort=stars-gained.`,
      input: {
        ranking: {
          type: "string",
          enum: [...RANKINGS.keys()],
          default: "trending",
          description: "Which ranking.",
        },
        ...filters,
      },
      output: listOutput,
      isOutputDescribed: false,
      run: ({ ranking = "trending", ...args }, context) => {
        const name = String(ranking);
        const title = RANKINGS.get(name);
        if (title === undefined)
          throw invalidParameter("ranking", `must be one of ${[...RANKINGS.keys()].join(", ")}`);
        return list(args, context, {
          path: `/api/${name}`,
          page: explorePageOf({ ...args, sort: name }),
          title,
        });
      },
    }),
  ];
}

/** Runs a list of the API. */
export async function list(
  args: Arguments,
  context: ToolContext,
  { path, ...shown }: { path: string; page: string; title: string },
) {
  const query = queryOfArguments({ limit: DEFAULT_ROWS, ...args });
  const found = await askFor(context.ask, { method: "GET", url: `${path}?${query}` }, listSchema);
  return listResult(found, context, shown);
}
