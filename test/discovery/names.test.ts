import assert from "node:assert/strict";
import { test } from "node:test";
import { findMeant, readName } from "../../src/discovery/discovery.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, observation } from "../support/world.js";

test("repository names are parsed as people write them", () => {
  const written: Record<string, { fullName: string; provider: string | undefined } | undefined> = {
    "owner/name": { fullName: "owner/name", provider: undefined },
    "group/sub/name": { fullName: "group/sub/name", provider: undefined },
    "github:owner/name": { fullName: "owner/name", provider: "GITHUB" },
    "My_Forge:owner/name": { fullName: "owner/name", provider: "MY_FORGE" },
    "https://github.com/owner/name": { fullName: "owner/name", provider: "GITHUB" },
    "https://www.github.com/owner/name/": { fullName: "owner/name", provider: "GITHUB" },
    "HTTPS://GitHub.com/owner/name.git": { fullName: "owner/name", provider: "GITHUB" },
    "https://github.com/owner/name/issues/5?x=1#y": { fullName: "owner/name", provider: "GITHUB" },
    "https://gitlab.com/group/sub/name/-/tree/main": { fullName: "group/sub/name", provider: "GITLAB" },
    "git@codeberg.org:owner/name.git": { fullName: "owner/name", provider: "CODEBERG" },
    "ssh://git@github.com/owner/name.git": { fullName: "owner/name", provider: "GITHUB" },
    name: undefined,
    "": undefined,
    "owner/": undefined,
    "owner/../name": undefined,
    "https://github.com/owner": undefined,
    "https://forge.example/owner/name": { fullName: "owner/name", provider: undefined },
    "javascript:alert(1)": undefined,
  };
  for (const [text, expected] of Object.entries(written)) {
    const read = readName(text);
    assert.equal(read?.provider, expected?.provider, text);
    if (expected === undefined) assert.equal(read, undefined, text);
    else assert.ok(read?.fullNames.includes(expected.fullName), text);
  }
});

onSqliteAndLong("Repository names", (engine) => {
  test("may be previous ones, in any case, and keep their order", async () => {
    const { modules, record } = await createWorld(engine);
    const renamed = { providerId: "7" };
    await record(observation("old/first", [], { ...renamed, at: 1_000 }));
    await record(observation("old/second", [], { ...renamed, at: 2_000 }));
    await record(observation("new/name", [], { ...renamed, at: 3_000 }), observation("one/one"));
    await record(observation("one/one", [], { provider: "GITLAB" }));
    const idOf = async (provider: string, fullName: string) =>
      (await modules.catalog.findByName(provider, fullName))?.repository.id;
    const moved = await idOf("GITHUB", "new/name");
    const texts = [
      "OLD/First",
      "nobody",
      "one/ONE",
      "gitlab:one/one",
      "https://github.com/old/second/x",
      "a/b",
    ];
    const found = await findMeant(modules, texts.map(readName));
    assert.deepEqual(
      found.map((one) => one?.id),
      [moved, undefined, await idOf("GITHUB", "one/one"), await idOf("GITLAB", "one/one"), moved, undefined],
    );
    assert.deepEqual(
      found.map((one) => one?.renamedFrom),
      ["OLD/First", undefined, undefined, undefined, "old/second", undefined],
    );
  });
});
