import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Packed {
  size: number;
  unpackedSize: number;
  files: { path: string; mode: number }[];
}

const [packed]: Packed[] = JSON.parse(
  execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }),
);
assert.ok(packed);
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const paths = packed.files.map(({ path }) => path);

test("the package contains what a running service reads, and its licences", () => {
  for (const path of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "package.json",
    "sample/github-ranking.json.zst",
    "sample/NOTICE.md",
    "docs/CONFIGURATION.md",
    "docs/OPERATIONS.md",
    "dist/bundle/main.js",
    "dist/bundle/serving-thread.js",
    "dist/bundle/LICENSES.txt",
    "dist/bundle/files/DejaVuSans.ttf",
    "dist/bundle/client/chart.js",
  ])
    assert.ok(paths.includes(path), `${path} is missing`);
});

test("the package contains no tests, sources, source maps or pictures", () => {
  const allowed =
    /^(?:LICENSE|(?:README|CHANGELOG|SECURITY)\.md|package\.json|sample\/|docs\/[\w-]+\.md$|docs\/decisions\/|packaging\/|dist\/bundle\/)/;
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || /\.(?:map|tsx?|png)$/.test(path)),
    [],
  );
});

test("the package stays small: under 4 MB to fetch, and what it needs beside it is one library", () => {
  process.stdout.write(
    `# package: ${packed.size} bytes, ${packed.unpackedSize} unpacked, ${paths.length} files\n`,
  );
  assert.ok(packed.size < 4_000_000, String(packed.size));
  assert.deepEqual(Object.keys(manifest.dependencies), ["@resvg/resvg-js"]);
});

test("installing the package runs nothing, and its command is a file that can be run", () => {
  for (const script of ["preinstall", "install", "postinstall", "prepare"])
    assert.equal(manifest.scripts[script], undefined, script);
  const path: string = manifest.bin.sidereal;
  assert.equal((packed.files.find((file) => file.path === path)?.mode ?? 0) & 0o111, 0o111);
  // npm warns where the running version is not in the range, but the launcher runs on all of these.
  assert.equal(manifest.engines.node, ">=20");
});

test("every library in the bundle has its licence in the package", () => {
  const texts = readFileSync("dist/bundle/LICENSES.txt", "utf8");
  const bundled: string[] = JSON.parse(readFileSync("dist/bundled.json", "utf8"));
  for (const place of bundled) {
    assert.ok(existsSync(join(place, "package.json")), place);
    const { name, version } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    assert.ok(texts.includes(`\n${name} ${version}\n`), place);
  }
});
