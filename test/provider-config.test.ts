import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError, loadConfig } from "../src/config.js";

const folder = mkdtempSync(join(tmpdir(), "sidereal-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const SECRET = "ghp_neverToBeShown";

function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  throw new Error("it was accepted");
}

test("without settings nothing is tracked", () => {
  assert.deepEqual(loadConfig({}).providers, []);
});

test("the public forges are known by their names, in any case", () => {
  const { providers } = loadConfig({ SIDEREAL_PROVIDERS: "github, codeberg GitLab" });
  assert.deepEqual(
    providers.map(({ name, kind, url, tokens, mayBePrivate }) => [name, kind, url, tokens, mayBePrivate]),
    [
      ["GITHUB", "github", "https://github.com", [], false],
      ["GITLAB", "gitlab", "https://gitlab.com", [], false],
      ["CODEBERG", "forgejo", "https://codeberg.org", [], false],
    ],
  );
});

test("tokens alone are enough for a public forge, also from a file, each once", () => {
  const file = join(folder, "tokens");
  writeFileSync(file, `${SECRET}\n second-token,${SECRET}\n`);
  const [github] = loadConfig({ SIDEREAL_GITHUB_TOKENS_FILE: file }).providers;
  assert.deepEqual(github?.tokens, [SECRET, "second-token"]);
});

test("an instance of one's own has a name, a kind and an address", () => {
  const [work] = loadConfig({
    SIDEREAL_PROVIDERS: "work",
    SIDEREAL_WORK_KIND: "forgejo",
    SIDEREAL_WORK_URL: "https://git.example.org/",
    SIDEREAL_WORK_REQUESTS_PER_HOUR: "600",
    SIDEREAL_WORK_MIN_STARS: "2",
    SIDEREAL_WORK_PRIVATE: "true",
  }).providers;
  assert.deepEqual(work, {
    name: "WORK",
    kind: "forgejo",
    url: "https://git.example.org",
    tokens: [],
    requestsPerHour: 600,
    minStars: 2,
    mayBePrivate: true,
  });
  const problems = refusal({ SIDEREAL_PROVIDERS: "work" });
  assert.match(problems, /SIDEREAL_WORK_KIND/);
  assert.match(problems, /SIDEREAL_WORK_URL/);
});

test("what is wrong is named, and no token is shown", () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ SIDEREAL_GITHUB_URL: `https://user:${SECRET}@github.com` }, /SIDEREAL_GITHUB_URL: .*site alone/],
    [{ SIDEREAL_GITHUB_URL: `ftp://${SECRET}` }, /SIDEREAL_GITHUB_URL: .*https/],
    [{ SIDEREAL_GITHUB_KIND: SECRET }, /SIDEREAL_GITHUB_KIND: /],
    [{ SIDEREAL_GITHUB_TOKENS: `${SECRET}\u00e4` }, /SIDEREAL_GITHUB_TOKENS: .*characters/],
    [
      { SIDEREAL_GITHUB_TOKENS: SECRET, SIDEREAL_GITHUB_TOKENS_FILE: join(folder, "absent") },
      /SIDEREAL_GITHUB_TOKENS_FILE: .*remove one/,
    ],
    [{ SIDEREAL_GITHUB_TOKENS_FILE: join(folder, "absent") }, /cannot read the file/],
    [{ SIDEREAL_GITHUB_PRIVATE: "yes" }, /SIDEREAL_GITHUB_PRIVATE: /],
    [{ SIDEREAL_GITHUB_REQUESTS_PER_HOUR: "0" }, /SIDEREAL_GITHUB_REQUESTS_PER_HOUR: /],
    [{ SIDEREAL_PROVIDERS: "my-forge" }, /SIDEREAL_PROVIDERS: "MY-FORGE" is not a valid name/],
  ];
  for (const [env, expected] of cases) {
    const message = refusal(env);
    assert.match(message, expected);
    assert.ok(!message.includes(SECRET), message);
  }
});

test("a setting of a provider that is not listed is refused, like any that is not known", () => {
  assert.match(refusal({ SIDEREAL_WORK_TOKENS: SECRET }), /SIDEREAL_WORK_TOKENS: no such setting/);
  assert.match(refusal({ SIDEREAL_GITHUB_TOKNES: SECRET }), /SIDEREAL_GITHUB_TOKNES: no such setting/);
  assert.ok(!refusal({ SIDEREAL_GITHUB_TOKNES: SECRET }).includes(SECRET));
});
