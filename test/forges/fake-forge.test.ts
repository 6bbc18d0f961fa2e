import assert from "node:assert/strict";
import { test } from "node:test";
import { schema as githubSchema } from "@octokit/graphql-schema";
import { buildSchema, type GraphQLField, isObjectType } from "graphql";
import { GITHUB_SCHEMA, startForge } from "../support/forge/forge.js";
import { checkGithubBody } from "../support/forge/schemas.js";
import { START } from "../support/forge/world.js";
import { ManualClock } from "../support/manual-clock.js";

test("GitHub's responses match its API description", async (t) => {
  const clock = new ManualClock(START);
  const forge = await startForge({ kind: "github", clock, repositories: 300 });
  t.after(() => forge.close());
  const read = async (path: string) =>
    (await fetch(`${forge.url}/api/v3${path}`, { headers: { authorization: "Bearer one" } })).json();
  for (const { id, fullName } of [...forge.catalogue.truth(clock.now())].slice(0, 30)) {
    const single = await read(`/repos/${fullName}`);
    checkGithubBody("/repos/{owner}/{repo}", 200, single);
    assert.deepEqual(await read(`/repositories/${id}`), single);
  }
  checkGithubBody("/search/repositories", 200, await read("/search/repositories?q=stars:>=1&per_page=100"));
  checkGithubBody("/search/repositories", 422, await read("/search/repositories?q="));
  checkGithubBody("/rate_limit", 200, await read("/rate_limit"));
  checkGithubBody("/repos/{owner}/{repo}", 404, await read("/repos/nobody/nothing"));
});

test("every field of the GraphQL types is in GitHub's schema with the same type", () => {
  const [ours, whole] = [
    buildSchema(GITHUB_SCHEMA),
    buildSchema(githubSchema.idl, { assumeValid: true, assumeValidSDL: true }),
  ];
  for (const type of Object.values(ours.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    const real = whole.getType(type.name);
    assert.ok(isObjectType(real), type.name);
    for (const [name, field] of Object.entries(type.getFields())) {
      const realField: GraphQLField<unknown, unknown> | undefined = real.getFields()[name];
      assert.equal(String(realField?.type), String(field.type), `${type.name}.${name}`);
      for (const { name: argument, type: wanted } of field.args) {
        const realArgument = realField?.args.find((known) => known.name === argument);
        assert.equal(String(realArgument?.type), String(wanted), `${type.name}.${name}(${argument})`);
      }
    }
  }
});
