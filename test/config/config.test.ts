import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, readEnvironment, SETTING_NAMES } from "../../src/config/config.js";
import { ConfigError } from "../../src/config/providers.js";
import { temporaryFolder } from "../support/imports.js";

const folder = temporaryFolder();
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** The problems that an environment is refused with, one a line. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    const [first, ...problems] = error.message.split("\n");
    assert.equal(first, "The configuration cannot be used:");
    return problems.map((line) => line.trim());
  }
  return [];
}

test("without settings everything has its default", () => {
  assert.deepEqual(loadConfig({ HOME: "/somewhere", PATH: "" }), loadConfig({}));
  const { host, port, baseUrl, dataDir, databaseUrl, logLevel } = loadConfig({});
  assert.deepEqual(
    { host, port, baseUrl, dataDir, databaseUrl, logLevel },
    {
      host: "127.0.0.1",
      port: 3000,
      baseUrl: "http://127.0.0.1:3000",
      dataDir: "./data",
      databaseUrl: undefined,
      logLevel: "info",
    },
  );
});

test("an empty setting is one that is not given", () => {
  const empty = Object.fromEntries(SETTING_NAMES.map((name) => [name, ""]));
  assert.deepEqual(loadConfig(empty), loadConfig({}));
});

test("the public address has no slash at its end, and an IPv6 host is in brackets", () => {
  assert.equal(
    loadConfig({ SIDEREAL_BASE_URL: "https://s.example/base//" }).baseUrl,
    "https://s.example/base",
  );
  assert.equal(loadConfig({ SIDEREAL_HOST: "::1", SIDEREAL_PORT: "80" }).baseUrl, "http://[::1]:80");
});

test("an unknown setting is refused, and the nearest known one is named", () => {
  const [problem] = problemsOf({ SIDEREAL_PROT: "3000" });
  assert.equal(problem, "SIDEREAL_PROT: no such setting; did you mean SIDEREAL_PORT?");
  assert.match(problemsOf({ SIDEREAL_PORT_FILE: "x" })[0] ?? "", /^SIDEREAL_PORT_FILE: no such setting/);
  assert.match(problemsOf({ SIDEREAL_: "x" })[0] ?? "", /^SIDEREAL_: no such setting/);
});

test("every wrong value is refused by its name, all at once", () => {
  const problems = problemsOf({
    SIDEREAL_PORT: "65536",
    SIDEREAL_DATABASE_POOL: "0",
    SIDEREAL_DATABASE_URL: "mysql://x",
    SIDEREAL_LOG_LEVEL: "loud",
    SIDEREAL_LIMITS: "yes",
    SIDEREAL_BASE_URL: "javascript:alert(1)",
    SIDEREAL_CACHE_MB: "-1",
    SIDEREAL_NOTHING: "x",
  });
  assert.ok(problems.includes("SIDEREAL_PORT: must be at most 65535"));
  assert.ok(problems.includes("SIDEREAL_BASE_URL: must be an address such as https://example.org"));
  assert.ok(
    problems.includes("SIDEREAL_LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent"),
  );
  const names = problems.map((problem) => problem.split(":")[0]).sort();
  assert.deepEqual(names, [
    "SIDEREAL_BASE_URL",
    "SIDEREAL_CACHE_MB",
    "SIDEREAL_DATABASE_POOL",
    "SIDEREAL_DATABASE_URL",
    "SIDEREAL_LIMITS",
    "SIDEREAL_LOG_LEVEL",
    "SIDEREAL_NOTHING",
    "SIDEREAL_PORT",
  ]);
  for (const value of ["1e3", "0x50", " 80", "80 ", "8_0", "1.5", "٣", "99999999999"]) {
    assert.equal(problemsOf({ SIDEREAL_PORT: value }).length, 1, value);
  }
});

test("addresses that nothing can be done with are refused before anything is opened", () => {
  for (const host of ["unix:/run/s", "/run/s", "http://localhost", "a b"])
    for (const name of ["SIDEREAL_HOST", "SIDEREAL_METRICS_HOST"])
      assert.deepEqual(problemsOf({ [name]: host }), [
        `${name}: must be an IP address or the name of a host`,
      ]);
  for (const host of ["::1", "0.0.0.0", "localhost", "host_1.example."])
    assert.equal(loadConfig({ SIDEREAL_HOST: host }).host, host);
  for (const url of ["postgres://u:hunter#2@h/s", "postgres://u:hunter/2@h/s", "postgres://u@h:port/s"])
    assert.deepEqual(problemsOf({ SIDEREAL_DATABASE_URL: url }), [
      "SIDEREAL_DATABASE_URL: is not an address; in a password, write # as %23, / as %2F and ? as %3F",
    ]);
  for (const url of [
    "postgres://u:p%23@h:1/s?sslmode=require",
    "postgresql:///s?host=/run/postgresql",
    "postgres://u:p@/s",
  ])
    assert.equal(loadConfig({ SIDEREAL_DATABASE_URL: url }).databaseUrl, url);
});

