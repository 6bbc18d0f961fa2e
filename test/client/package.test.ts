import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { CLIENT_TYPES, isCurrent } from "../../scripts/client-types.js";
import { lockedPackages } from "../../scripts/packages.js";
import { openApiDocument } from "../../src/api/openapi.js";

const MAX_BYTES = 8_000;
const read = (file: string): string => readFileSync(file, "utf8");
const manifest = JSON.parse(read("client/package.json"));
const sources = readdirSync("client/src").map((name) => `client/src/${name}`);

test("the bundled client is one small file without imports", () => {
  const text = read("client/dist/client.js");
  process.stdout.write(`# client.js: ${text.length} bytes, ${gzipSync(text).length} with gzip\n`);
  assert.ok(text.length > 1_000 && text.length < MAX_BYTES, `${text.length} bytes`);
  assert.doesNotMatch(text, /\bimport\b|\brequire\b/);
});

test("the client depends on nothing: no package, no file outside its folder, no global of Node.js", () => {
  assert.deepEqual([manifest.dependencies, manifest.peerDependencies], [undefined, undefined]);
  for (const file of sources) {
    for (const [, target = ""] of read(file).matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g))
      assert.match(target, /^\.\/[\w-]+\.js$/, file);
  }
  // So the compiler knows only what browsers have.
  const { types, lib } = JSON.parse(read("client/tsconfig.json")).compilerOptions;
  assert.deepEqual([types, lib], [[], ["es2022", "dom", "dom.iterable", "dom.asynciterable"]]);
});

test("the types of the client are those of the API's document", () => {
  const document = openApiDocument("http://127.0.0.1:3000");
  const file = read(CLIENT_TYPES);
  assert.ok(isCurrent(file, document), "run npm run client");
  assert.ok(!isCurrent(file.replace("fullName: string", "fullName: number"), document));
  assert.ok(!isCurrent(file, { ...document, paths: {} }));
});

test("the package has the version and the licence of the service, and only what was built", () => {
  const { version, license } = JSON.parse(read("package.json"));
  assert.deepEqual([manifest.version, manifest.license], [version, license]);
  assert.equal(read("client/LICENSE"), read("LICENSE"));
  assert.deepEqual(manifest.files, ["dist"]);
  assert.equal(manifest.sideEffects, false);
  for (const file of Object.values<string>(manifest.exports["."]))
    assert.ok(read(`client/${file}`) !== "", file);
});

test("what builds the types is locked, with checksums", () => {
  const lockfile = read("client/package-lock.json");
  const locked = lockedPackages(lockfile);
  assert.ok(locked.length > 10);
  for (const [place, { integrity, dev, resolved }] of locked) {
    assert.match(integrity ?? "", /^sha512-[\w+/]{86}==$/, place);
    assert.deepEqual([dev, resolved], [true, undefined], place);
  }
  for (const [name, version] of Object.entries<string>(manifest.devDependencies))
    assert.equal(JSON.parse(lockfile).packages[`node_modules/${name}`].version, version);
});
