import assert from "node:assert/strict";
import { test } from "node:test";
import { startForge } from "../support/forge/forge.js";
import { checkFields } from "../support/forge/github-fields.js";
import { START } from "../support/forge/world.js";
import { ManualClock } from "../support/manual-clock.js";

test("GitHub's responses have the fields of its API description", async (t) => {
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