test("a secret may be given as a file, whose last line break does not count", () => {
  const url = "postgres://user:secret@db.example/sidereal";
  const { databaseUrl } = loadConfig({ SIDEREAL_DATABASE_URL_FILE: file("url", `${url}\n`) });
  assert.equal(databaseUrl, url);
  assert.deepEqual(problemsOf({ SIDEREAL_DATABASE_URL_FILE: join(folder, "none") }), [
    "SIDEREAL_DATABASE_URL_FILE: the file cannot be read",
  ]);
});

test("no message shows a secret", () => {
  for (const env of [
    { SIDEREAL_DATABASE_URL: "mysql://user:hunter2@db" },
    { SIDEREAL_DATABASE_URL_FILE: file("wrong", "mysql://user:hunter2@db") },
  ]) {
    const problems = problemsOf(env);
    assert.equal(problems.length, 1);
    assert.doesNotMatch(problems.join(), /hunter2/);
  }
});

test("a .env file lies under the environment: what is set there wins", () => {
  file(".env", '# A comment\nSIDEREAL_PORT=4000\nSIDEREAL_HOST="0.0.0.0"\nOTHER=x\n');
  const env = readEnvironment(folder, { SIDEREAL_PORT: "5000", HOME: "/h" });
  assert.deepEqual(env, { SIDEREAL_PORT: "5000", SIDEREAL_HOST: "0.0.0.0", OTHER: "x", HOME: "/h" });
  const { port, host } = loadConfig(env);
  assert.deepEqual([port, host], [5000, "0.0.0.0"]);
  const given = { SIDEREAL_PORT: "5000" };
  assert.deepEqual(readEnvironment(join(folder, "none"), given), given);
});

test("an installed program keeps its data in the user's home, unless its folder has settings or data", () => {
  const dataDirIn = (directory: string, env: Record<string, string> = {}) =>
    loadConfig(readEnvironment(directory, env, "/home/ann/.local/share/sidereal")).dataDir;
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  assert.equal(dataDirIn(elsewhere), "/home/ann/.local/share/sidereal");
  assert.equal(dataDirIn(elsewhere, { SIDEREAL_DATA_DIR: "/srv" }), "/srv");
  mkdirSync(join(elsewhere, "data"));
  assert.equal(dataDirIn(elsewhere), "./data");
  const server = join(folder, "server");
  mkdirSync(server);
  writeFileSync(join(server, ".env"), "SIDEREAL_PORT=4000\n");
  assert.equal(dataDirIn(server), "./data");
});

test("settings that go together are requested together", () => {
  assert.deepEqual(problemsOf({ SIDEREAL_SMTP_URL: "smtp://mail.example" }), [
    "SIDEREAL_MAIL_FROM: must be set, because SIDEREAL_SMTP_URL is",
  ]);
  assert.deepEqual(problemsOf({ SIDEREAL_AUTH_GITHUB_SECRET: "s" }), [
    "SIDEREAL_AUTH_GITHUB_ID: must be set, because SIDEREAL_AUTH_GITHUB_SECRET is",
  ]);
  const secret = file("smtp-url", "smtps://user:pass@mail.example\n");
  const { mail, github } = loadConfig({ SIDEREAL_SMTP_URL_FILE: secret, SIDEREAL_MAIL_FROM: "a@b.example" });
  assert.deepEqual(mail, { smtpUrl: "smtps://user:pass@mail.example", from: "a@b.example" });
  assert.equal(github, undefined);
});

test("a secret that is too short or an address that is none is refused without being shown", () => {
  const problems = problemsOf({
    SIDEREAL_AUTH_SECRET: "hunter2",
    SIDEREAL_SMTP_URL: "mail.example",
    SIDEREAL_MAIL_FROM: "somebody",
  });
  assert.deepEqual(problems, [
    "SIDEREAL_AUTH_SECRET: must be at least 32 characters",
    "SIDEREAL_SMTP_URL: must be an address that begins with smtp:// or smtps://",
    "SIDEREAL_MAIL_FROM: must be an e-mail address, optionally with a name before it",
  ]);
});

