/** The configuration of other programs in OPERATIONS.md, as these programs read it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../support/imports.js";

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
