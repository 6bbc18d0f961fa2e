/** The configuration of other programs in OPERATIONS.md, as these programs read it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SELF_SIGNED } from "../support/certificate.js";
import { temporaryFolder } from "../support/imports.js";
import { freePort } from "../support/ports.js";

const folder = temporaryFolder();
const operations = readFileSync(
  fileURLToPath(new URL("../../../docs/OPERATIONS.md", import.meta.url)),
  "utf8",
);

/** Why a program cannot read its sample, for `skip`. */
const without = (program: string) =>
  spawnSync(program, ["--version"]).error === undefined ? false : `${program} is not installed`;

test("logrotate reads its sample", { skip: without("logrotate") }, () => {
  const [, sample] = /```\n( *\/var\/log\/sidereal\.log \{.*?)```/s.exec(operations) ?? [];
  assert.ok(sample);
  const file = join(folder, "logrotate");
  writeFileSync(file, sample, { mode: 0o644 });
  const { status, stderr } = spawnSync("logrotate", ["-d", "-s", join(folder, "state"), file], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /^error:/m);
});

test("nginx reads its sample", { skip: without("nginx") }, async () => {
  const [, sample] = /```nginx\n(.*?)```/s.exec(operations) ?? [];
  assert.ok(sample);
  writeFileSync(join(folder, "repositories.example.pem"), SELF_SIGNED.cert);
  writeFileSync(join(folder, "repositories.example.key"), SELF_SIGNED.key);
  const file = join(folder, "nginx.conf");
  const http = sample
    .replaceAll("/etc/ssl", folder)
    .replace("listen 443", `listen 127.0.0.1:${await freePort()}`);
  writeFileSync(file, `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${http}}\n`);
  const { status, stderr } = spawnSync("nginx", ["-t", "-p", folder, "-e", "stderr", "-c", file], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
});
