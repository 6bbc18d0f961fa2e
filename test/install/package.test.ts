import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Packed {
  files: { path: string; size: number; mode: number }[];
}

const [packed]: Packed[] = JSON.parse(
  execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }),
);
assert.ok(packed);
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const bundled: { packages: string[]; files: string[] } = JSON.parse(
  readFileSync("dist/bundled.json", "utf8"),
);
const built = new Set(bundled.files.map((name) => `dist/bundle/${name}`));
// Packing deletes what earlier builds have left, which this test must not do.
const files = packed.files.filter(({ path }) => !path.startsWith("dist/bundle/") || built.has(path));
const paths = files.map(({ path }) => path);

test("the package contains what a running service reads, and its licences", () => {
  for (const path of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "package.json",
    "sample/github-ranking.json.zst",
    "sample/NOTICE.md",
    "client/README.md",
    "docs/CONFIGURATION.md",
    "docs/OPERATIONS.md",
    "dist/bundle/main.js",
    "dist/bundle/LICENSES.txt",
    "dist/bundle/files/DejaVuSans.ttf",
    "dist/bundle/client/chart.js",
  ])
    assert.ok(paths.includes(path), `${path} is missing`);
});

test("the package contains no tests, sources, source maps or pictures", () => {
  const allowed =
    /^(?:LICENSE|(?:README|CHANGELOG|SECURITY)\.md|package\.json|client\/README\.md$|sample\/|docs\/[\w-]+\.md$|docs\/decisions\/|packaging\/|dist\/bundle\/)/;
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || /\.(?:map|tsx?|png)$/.test(path)),
    [],
  );
});

test("the package stays small, and needs one library next to it", () => {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`# package: ${(bytes / 1e6).toFixed(1)} MB in ${files.length} files\n`);
  assert.ok(bytes < 13_000_000, String(bytes));
  assert.deepEqual(Object.keys(manifest.dependencies), ["@resvg/resvg-js"]);
});

test("installing the package runs nothing, and its command is a file that can be run", () => {
  for (const script of ["preinstall", "install", "postinstall", "prepare"])
    assert.equal(manifest.scripts[script], undefined, script);
  const path: string = manifest.bin.sidereal;
  assert.equal((files.find((file) => file.path === path)?.mode ?? 0) & 0o111, 0o111);
  // npm warns where the running version is not in the range, but the launcher runs on all of these.
  assert.equal(manifest.engines.node, ">=20");
});

test("every library in the bundle has its licence in the package", () => {
  const texts = readFileSync("dist/bundle/LICENSES.txt", "utf8");
  for (const place of bundled.packages) {
    assert.ok(existsSync(join(place, "package.json")), place);
    const { name, version } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    assert.ok(texts.includes(`\n${name} ${version}\n`), place);
  }
});
