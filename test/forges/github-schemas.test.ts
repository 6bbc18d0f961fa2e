import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { schema as github } from "@octokit/graphql-schema";
import { buildSchema, NoDeprecatedCustomRule, parse, specifiedRules, validate } from "graphql";
import { z } from "zod";
import {
  fromRest,
  OPTIONAL_FIELDS,
  readRepository,
  repositoriesQuery,
  restRepository,
} from "../../src/forges/github/repository.js";

const openapi = z.object({
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    examples: z.record(z.string(), z.object({ value: z.unknown() })),
  }),
});
const file = createRequire(import.meta.url).resolve("@octokit/openapi/generated/api.github.com.json");
const { schemas, examples } = openapi.parse(JSON.parse(readFileSync(file, "utf8"))).components;

const property = z.looseObject({
  type: z.string().optional(),
  nullable: z.boolean().optional(),
  $ref: z.string().optional(),
});
const object = z.object({ properties: z.record(z.string(), property), required: z.array(z.string()) });

/** JSON types of the fields; `license` and `owner` are references. */
const TYPES: Record<string, string> = {
  id: "integer",
  node_id: "string",
  full_name: "string",
  owner: "#/components/schemas/simple-user",
  private: "boolean",
  html_url: "string",
  description: "string",
  homepage: "string",
  language: "string",
  license: "#/components/schemas/nullable-license-simple",
  topics: "array",
  stargazers_count: "integer",
  forks_count: "integer",
  open_issues_count: "integer",
  subscribers_count: "integer",
  fork: "boolean",
  archived: "boolean",
  disabled: "boolean",
  created_at: "string",
  pushed_at: "string",
};

// The published schema defines two fields twice, so validation would fail.
test("the GraphQL query is valid in GitHub's schema and uses nothing deprecated, also without optional fields", () => {
  const rules = [...specifiedRules, NoDeprecatedCustomRule];
  const schema = buildSchema(github.idl, { assumeValidSDL: true });
  const reduced = [
    new Set<never>(),
    ...OPTIONAL_FIELDS.map((field) => new Set([field])),
    new Set(OPTIONAL_FIELDS),
  ];
  for (const without of reduced) {
    const query = repositoriesQuery(without);
    assert.deepEqual(validate(schema, parse(query), rules), []);
    for (const field of without) assert.doesNotMatch(query, new RegExp(`\\b${field}\\b`));
  }
});

test("every REST field we read exists in GitHub's API description with that type", () => {
  assert.deepEqual(Object.keys(restRepository.in.shape).sort(), Object.keys(TYPES).sort());
  for (const [name, absent] of [
    ["full-repository", []],
    ["repo-search-result-item", ["subscribers_count"]],
  ] as const) {
    const { properties } = object.parse(schemas[name]);
    for (const [field, type] of Object.entries(TYPES)) {
      const found = properties[field];
      if (absent.some((missing) => missing === field)) assert.equal(found, undefined, `${name}.${field}`);
      // A search may give a row no owner.
      else
        assert.equal(
          (found?.type ?? found?.$ref)?.replace("/nullable-simple", "/simple"),
          type,
          `${name}.${field}`,
        );
    }
  }
  const license = object.parse(schemas["nullable-license-simple"]);
  assert.equal(license.properties.spdx_id?.type, "string");
});

test("fields that GitHub's API description makes nullable or optional may be missing here", () => {
  const example = z
    .record(z.string(), z.unknown())
    .parse(examples["full-repository-default-response"]?.value);
  const { properties, required } = object.parse(schemas["full-repository"]);
  for (const field of Object.keys(TYPES)) {
    const isNullable =
      properties[field]?.nullable === true || properties[field]?.$ref?.includes("nullable-") === true;
    if (isNullable) readRepository({ ...example, [field]: null });
    if (!required.includes(field)) readRepository({ ...example, [field]: undefined });
  }
});

test("GitHub's own examples are accepted", () => {
  const repository = readRepository(examples["full-repository-default-response"]?.value);
  assert.equal(`${repository.owner}/${repository.name}`, "octocat/Hello-World");
  assert.deepEqual([repository.stars, repository.forks, repository.watchers], [80, 9, 42]);
  const search = z.object({ items: z.array(restRepository) });
  const [found] = search.parse(examples["repo-search-result-item-paginated"]?.value).items;
  assert.equal(found === undefined ? undefined : fromRest({ ...found, isDisabled: false })?.watchers, null);
});
