import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { isIgnored, readCommand, readStages, readVariables } from "../../scripts/image-file.js";
import { loadConfig, readEnvironment } from "../../src/config/config.js";
import { SELF_SIGNED } from "../support/certificate.js";
import { temporaryFolder } from "../support/imports.js";

const read = (file: string): string => readFileSync(file, "utf8");
const manifest = JSON.parse(read("package.json"));
const stages = readStages(read("Dockerfile"));
const last = stages.at(-1);
assert.ok(last);

interface ComposeService {
  image: string;
  environment: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  healthcheck?: object;
  networks?: string[];
  command?: string[];
  mem_limit?: string;
}
interface Compose {
  services: Record<string, ComposeService>;
  networks?: Record<string, { internal?: boolean } | null>;
}
const compose: Compose = parse(read("compose.yaml"));
const withPostgres: Compose = parse(read("compose.postgres.yaml"));

/** The program's own settings of a service, with the placeholders that compose replaces filled in. */
const settingsOf = ({ environment }: ComposeService): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\w+(?::-([^}]*)|[^}]*)\}/g, (_, given) => given ?? "secret"),
    ]),
  );

test("every stage of the image has the Node.js of the tests", () => {
  const { devDependencies } = JSON.parse(read("test/package.json"));
  for (const { base } of stages) assert.equal(base, `node:${devDependencies.node}-bookworm-slim`);
});

test("the image runs a user without privileges, and commands that the package has", () => {
  assert.match(last.steps.findLast(({ name }) => name === "USER")?.text ?? "", /^[1-9]\d*:[1-9]\d*$/);
  const program = `/opt/sidereal/${manifest.bin.sidereal}`;
  assert.deepEqual(readCommand(last.steps, "ENTRYPOINT"), [program]);
  assert.deepEqual(readCommand(last.steps, "CMD"), ["start"]);
  const links = last.steps.filter(({ text }) => text.includes(`ln -s ${program} /usr/local/bin/sidereal`));
  assert.equal(links.length, 1, "docker exec finds the command");
  assert.deepEqual(readCommand(last.steps, "HEALTHCHECK"), [program, "health"]);
  assert.equal(last.steps.find(({ name }) => name === "STOPSIGNAL")?.text, "SIGTERM");
});

test("the settings of the image can be used, and keep the data in its volume", () => {
  const variables = last.steps.filter(({ name }) => name === "ENV").map(({ text }) => readVariables(text));
  const { host, port, dataDir } = loadConfig(Object.assign({}, ...variables));
  assert.deepEqual([host, port], ["0.0.0.0", Number(last.steps.find(({ name }) => name === "EXPOSE")?.text)]);
  assert.equal(dataDir, last.steps.find(({ name }) => name === "VOLUME")?.text);
});

test("the image leaves the public address to a file .env in its volume", () => {
  const variables = last.steps.filter(({ name }) => name === "ENV").map(({ text }) => readVariables(text));
  const env = Object.assign({}, ...variables);
  assert.equal(loadConfig(env).baseUrl, "http://localhost:3000");
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), "SIDEREAL_BASE_URL=https://repositories.example\n");
  assert.equal(loadConfig(readEnvironment(folder, env)).baseUrl, "https://repositories.example");
});

test("the build is given what it copies and packs, and nothing that is secret or large", () => {
  const ignoreFile = read(".dockerignore");
  const named = stages
    .flatMap(({ steps }) => steps.filter(({ name, flags }) => name === "COPY" && flags.from === undefined))
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
    .filter((path) => path !== ".");
  const packed = manifest.files
    .filter((path: string) => !path.startsWith("dist"))
    .flatMap((path: string) => globSync(path));
  for (const path of [...named, ...packed, "src/main.ts", "scripts/build.mjs", "tsconfig.json", "LICENSE"]) {
    assert.ok(existsSync(path), path);
    assert.equal(isIgnored(path, ignoreFile), false, path);
  }
  for (const path of [
    ".env",
    ".env.old",
    ".git/config",
    "data/sidereal.db",
    "node_modules/pg/package.json",
    "dist/x",
    "test/x",
    "docs/images/x.png",
  ])
    assert.equal(isIgnored(path, ignoreFile), true, path);
});

test("the settings of the compose files can be used", () => {
  const alone = compose.services.sidereal;
  const joined = withPostgres.services.sidereal;
  assert.ok(alone && joined);
  assert.equal(loadConfig(settingsOf(alone)).databaseUrl, undefined);
  const both = loadConfig({ ...settingsOf(alone), ...settingsOf(joined) });
  const { host, pathname } = new URL(both.databaseUrl ?? "");
  assert.deepEqual(
    [host, pathname, new URL(both.redisUrl ?? "").hostname],
    ["postgres:5432", "/sidereal", "valkey"],
  );
});

