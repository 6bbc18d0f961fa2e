/** The tools for watchlists. */
import { addWatchlistItem, createWatchlist, listWatchlistRepositories, watchlistBody } from "../api/api.js";
import { watchlistPage, watchlistQuery } from "../discovery/discovery.js";
import { z } from "../lib/schema.js";
import { MAX_ITEMS, type Watchlist } from "../watchlists/watchlists.js";
import { listOutput, listResult, pageArguments } from "./lists.js";
import { findNamed, repositoriesArgument } from "./named.js";
import { type Tool, type ToolContext, tool } from "./tool.js";

const token = z.string().max(200).openapi({
  description:
    "The secret token of the watchlist, from its address. Anybody who has it can read the list, so share it with nobody.",
});

const changedOutput = z.object({
  name: z.string(),
  repositories: z.number().describe("How many are on the list now."),
  token: z.string().describe("Can read and change the list. A secret of the user."),
  shareToken: z.string().nullable().describe("Can only read it. Known only when the list is created."),
  page: z.string().describe("The list as a page for people. Its address contains the token."),
});

const pageOf = (token: string) => `/watchlists/${encodeURIComponent(token)}`;

function changed({ services }: ToolContext, { name, items }: Watchlist, token: string, shareToken?: string) {
  const page = services.config.baseUrl + pageOf(token);
  return { data: { name, repositories: items.length, token, shareToken: shareToken ?? null, page } };
}

export const watchlistTools: readonly Tool[] = [
  tool({
    name: "read_watchlist",
    title: "Read a watchlist",
    description:
      "The repositories of a watchlist with their growth. Needs its token; lists cannot be found without one.",
    args: watchlistQuery.omit({ page: true }).extend({ token, ...pageArguments }),
    output: listOutput,
    isOutputDescribed: false,
    operation: listWatchlistRepositories,
    run: async ({ token, ...query }, context) => {
      const { modules } = context.services;
      const id = await modules.watchlists.idOf({ token });
      const found = await watchlistPage(modules, { kind: "watchlist", id }, query);
      return listResult(found, { query, context, page: pageOf(token) });
    },
  }),
  tool({
    name: "create_watchlist",
    title: "Create a watchlist",
    description: "Creates a watchlist that the user can open, and returns its tokens. Ask the user first.",
    args: z.object({
      name: watchlistBody.shape.name.openapi({ description: "Its name." }),
      repositories: repositoriesArgument(0, MAX_ITEMS).default([]),
    }),
    output: changedOutput,
    isWrite: true,
    operation: createWatchlist,
    run: async ({ name, repositories }, context) => {
      const { modules } = context.services;
      const ids = (await findNamed(modules, repositories)).map(({ id }) => id);
      const created = await modules.watchlists.create(name, ids, context.adding);
      return changed(context, created.watchlist, created.token, created.shareToken);
    },
  }),
  tool({
    name: "add_to_watchlist",
    title: "Add to a watchlist",
    description: "Adds repositories to a watchlist, each once. Ask the user first.",
    args: z.object({ token, repositories: repositoriesArgument(1, MAX_ITEMS) }),
    output: changedOutput,
    isWrite: true,
    operation: addWatchlistItem,
    run: async ({ token, repositories }, context) => {
      const { modules } = context.services;
      const ids = (await findNamed(modules, repositories)).map(({ id }) => id);
      const { watchlist } = await modules.watchlists.add({ token }, ids, { adding: context.adding });
      return changed(context, watchlist, token);
    },
  }),
];
