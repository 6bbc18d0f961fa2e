import { z } from "../lib/schema.js";
import { limitSchema, list } from "./list-tools.js";
import { listOutput } from "./rows.js";
import { foreignText } from "./text.js";
import { askFor, pickInput, type Tool, type ToolContext, tool } from "./tool.js";

const tokenSchema = {
  type: "string",
  maxLength: 200,
  description:
    "The secret token of the watchlist, from its address. Whoever has it can read the list, so repeat it to nobody.",
};

const watchlistSchema = z.object({
  data: z.object({
    token: z.string(),
    name: z.string(),
    ids: z.array(z.string()),
    shareToken: z.string().optional(),
  }),
});

const changedOutput = z.object({
  name: z.string(),
  repositories: z.number().describe("How many are on the list now."),
  token: z.string().describe("Can read and change the list. A secret of the user."),
  shareToken: z.string().nullable().describe("Can only read it. Known only when the list is created."),
  page: z.string().describe("The list as a page for people. Its address contains the token."),
});

const pageOf = (token: string) => `/watchlists/${encodeURIComponent(token)}`;

function changed(found: z.output<typeof watchlistSchema>, { baseUrl }: ToolContext, what: string) {
  const { token, name, ids, shareToken = null } = found.data;
  const data = {
    name: foreignText(name, 100) ?? "",
    repositories: ids.length,
    token,
    shareToken,
    page: baseUrl + pageOf(token),
  };
  const lines = [
    `${what} "${data.name}": ${ids.length} repositories.`,
    `Token (reads and changes it): ${token}`,
    ...(shareToken === null ? [] : [`Share token (reads it): ${shareToken}`]),
    `For people: ${data.page}`,
  ];
  return { data, text: lines.join("\n") };
}

/** The tools for watchlists. */
export function watchlistTools(): readonly Tool[] {
  const { name, ids } = pickInput("createWatchlist", ["name", "ids"]);
  return [
    tool({
      name: "read_watchlist",
      title: "Read a watchlist",
      description:
        "The repositories of a watchlist with their growth. Needs its token; lists cannot be found without one.",
      input: {
        token: tokenSchema,
        ...pickInput("listWatchlistRepositories", ["window", "sort", "order", "cursor"]),
        limit: limitSchema,
      },
      required: ["token"],
      output: listOutput,
      isOutputDescribed: false,
      run: ({ token, ...args }, context) => {
        const path = `/api/watchlists/${encodeURIComponent(String(token).toWellFormed())}/repositories`;
        return list(args, context, { path, page: pageOf(String(token)), title: "Watchlist" });
      },
    }),
    tool({
      name: "create_watchlist",
      title: "Create a watchlist",
      description: "Creates a watchlist that the user can open, and returns its tokens. Ask the user first.",
      input: {
        ...(name && { name }),
        ids: { ...ids, description: "Ids of repositories, as other tools return them." },
      },
      output: changedOutput,
      isWrite: true,
      run: async ({ name: given, ids: repositories = [] }, context) => {
        const json = {
          ...(given === undefined ? {} : { name: given }),
          ids: [repositories].flat().map(String),
        };
        const request = { method: "POST", url: "/api/watchlists", json } as const;
        return changed(await askFor(context.ask, request, watchlistSchema), context, "Created");
      },
    }),
    tool({
      name: "add_to_watchlist",
      title: "Add to a watchlist",
      description:
        "Adds a repository to a watchlist. Does nothing if it is there already. Ask the user first.",
      input: {
        token: tokenSchema,
        id: {
          type: "string",
          pattern: "^[1-9][0-9]{0,18}$",
          description: "Id of the repository, as other tools return it.",
        },
      },
      required: ["token", "id"],
      output: changedOutput,
      isWrite: true,
      run: async ({ token, id }, context) => {
        const url = `/api/watchlists/${encodeURIComponent(String(token).toWellFormed())}/items`;
        const request = { method: "POST", url, json: { repositoryId: String(id) } } as const;
        return changed(await askFor(context.ask, request, watchlistSchema), context, "Changed");
      },
    }),
  ];
}
