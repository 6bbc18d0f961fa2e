import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, updateDerived } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { type Serving, serve } from "../support/serving.js";
import { daily, observation } from "../support/world.js";

/**
 * Generates clients and types from the document of a service, compiles them strictly, and runs the same small program with each: the
 * first of a list, its detail and series, and the error of an unknown repository.
 */

const INSTALLED = resolve("client/node_modules");
const BIN = join(INSTALLED, ".bin");

interface Generator {
  name: string;
  /** In `generated/`. */
  program: string;
  generate: string[];
}

const node = (bin: string, ...args: string[]) => [process.execPath, join(BIN, bin), ...args];
const GENERATORS: readonly Generator[] = [
  {
    name: "@hey-api/openapi-ts",
    program: "hey-api.txt",
    generate: node("openapi-ts", "--input", "openapi.json", "--output", "src/api"),
  },
  {
    name: "openapi-typescript with openapi-fetch",
    program: "openapi-fetch.txt",
    generate: node("openapi-typescript", "openapi.json", "--output", "src/api.ts"),
  },
  {
    name: "orval",
    program: "orval.txt",
    generate: node("orval", "--config", "orval.config.json"),
  },
];

const skip = existsSync(join(BIN, "orval")) ? false : "run npm ci --prefix client first";
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, target: "es2022", module: "commonjs", moduleResolution: "node10", types: [] },
    ...{ lib: ["es2022", "dom", "dom.iterable"], rootDir: "src", outDir: "out" },
  },
  include: ["src"],
};
const QUIET = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

/** Returns the last line that a command prints. Fails unless it succeeds. */
function run([command = "", ...args]: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...QUIET },
  });
  assert.equal(status, 0, `${args.join(" ")}\n${stdout}${stderr}`);
  return stdout.trim().split("\n").at(-1) ?? "";
}

onSqlite("generated clients", (engine) => {
  let service: Serving;
  let document: object;

  before(async () => {
    const modules = buildModules(await engine.open(), { clock: systemClock, log: createLog("silent") });
    await modules.catalog.record([
      observation("a/one", daily(...Array.from({ length: 9 }, (_, i) => 100 + i * i))),
    ]);
    await updateDerived(modules);
    service = await serve(new CommandWorld(), engine.location().dataDir, {});
    document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as object;
  });
  after(() => service.stop());

  /** A folder with the document, and the configurations of the generators. */
  const prepare = (): string => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "src"));
    const write = (name: string, content: object) =>
      writeFileSync(join(folder, name), JSON.stringify(content));
    write("package.json", { private: true });
    write("tsconfig.json", TSCONFIG);
    write("openapi.json", document);
    const output = { target: "./src/api.ts", client: "fetch", baseUrl: service.url };
    write("orval.config.json", { api: { input: "./openapi.json", output } });
    symlinkSync(INSTALLED, join(folder, "node_modules"));
    return folder;
  };

  for (const { name, program, generate } of GENERATORS)
    test(`${name}: what it generates compiles, and reads a service`, { skip }, () => {
      const folder = prepare();
      copyFileSync(join("test/client/generated", program), join(folder, "src/program.ts"));
      run(generate, folder);
      run(node("tsc", "-p", "."), folder);
      assert.equal(run([process.execPath, "out/program.js", service.url], folder), "a/one 164 9 NOT_FOUND");
    });

  test("the document has no error for Redocly", { skip }, () => {
    run(node("redocly", "lint", "openapi.json"), prepare());
  });
});
