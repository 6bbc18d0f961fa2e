import assert from "node:assert/strict";
import { test } from "node:test";
import { type AddressedForge, type Asked, parseAsked } from "../../../src/repositories/addresses.js";
import { examples, fc } from "../../support/properties.js";

const FORGES: readonly AddressedForge[] = [
  { name: "CODEBERG", kind: "forgejo", url: "https://codeberg.org" },
  { name: "GITHUB", kind: "github", url: "https://github.com" },
  { name: "GITLAB", kind: "gitlab", url: "https://gitlab.com" },
];
const asked = (text: string): Asked => parseAsked(text, FORGES);
const listed = (wrong: string[], ...names: string[]): Asked => ({
  kind: "repositories",
  addresses: names.map((name) => {
    const [provider = "", fullName = ""] = name.split(":");
    return { provider, fullName };
  }),
  wrong,
});
const repositories = (...names: string[]) => listed([], ...names);
const owner = (provider: string, name: string): Asked => ({ kind: "owner", provider, owner: name });

test("a text names repositories, an owner, a README or a name", () => {
  const texts: Readonly<Record<string, Asked>> = {
    "honojs/hono": repositories("GITHUB:honojs/hono"),
    "https://github.com/honojs/hono/pull/4#top": repositories("GITHUB:honojs/hono"),
    "git@codeberg.org:forgejo/forgejo.git": repositories("CODEBERG:forgejo/forgejo"),
    "gh repo clone honojs/hono": repositories("GITHUB:honojs/hono"),
    "honojs/hono, sveltejs/svelte": repositories("GITHUB:honojs/hono", "GITHUB:sveltejs/svelte"),
    "honojs/hono gitlab:gitlab-org/gitlab  honojs/HONO": repositories(
      "GITHUB:honojs/hono",
      "GITLAB:gitlab-org/gitlab",
    ),
    "a/b nonsense c/d https://github.com/e/f/issues/5 https://example.org/x/y": listed(
      ["nonsense", "https://example.org/x/y"],
      "GITHUB:a/b",
      "GITHUB:c/d",
      "GITHUB:e/f",
    ),
    "See https://github.com/a/b and [c](https://codeberg.org/c/d).": repositories(
      "GITHUB:a/b",
      "CODEBERG:c/d",
    ),
    "https://github.com/honojs": owner("GITHUB", "honojs"),
    "github.com/honojs/": owner("GITHUB", "honojs"),
    "https://github.com/honojs?tab=repositories": owner("GITHUB", "honojs"),
    "https://github.com/orgs/honojs/repositories": owner("GITHUB", "honojs"),
    "https://gitlab.com/groups/gitlab-org": owner("GITLAB", "gitlab-org"),
    "https://codeberg.org/forgejo": owner("CODEBERG", "forgejo"),
    "codeberg:forgejo": owner("CODEBERG", "forgejo"),
    "@honojs": owner("GITHUB", "honojs"),
    "honojs/": owner("GITHUB", "honojs"),
    "https://github.com/a/list/blob/main/README.md": {
      kind: "readme",
      provider: "GITHUB",
      fullName: "a/list",
    },
    "https://raw.githubusercontent.com/a/list/main/readme.md": {
      kind: "readme",
      provider: "GITHUB",
      fullName: "a/list",
    },
    "https://github.com/a/list#readme": { kind: "readme", provider: "GITHUB", fullName: "a/list" },
    "https://gitlab.com/a/list/-/blob/main/README.md": {
      kind: "readme",
      provider: "GITLAB",
      fullName: "a/list",
    },
    hono: { kind: "name", name: "hono" },
    "  Node.js\n": { kind: "name", name: "Node.js" },
  };
  for (const [text, wanted] of Object.entries(texts)) assert.deepEqual(asked(text), wanted, text);
});

test("a text that names nothing gets one plain sentence, and names other hosts as not allowed", () => {
  for (const text of [
    "",
    "  ",
    "github.com",
    "https://github.com/trending",
    "what is popular",
    "https://example.org/a/b",
    "http://127.0.0.1:9200/a/b",
    "http://169.254.169.254/latest/meta-data",
    "file:///etc/passwd",
    "ssh://internal/a/b",
    "<script>alert(1)</script>",
    "@",
    "@.",
    "@..",
    "https://codeberg.org/user/%2e%2e",
    "codeberg:../name",
  ]) {
    const found = asked(text);
    assert.equal(found.kind, "problem", text);
    assert.match("problem" in found ? found.problem : "", /^must [^\n]{10,200}$/, text);
  }
  const elsewhere = asked("https://example.org/a/b");
  assert.deepEqual("allowed" in elsewhere ? elsewhere.allowed : [], [
    "codeberg.org",
    "github.com",
    "gitlab.com",
  ]);
});

test("whatever is pasted names configured forges alone", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.webUrl(),
    fc
      .array(fc.oneof(fc.webUrl(), fc.constant("a/b"), fc.constant("@x")), { maxLength: 5 })
      .map((all) => all.join(" ")),
  );
  fc.assert(
    fc.property(text, (pasted) => {
      const found = asked(pasted);
      const named = "addresses" in found ? found.addresses : "provider" in found ? [found] : [];
      return named.every(({ provider }) => FORGES.some(({ name }) => name === provider));
    }),
    { numRuns: examples(400) },
  );
});

test("a text of 5,000 links is parsed", () => {
  const links = Array.from({ length: 5_000 }, (_, i) => `- [n](https://github.com/o/n${i}) text`).join("\n");
  const found = asked(links);
  assert.equal("addresses" in found ? found.addresses.length : 0, 5_000);
});
