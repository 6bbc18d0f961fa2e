import { idsOf, jsonHeaders, NESTED_JSON, references } from "./case-parts.js";
import type { CaseContext, ExpensiveCase, Sent } from "./cases.js";
import { SEARCH_TEXTS } from "./parameters.js";

const make = (name: string, send: (context: CaseContext, round: number) => Sent, status = 200) => ({
  name,
  status,
  send,
});

/** A message to the tools for language models. */
const mcp = (method: string, params: object): Sent => ({
  method: "POST",
  path: "/mcp",
  headers: jsonHeaders(),
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
});

/** A call of a tool. */
const tool = (
  name: string,
  of: string,
  args: (context: CaseContext, round: number) => object,
): ExpensiveCase =>
  make(name, (context, round) => mcp("tools/call", { name: of, arguments: args(context, round) }));

/** The tools for language models. */
export const MCP_CASES: readonly ExpensiveCase[] = [
  make("the tools", () => mcp("tools/list", {})),
  ...["a b", "a", SEARCH_TEXTS[6] ?? ""].map((q) =>
    tool(
      `a search for ${q.slice(0, 10)}`,
      "search_repositories",
      ({ facts: { topics, languages } }, round) => ({
        ...{ q, topic: topics, language: languages, sort: "stars-gained", order: "asc" },
        ...{ minStars: round, limit: 25 },
      }),
    ),
  ),
  tool("six repositories", "get_repositories", ({ facts }, round) => ({
    repositories: references(facts, 6, (round * 6) % 480),
  })),
  tool("six series", "get_series", ({ facts }, round) => ({
    ...{ repositories: references(facts, 6, (round * 6) % 480), window: "all", points: 100 },
  })),
  tool("a comparison", "compare_repositories", ({ facts }, round) => ({
    ...{ repositories: references(facts, 6, (round * 6) % 480), window: "all", metric: "forks" },
  })),
  tool("a new watchlist", "create_watchlist", ({ facts }) => ({ repositories: idsOf(facts) })),
  tool("a watchlist", "read_watchlist", ({ token }) => ({ token, sort: "trending", limit: 25 })),
  make("deeply nested JSON", () => ({ ...mcp("", {}), body: NESTED_JSON }), 400),
  make("deeply nested arguments", () => ({
    ...mcp("", {}),
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_repositories","arguments":{"repositories":${NESTED_JSON.slice(500, -500)}}}}`,
  })),
];
