import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, parse, validate } from "graphql";
import {
  fromRest,
  OPTIONAL_FIELDS,
  readRepository,
  repositoriesQuery,
  restRepository,
} from "../../src/forges/github/repository.js";
import { GITHUB_SCHEMA, startForge } from "../support/forge/forge.js";
import { checkFields, REST_EXAMPLES, REST_FIELDS } from "../support/forge/github-fields.js";
import { START } from "../support/forge/world.js";
import { ManualClock } from "../support/manual-clock.js";

test("the GraphQL query is valid in GitHub's schema, also without optional fields", () => {
  const schema = buildSchema(GITHUB_SCHEMA);
  const reduced = [
    new Set<never>(),
    ...OPTIONAL_FIELDS.map((field) => new Set([field])),
    new Set(OPTIONAL_FIELDS),
  ];
  for (const without of reduced) {
    const query = repositoriesQuery(without);
    assert.deepEqual(validate(schema, parse(query)), []);
    for (const field of without) assert.doesNotMatch(query, new RegExp(`\\b${field}\\b`));
  }
});

test("the fake GitHub's responses have the fields of its API description", async (t) => {
  const clock = new ManualClock(START);
  const forge = await startForge({ kind: "github", clock, repositories: 300 });
  t.after(() => forge.close());
  const read = async (path: string) =>
    (await fetch(`${forge.url}/api/v3${path}`, { headers: { authorization: "Bearer one" } })).json();
  for (const { id, fullName } of [...forge.catalogue.truth(clock.now())].slice(0, 30)) {
    const single = await read(`/repos/${fullName}`);
    checkFields(single);
    assert.deepEqual(await read(`/repositories/${id}`), single);
  }
  const { items } = await read("/search/repositories?q=stars:>=1&per_page=100");
  assert.equal(items.length, 100);
  for (const row of items) checkFields(row, ["subscribers_count"]);
});

test("the REST fields that we read are those of the table, which GitHub's own examples have", () => {
  assert.deepEqual(Object.keys(restRepository.in.shape).sort(), Object.keys(REST_FIELDS).sort());
  checkFields(REST_EXAMPLES.repository);
  checkFields(REST_EXAMPLES.row, ["subscribers_count"]);
});

test("fields that GitHub's API description makes nullable or optional may be missing here", () => {
  for (const [field, type] of Object.entries(REST_FIELDS)) {
    if (!type.endsWith("?")) continue;
    readRepository({ ...REST_EXAMPLES.repository, [field]: null });
    readRepository({ ...REST_EXAMPLES.repository, [field]: undefined });
  }
});

test("GitHub's own examples are accepted", () => {
  const repository = readRepository(REST_EXAMPLES.repository);
  assert.equal(`${repository.owner}/${repository.name}`, "octocat/Hello-World");
  assert.deepEqual([repository.stars, repository.forks, repository.watchers], [80, 9, 42]);
  const row = restRepository.parse(REST_EXAMPLES.row);
  assert.equal(fromRest({ ...row, isDisabled: false })?.watchers, null);
});
