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
import { GITHUB_SCHEMA } from "../support/forge/forge.js";
import { checkFields, REST_EXAMPLES, REST_FIELDS } from "../support/forge/github-fields.js";

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
