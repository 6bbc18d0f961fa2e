/**
 * What a user would build otherwise for suggestions: MiniSearch in memory behind `node:http`, over the names of the same
 * repositories. `node minisearch.js <repositories> <days>` prints its address when the index is ready.
 */
import { createServer } from "node:http";
import MiniSearch from "minisearch";
import { generatorOptions } from "../support/stores.js";
import { syntheticRepository } from "../synthetic/synthetic.js";

interface Document {
  id: number;
  provider: string;
  fullName: string;
  description: string | null;
  language: string | null;
  stars: number;
}

const LIMIT = 8;
const options = generatorOptions({ size: Number(process.argv[2]), days: Number(process.argv[3]) });
const index = new MiniSearch<Document>({
  fields: ["fullName"],
  storeFields: ["provider", "fullName", "description", "language", "stars"],
  tokenize: (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u),
});
for (let i = 0; i < options.repositories; i++) {
  const { provider, owner, name, facts } = syntheticRepository(i, options);
  const { description = null, language = null, stars } = facts;
  index.add({ id: i + 1, provider, fullName: `${owner}/${name}`, description, language, stars: stars ?? 0 });
}
const popular = index.search(MiniSearch.wildcard, {
  boostDocument: (_id, _term, stored) => Number(stored?.stars),
});
const first = popular.slice(0, LIMIT);

const server = createServer((request, response) => {
  const q = new URL(request.url ?? "/", "http://localhost").searchParams.get("q") ?? "";
  const found =
    q === ""
      ? first
      : index.search(q, {
          prefix: true,
          combineWith: "AND",
          boostDocument: (_id, _term, stored) => Math.log1p(Number(stored?.stars)),
        });
  const repositories = found
    .slice(0, LIMIT)
    .map(({ id, provider, fullName, description, language, stars }) => ({
      id: String(id),
      provider,
      fullName,
      description,
      language,
      stars,
    }));
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ data: { repositories } }));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null)
    process.stdout.write(`listens at http://127.0.0.1:${address.port}\n`);
});
