import assert from "node:assert/strict";
import { test } from "node:test";
import { type ReleaseFacts, releaseProblems } from "../../scripts/release-problems.js";

const READY: ReleaseFacts = {
  versions: { "package.json": "1.2.0", "client/package.json": "1.2.0", "the OpenAPI document": "1.2.0" },
  changelog:
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-23\n\n- Something.\n\n## [1.1.0] - 2026-10-01\n\n- Old.\n",
  changed: [],
  commit: "aaaa",
  tagged: undefined,
};

test("a clean checkout with one version and a dated entry in the changelog may be released, before and after its tag", () => {
  assert.deepEqual(releaseProblems(READY), []);
  assert.deepEqual(releaseProblems({ ...READY, tagged: "aaaa" }), []);
  assert.deepEqual(
    releaseProblems({ ...READY, changelog: READY.changelog.replace("## [Unreleased]\n\n", "") }),
    [],
  );
});

for (const [name, change, problem] of [
  [
    "changes that are not committed",
    { changed: [" M src/main.ts", "?? x"] },
    "the checkout has changes: src/main.ts, x",
  ],
  [
    "a client of another version",
    { versions: { ...READY.versions, "client/package.json": "1.1.0" } },
    "client/package.json has version 1.1.0, package.json 1.2.0",
  ],
  [
    "a place without a version",
    { versions: { ...READY.versions, "compose.yaml": undefined } },
    "compose.yaml has version undefined, package.json 1.2.0",
  ],
  [
    "a changelog without the version",
    { changelog: READY.changelog.replace("## [1.2.0]", "## [1.2.1]") },
    "CHANGELOG.md has no heading for 1.2.0",
  ],
  [
    "a changelog without a date",
    { changelog: READY.changelog.replace("2026-11-23", "not yet released") },
    "CHANGELOG.md has no date for 1.2.0: ## [1.2.0] - not yet released",
  ],
  [
    "entries that belong to no version",
    { changelog: READY.changelog.replace("## [Unreleased]\n", "## [Unreleased]\n\n- New.\n") },
    "CHANGELOG.md has entries below Unreleased",
  ],
  ["a version that was released before", { tagged: "bbbb" }, "the tag v1.2.0 names another commit, bbbb"],
] satisfies [string, Partial<ReleaseFacts>, string][])
  test(`${name}: refused`, () => {
    assert.deepEqual(releaseProblems({ ...READY, ...change }), [problem]);
  });
