import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { startLocalService } from "../support/local-service.js";

/** Where the samples expect the service. */
const SAMPLE_URL = "http://127.0.0.1:3000";
const run = promisify(execFile);
const samples = [...readFileSync("client/README.md", "utf8").matchAll(/^```js\n([\s\S]*?)^```/gm)].map(
  ([, code = ""]) => code,
);

onSqlite("The samples in the client's README", (engine) => {
  let service: Awaited<ReturnType<typeof startLocalService>>;
  let folder: string;
  before(async () => {
    service = await startLocalService(await engine.open());
    folder = temporaryFolder();
  });
  after(() => service.stop());

  test("have no type error", async () => {
    for (const [i, code] of samples.entries()) writeFileSync(join(folder, `${i}.mts`), code);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: false, target: "es2022", module: "esnext" },
      ...{ moduleResolution: "bundler", lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"] },
      paths: { "sidereal-client": [resolve("client/dist/client.d.ts")] },
      ...{ types: ["node"], typeRoots: [resolve("node_modules/@types")] },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }));
    const { stdout } = await run(process.execPath, [
      resolve("node_modules/typescript/bin/tsc"),
      "-p",
      folder,
    ]);
    assert.equal(stdout, "");
  });

  test("run as they are with the bundled client, and print something", async () => {
    assert.ok(samples.length >= 6, "the samples were not read");
    const client = pathToFileURL(resolve("client/dist/client.js")).href;
    for (const [i, code] of samples.entries()) {
      assert.ok(code.includes(SAMPLE_URL));
      const file = join(folder, `${i}.mjs`);
      writeFileSync(
        file,
        code.replace('"sidereal-client"', JSON.stringify(client)).replace(SAMPLE_URL, service.url),
      );
      const { stdout, stderr } = await run(process.execPath, [file], { env: { API_KEY: service.apiKey } });
      assert.equal(stderr, "", code);
      assert.notEqual(stdout.trim(), "", code);
      assert.doesNotMatch(stdout, /undefined/, code);
    }
  });
});