test("limits and trusted proxies are checked like all else", () => {
  const { limits, trustedProxies } = loadConfig({
    SIDEREAL_LIMITS: "heavy.account=500, search = 60",
    SIDEREAL_TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7,2001:db8::/32",
  });
  assert.deepEqual(limits?.heavy, { anonymous: 20, signed_in: 500, key: 500 });
  assert.deepEqual(limits?.search, { anonymous: 60, signed_in: 300, key: 300 });
  assert.deepEqual(trustedProxies, ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);
  assert.equal(loadConfig({ SIDEREAL_LIMITS: "false" }).limits, undefined);
  assert.deepEqual(loadConfig({}).trustedProxies, []);
  for (const value of ["0", "-1", "100000001", "1.5", "many", ""]) {
    const [problem, ...more] = problemsOf({ SIDEREAL_LIMITS: `search=${value}` });
    assert.equal(problem, "SIDEREAL_LIMITS: search: must be a whole number from 1 to 100000000", value);
    assert.deepEqual(more, []);
  }
  for (const value of [
    "10.0.0.0/33",
    "2001:db8::/129",
    "10.0.0.0/",
    "10.0.0",
    "proxy.example",
    "fe80::1%eth0",
    "1.2.3.4/8/8",
  ])
    assert.match(
      problemsOf({ SIDEREAL_TRUSTED_PROXIES: value })[0] ?? "",
      /^SIDEREAL_TRUSTED_PROXIES/,
      value,
    );
  assert.deepEqual(problemsOf({ SIDEREAL_LIMITS: "auth.account=5,serch=3" }), [
    "SIDEREAL_LIMITS: auth.account: no such limit",
    "SIDEREAL_LIMITS: serch: no such limit; did you mean search?",
  ]);
});

test("providers need a database that the worker process can open too", () => {
  const problem =
    "SIDEREAL_DATA_DIR: a database in memory cannot be shared with the worker process; use a folder, or configure no provider";
  const memory = { SIDEREAL_DATA_DIR: ":memory:", SIDEREAL_GITHUB_TOKENS: "secret" };
  assert.deepEqual(problemsOf(memory), [problem]);
  assert.equal(loadConfig({ ...memory, SIDEREAL_DATABASE_URL: "postgres://h/d" }).providers.length, 1);
});

test("the address of Redis may be in a file, and a wrong one is not shown", () => {
  assert.equal(loadConfig({ SIDEREAL_REDIS_URL: "rediss://u:p@h:6380/1" }).redisUrl, "rediss://u:p@h:6380/1");
  assert.equal(
    loadConfig({ SIDEREAL_REDIS_URL_FILE: file("redis-url", "redis://h\n") }).redisUrl,
    "redis://h",
  );
  for (const value of ["http://hunter2", "redis"])
    assert.deepEqual(problemsOf({ SIDEREAL_REDIS_URL: value }), [
      "SIDEREAL_REDIS_URL: must be redis://host:port/database; rediss for TLS",
    ]);
});

test("if the base URL is private, only its host is served, and no other site may use the API", () => {
  const opennessOf = (env: Record<string, string>) => {
    const { allowedHosts, cors } = loadConfig(env);
    return { allowedHosts, cors };
  };
  const closed = (...allowedHosts: string[]) => ({ allowedHosts, cors: false });
  assert.deepEqual(opennessOf({}), closed("127.0.0.1"));
  assert.deepEqual(opennessOf({ SIDEREAL_HOST: "0.0.0.0" }), closed("localhost"));
  assert.deepEqual(opennessOf({ SIDEREAL_HOST: "::" }), closed("localhost"));
  assert.deepEqual(opennessOf({ SIDEREAL_BASE_URL: "http://Git.LAN:8080/tools" }), closed("git.lan"));
  assert.deepEqual(opennessOf({ SIDEREAL_BASE_URL: "https://sidereal.example" }), {
    allowedHosts: undefined,
    cors: true,
  });
  assert.deepEqual(
    opennessOf({
      SIDEREAL_BASE_URL: "https://sidereal.example",
      SIDEREAL_ALLOWED_HOSTS: " 10.0.0.7 ,::1, B.example.",
    }),
    { allowedHosts: ["sidereal.example", "10.0.0.7", "[::1]", "b.example"], cors: true },
  );
  assert.deepEqual(opennessOf({ SIDEREAL_ALLOWED_HOSTS: "*", SIDEREAL_CORS: "true" }), {
    allowedHosts: undefined,
    cors: true,
  });
});

test("a host is listed without a port, and must be one", () => {
  for (const host of ["a:3000", "[::1]:3000", "http://a", "a/b", "a b", "a@b", ":", "*.example"])
    assert.deepEqual(
      problemsOf({ SIDEREAL_ALLOWED_HOSTS: `b.example, ${host}` }),
      [`SIDEREAL_ALLOWED_HOSTS: ${host}: must be the name or address of a host without a port, or *`],
      host,
    );
});

test("a replica needs a primary", () => {
  const replica = { SIDEREAL_DATABASE_READ_URL: "postgres://u:secret@db2/s" };
  const primary = { SIDEREAL_DATABASE_URL: "postgres://db1/s" };
  assert.equal(loadConfig({ ...primary, ...replica }).databaseReadUrl, "postgres://u:secret@db2/s");
  assert.equal(loadConfig(primary).databaseReadUrl, undefined);
  assert.deepEqual(problemsOf(replica), [
    "SIDEREAL_DATABASE_READ_URL: only PostgreSQL has replicas; SIDEREAL_DATABASE_URL must be set",
  ]);
});