test("the compose files name full versions, limit memory, and have no password", () => {
  for (const [name, { image, mem_limit }] of Object.entries({
    ...withPostgres.services,
    ...compose.services,
  })) {
    assert.match(image, /:\d+\.\d+(\.\d+)?(-\w+)?$/, name);
    assert.ok(mem_limit, name);
  }
  const { valkey, postgres, sidereal } = withPostgres.services;
  assert.ok(valkey && postgres && sidereal);
  const passwords = [
    valkey.command?.at(-1),
    valkey.environment.REDISCLI_AUTH,
    postgres.environment.POSTGRES_PASSWORD,
    /:([^:@]*\$.*)@/.exec(sidereal.environment.SIDEREAL_REDIS_URL ?? "")?.[1],
    /sidereal:([^@]*)@/.exec(sidereal.environment.SIDEREAL_DATABASE_URL ?? "")?.[1],
  ];
  // The form that stops compose if the variable is missing.
  for (const password of passwords) assert.match(password ?? "", /^\$\{\w+:\?is missing in \.env\}$/);
});

test("the compose service cannot write to its files, has no privileges, and is open to this machine alone", () => {
  const { read_only, cap_drop, security_opt, ports = [], image } = compose.services.sidereal ?? { image: "" };
  assert.deepEqual([read_only, cap_drop, security_opt], [true, ["ALL"], ["no-new-privileges:true"]]);
  for (const port of ports) assert.match(port, /^127\.0\.0\.1:/);
  assert.equal(image, `sidereal:${manifest.version}`);
});

test("the stores of the compose file are reached by the service alone, which waits until they are healthy", () => {
  assert.equal(withPostgres.networks?.stores?.internal, true);
  for (const [name, { networks, ports, healthcheck }] of Object.entries(withPostgres.services)) {
    assert.equal(ports, undefined, name);
    if (name === "sidereal") continue;
    assert.deepEqual(networks, ["stores"], name);
    assert.ok(healthcheck, name);
  }
});

const unit = read("packaging/sidereal.service");
const hasAnalyze = {
  skip: spawnSync("systemd-analyze", ["--version"]).status === 0 ? false : "needs systemd-analyze",
};

test("the systemd unit sets what the program reads", () => {
  const settings = /^Environment=(.*)$/m.exec(unit)?.[1] ?? "";
  const { dataDir } = loadConfig(readEnvironment("/nowhere", readVariables(settings)));
  assert.equal(dataDir, `/var/lib/${/^StateDirectory=(.*)$/m.exec(unit)?.[1]}`);
  assert.match(unit, /^ExecStart=\/usr\/local\/bin\/sidereal start$/m);
});

for (const name of ["sidereal", "sidereal-backup"])
  test(`systemd accepts ${name}.service, and rates its exposure below 2 of 10`, hasAnalyze, () => {
    const analyze = (...args: string[]) =>
      spawnSync("systemd-analyze", [...args, `packaging/${name}.service`], { encoding: "utf8" });
    const { stdout, stderr, status } = analyze("verify");
    const problems = `${stdout}${stderr}`
      .split("\n")
      .filter((line) => line !== "" && !/sidereal is not executable/.test(line));
    assert.deepEqual(problems, [], String(status));
    const rated = analyze("security", "--offline=true").stdout;
    assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(rated)?.[1]) < 2, rated);
  });

const has = (program: string, flag: string) => ({
  skip: spawnSync(program, [flag]).status === 0 ? false : `needs ${program}`,
});

test("nginx accepts its sample", has("nginx", "-v"), () => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(SELF_SIGNED)) writeFileSync(join(folder, `${name}.pem`), text);
  const sample = read("packaging/proxies/nginx.conf").replaceAll(/\/etc\/ssl\/[\w.]+(pem|key);/g, (_, kind) =>
    join(folder, kind === "key" ? "key.pem;" : "cert.pem;"),
  );
  const main = join(folder, "nginx.conf");
  writeFileSync(main, `pid ${folder}/pid; events {} http { access_log off; ${sample} }`);
  const { stderr } = spawnSync("nginx", ["-t", "-e", "stderr", "-c", main], { encoding: "utf8" });
  assert.match(stderr, /test is successful/);
});

test("Caddy accepts its sample", has("caddy", "version"), () => {
  const args = ["validate", "--adapter", "caddyfile", "--config", "packaging/proxies/Caddyfile"];
  const { status, stderr } = spawnSync("caddy", args, {
    encoding: "utf8",
    env: { ...process.env, HOME: temporaryFolder() },
  });
  assert.equal(status, 0, stderr);
});
