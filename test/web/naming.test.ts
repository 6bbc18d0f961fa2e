import assert from "node:assert/strict";
import { test } from "node:test";
import { readName } from "../../src/web/naming.js";

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
