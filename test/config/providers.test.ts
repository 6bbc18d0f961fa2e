import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { ConfigError, proxyOf as proxyInUse } from "../../src/config/providers.js";
import { userAgentOf } from "../../src/lib/version.js";
import { temporaryFolder } from "../support/imports.js";

const folder = temporaryFolder();
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
  assert.deepEqual(github?.tokenSource, { kind: "file", path: file });
});

test("an instance of one's own has a name, a kind and an address", () => {
  const [work] = loadConfig({
    SIDEREAL_PROVIDERS: "work",
    SIDEREAL_WORK_KIND: "forgejo",
    SIDEREAL_WORK_URL: "https://git.example.org/",
    SIDEREAL_WORK_REQUESTS_PER_HOUR: "600",
    SIDEREAL_WORK_MIN_STARS: "2",
    SIDEREAL_WORK_NEW_PER_DAY: "500",
    SIDEREAL_WORK_PRIVATE: "true",
  }).providers;
  assert.deepEqual(work, {
    name: "WORK",
    kind: "forgejo",
    url: "https://git.example.org",
    tokens: [],
    requestsPerHour: 600,
    minStars: 2,
    newPerDay: 500,
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
    [{ SIDEREAL_GITHUB_KIND: SECRET }, /SIDEREAL_GITHUB_KIND: must be one of github, /],
    [{ SIDEREAL_GITHUB_URL: "not an address" }, /SIDEREAL_GITHUB_URL: .*https/],
    [{ SIDEREAL_GITHUB_URL: SECRET }, /SIDEREAL_GITHUB_URL: .*https/],
    [{ SIDEREAL_GITHUB_TOKENS: "x".repeat(4_097) }, /SIDEREAL_GITHUB_TOKENS: .*4,096/],
    [{ SIDEREAL_GITHUB_TOKEN_COMMAND: '["a", 7]' }, /SIDEREAL_GITHUB_TOKEN_COMMAND: must be a program/],
    [{ SIDEREAL_GITHUB_TOKEN_COMMAND: "a\u001bb" }, /SIDEREAL_GITHUB_TOKEN_COMMAND: .*control characters/],
    [{ SIDEREAL_GITHUB_TOKEN_COMMAND: '["a", "b\\u0000"]' }, /SIDEREAL_GITHUB_TOKEN_COMMAND: must be/],
    [{ SIDEREAL_GITHUB_APP_ID: "7" }, /SIDEREAL_GITHUB_APP_PRIVATE_KEY: is required/],
    [{ SIDEREAL_GITHUB_APP_PRIVATE_KEY: SECRET }, /SIDEREAL_GITHUB_APP_PRIVATE_KEY: .*PEM/],
    [{ SIDEREAL_GITHUB_APP_INSTALLATION: "7" }, /APP_ID: is required/],
    [{ SIDEREAL_PROVIDERS: "github", SIDEREAL_GITHUB_APP_INSTALLATION: "7" }, /APP_ID: is required/],
    [
      { SIDEREAL_GITHUB_TOKENS: SECRET, SIDEREAL_GITHUB_TOKEN_COMMAND: "token" },
      /SIDEREAL_GITHUB_TOKENS: SIDEREAL_GITHUB_TOKEN_COMMAND is also set/,
    ],
    [{ SIDEREAL_CODEBERG_APP_ID: "7" }, /SIDEREAL_CODEBERG_APP_ID: only GitHub has Apps/],
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

test("a misspelt setting, forge or kind names the nearest one, and not all others", () => {
  const cases: [Record<string, string>, RegExp][] = [
    [
      { SIDEREAL_GITHUB_TOKEN: SECRET },
      /SIDEREAL_GITHUB_TOKEN: no such setting; did you mean SIDEREAL_GITHUB_TOKENS\?/,
    ],
    [{ SIDEREAL_GITHUB_TOKNES_FILE: "x" }, /did you mean SIDEREAL_GITHUB_TOKENS_FILE\?/],
    [{ SIDEREAL_GITHB_TOKENS: SECRET }, /did you mean SIDEREAL_GITHUB_TOKENS\?/],
    [{ SIDEREAL_PROVIDER: "github" }, /did you mean SIDEREAL_PROVIDERS\?/],
    [{ SIDEREAL_DATABASE_ULR_FILE: "x" }, /did you mean SIDEREAL_DATABASE_URL_FILE\?/],
    [{ SIDEREAL_PROVIDERS: "codberg" }, /SIDEREAL_PROVIDERS: codberg is not known; did you mean codeberg\?/],
    [
      { SIDEREAL_PROVIDERS: "work", SIDEREAL_WORK_KIND: "forgeo", SIDEREAL_WORK_URL: "https://x.example" },
      /SIDEREAL_WORK_KIND: must be one of .*; did you mean forgejo\?/,
    ],
    [{ SIDEREAL_NOTHING_LIKE_IT: "x" }, /no such setting; docs\/CONFIGURATION.md lists all/],
  ];
  for (const [env, expected] of cases) {
    const message = refusal(env);
    assert.match(message, expected);
    assert.equal(message.split("\n").length, 2, message);
    assert.ok(message.length < 250 && !message.includes(SECRET), message);
  }
});

test("the address of a forge may have no scheme, or be that of its API", () => {
  for (const [name, text, expected] of [
    ["GITHUB", "github.com", "https://github.com"],
    ["GITHUB", "api.github.com", "https://github.com"],
    ["GITHUB", "https://api.github.com/graphql", "https://github.com"],
    ["GITHUB", "https://api.acme.ghe.com/", "https://acme.ghe.com"],
    ["GITHUB", "acme.ghe.com", "https://acme.ghe.com"],
    ["GITHUB", "https://git.example.org/api/v3", "https://git.example.org"],
    ["GITLAB", "https://git.example.org/gitlab/api/v4/", "https://git.example.org/gitlab"],
    ["CODEBERG", "git.example.org:3000", "https://git.example.org:3000"],
    ["GITHUB", "http://api.github.com", "https://github.com"],
    ["GITHUB", "http://github.com:80/", "https://github.com"],
    ["GITHUB", "www.github.com", "https://github.com"],
    ["GITHUB", "http://acme.ghe.com", "https://acme.ghe.com"],
    ["GITLAB", "http://www.gitlab.com/api/v4", "https://gitlab.com"],
    ["CODEBERG", "http://git.example.org", "http://git.example.org"],
  ] as const) {
    const [provider] = loadConfig({ [`SIDEREAL_${name}_URL`]: text }).providers;
    assert.equal(provider?.url, expected);
  }
});

test("tokens are sent over http in private networks only", () => {
  const env = { SIDEREAL_GITHUB_URL: "http://git.example.org", SIDEREAL_GITHUB_TOKENS: SECRET };
  assert.match(refusal(env), /SIDEREAL_GITHUB_URL: tokens are sent over https only/);
  assert.ok(!refusal(env).includes(SECRET));
  assert.equal(loadConfig({ ...env, SIDEREAL_GITHUB_PRIVATE: "true" }).providers.length, 1);
});

test("tokens may be as long as a forge makes them", () => {
  const token = `ghs_${"a".repeat(516)}`;
  assert.deepEqual(loadConfig({ SIDEREAL_GITHUB_TOKENS: token }).providers[0]?.tokens, [token]);
});

test("tokens may come from a command or a GitHub App, whose key may have any of its usual forms", () => {
  const command = (text: string) =>
    loadConfig({
      SIDEREAL_GITHUB_TOKEN_COMMAND: text,
      SIDEREAL_AUTH_SECRET: SECRET.repeat(3),
      PATH: "/bin",
    }).providers[0]?.tokenSource;
  // Without our own settings.
  const environment = { PATH: "/bin" };
  const kind = "command";
  assert.deepEqual(command("pass show github"), { kind, command: ["pass", "show", "github"], environment });
  assert.deepEqual(command('["op", "read", "a b"]'), { kind, command: ["op", "read", "a b"], environment });
  for (const type of ["pkcs1", "pkcs8"] as const) {
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type, format: "pem" },
    });
    const file = join(folder, `${type}.pem`);
    writeFileSync(file, privateKey);
    for (const key of [
      { SIDEREAL_GITHUB_APP_PRIVATE_KEY: privateKey },
      { SIDEREAL_GITHUB_APP_PRIVATE_KEY: privateKey.replaceAll("\n", "\\n") },
      { SIDEREAL_GITHUB_APP_PRIVATE_KEY_FILE: file },
    ]) {
      const env = { SIDEREAL_GITHUB_APP_ID: "7", SIDEREAL_GITHUB_APP_INSTALLATION: "42", ...key };
      const [github] = loadConfig(env).providers;
      const { kind, ...source } = github?.tokenSource ?? { kind: "none" };
      assert.equal(kind, "app");
      assert.deepEqual(source, { appId: "7", privateKey: privateKey.trim(), installation: "42" });
    }
  }
});

test("proxies are read from the usual variables, and their credentials are never shown", () => {
  const proxyOf = (env: Record<string, string>) => loadConfig({ SIDEREAL_PROVIDERS: "github", ...env }).proxy;
  assert.equal(proxyOf({ NO_PROXY: "x" }), undefined);
  assert.deepEqual(proxyOf({ HTTPS_PROXY: "http://u:p@proxy.example:3128", NO_PROXY: "a.example" }), {
    http: null,
    https: "http://u:p@proxy.example:3128/",
    except: "a.example",
  });
  assert.deepEqual(
    proxyOf({ https_proxy: "proxy.example:8080", HTTPS_PROXY: "http://other.example" })?.https,
    "http://proxy.example:8080/",
  );
  for (const wrong of [
    `socks5://${SECRET}@x`,
    `http://${SECRET}:%zz@x`,
    `http://u:${SECRET}%FF@x`,
    "http://",
  ]) {
    const message = refusal({ SIDEREAL_PROVIDERS: "github", HTTPS_PROXY: wrong });
    assert.match(message, /HTTPS_PROXY: must be the address of a proxy/);
    assert.ok(!message.includes(SECRET));
  }
  const idle = loadConfig({ HTTPS_PROXY: "nonsense://" });
  assert.throws(
    () => proxyInUse(idle),
    /HTTPS_PROXY: must be/,
    "the service starts, but no request goes around it",
  );
});

test("the contact of the operator is a mail address or a web address", () => {
  for (const contact of ["ops@example.org", "https://example.org/sidereal"])
    assert.equal(loadConfig({ SIDEREAL_CONTACT: contact }).contact, contact);
  assert.equal(userAgentOf("1.2.3", "https://example.org/"), "Sidereal/1.2.3 (+https://example.org/)");
  assert.equal(userAgentOf("1.2.3", "http-admin@example.org"), "Sidereal/1.2.3 (http-admin@example.org)");
  for (const wrong of [
    "me",
    "a@b c",
    "https://x.example/\r\nx: y",
    "ftp://x.example",
    "(a@b.example)",
    "bjö@x.example",
    "https://bjö.example",
  ])
    assert.match(refusal({ SIDEREAL_CONTACT: wrong }), /SIDEREAL_CONTACT: must be/);
});
