/**
 * An agent without a language model: it answers one question with the tools of Sidereal, as a model would.
 *
 *     node dist/examples/agent.js http://127.0.0.1:3000 Rust
 */
import { argv, env } from "node:process";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";

const [, , service = "http://127.0.0.1:3000", language = "Rust"] = argv;
const found = z.object({
  asOf: z.string(),
  ageDays: z.number(),
  repositories: z.array(z.object({ repository: z.string(), starsGained: z.number(), page: z.string() })),
});
const growthOver = z.object({
  window: z.string(),
  starsChange: z.number(),
  confidence: z.number(),
  reliable: z.boolean(),
  doubts: z.array(z.object({ kind: z.string(), reason: z.string() })),
});
const details = z.object({ repositories: z.array(z.object({ growth: z.array(growthOver) })) });

const client = new Client({ name: "example-agent", version: "1.0.0" });
const headers: Record<string, string> = env.SIDEREAL_API_KEY ? { "X-API-Key": env.SIDEREAL_API_KEY } : {};
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${service}/mcp`), { requestInit: { headers } }),
);

async function call(name: string, args: Record<string, unknown>): Promise<unknown> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
  if (isError) throw new Error(JSON.stringify(content));
  return structuredContent;
}

const top = found.parse(
  await call("search_repositories", { language: [language], sort: "stars-gained", window: "7d", limit: 3 }),
);
console.log(
  `${language} repositories that grew most in the week to ${top.asOf.slice(0, 10)} (${top.ageDays} days ago):`,
);
const repositories = top.repositories.map(({ repository }) => repository);
const detailed =
  repositories.length === 0
    ? []
    : details.parse(await call("get_repositories", { repositories })).repositories;
for (const [i, { repository, starsGained, page }] of top.repositories.entries()) {
  const week = detailed[i]?.growth.find(({ window }) => window === "7d");
  const doubts = week?.doubts.map(({ kind, reason }) => `${kind}: ${reason}`) ?? [];
  const verdict = week?.reliable ? `trustworthy, confidence ${week.confidence}` : "not to be trusted";
  console.log(`${repository}: +${starsGained} counted, ${week?.starsChange} in all; ${verdict} ${page}`);
  for (const doubt of doubts) console.log(`  ${doubt}`);
}
await client.close();
