import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { withTables } from "../scripts/settings-tables.js";
import { API_ROUTES } from "../src/api/routes.js";
import { SETTING_NAMES } from "../src/config/config.js";
import { isProviderSetting, PROVIDER_SETTINGS, providerNames } from "../src/config/providers.js";
import { SORTS } from "../src/discovery/query.js";
import { pathPattern } from "../src/http/route.js";
import { ERROR_STATUS } from "../src/lib/errors.js";

const DOCUMENTS = [
  "client/README.md",
  ...readdirSync(".").filter((file) => file.endsWith(".md")),
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];

/** What every project of this kind is expected to say, by file. */
const EXPECTED = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/ARCHITECTURE.md"];

const read = (file: string): string => readFileSync(file, "utf8");

/** First cells of the rows of all tables that hold just a code span. */
function namedInTables(text: string): string[] {
  return [...text.matchAll(/^\| `([^`]+)` *\|/gm)].map((match) => match[1] ?? "");
}

/** The headings as link targets. */
function anchorsOf(text: string): Set<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? "");
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** The text without its code blocks, in which brackets and hashes are not Markdown. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, "");
}

test("the documents are found", () => {
  for (const file of EXPECTED) assert.ok(DOCUMENTS.includes(file), `${file} is missing`);
  assert.ok(existsSync("LICENSE"));
});

test("the tables of settings are those of the program", () => {
  const text = read("docs/CONFIGURATION.md");
  assert.equal(withTables(text), text, "npm run samples writes them");
});

test("every setting is described, and no other", () => {
  const described = namedInTables(read("docs/CONFIGURATION.md")).filter((name) =>
    name.startsWith("SIDEREAL_"),
  );
  assert.deepEqual(described.toSorted(), [...SETTING_NAMES, ...PROVIDER_SETTINGS].toSorted());
  // The changelog names those that are gone.
  for (const file of DOCUMENTS.filter((name) => name !== "CHANGELOG.md")) {
    for (const [name] of read(file).matchAll(/SIDEREAL_(?:[A-Z_]*[A-Z]|<NAME>[A-Z_]*)/g)) {
      const setting = name.replace(/_FILE$/, "");
      const isKnown = SETTING_NAMES.includes(setting) || PROVIDER_SETTINGS.includes(setting);
      const names = providerNames("work");
      assert.ok(isKnown || isProviderSetting(setting, names), `${file} speaks of ${name}`);
    }
  }
});

test("every route is described, and no other", () => {
  const routes = API_ROUTES.map(({ route }) => `${route.method} ${pathPattern(route)}`);
  const described = [...read("docs/API.md").matchAll(/^### `([A-Z]+ \/[^`]*)`$/gm)].map((match) => match[1]);
  assert.ok(routes.length > 0);
  assert.deepEqual(described.toSorted(), routes.toSorted());
});

test("every sort of lists is described, and no other", () => {
  const [, cell = ""] = /^\| `sort` \| ([^|]*`relevance`[^|]*) \|/m.exec(read("docs/API.md")) ?? [];
  const named = Array.from(cell.replace(/\([^)]*\)/g, "").matchAll(/`([^`]+)`/g), ([, name]) => name);
  assert.deepEqual(named, SORTS);
});

test("every error code is described with its status, and no other", () => {
  const rows = read("docs/API.md").matchAll(/^\| `([A-Z_]+)` *\| (\d{3}) *\| \S.*\|$/gm);
  const described = Array.from(rows, ([, code, status]) => [code, Number(status)]);
  assert.deepEqual(described, Object.entries(ERROR_STATUS));
});

test("every relative link leads somewhere", () => {
  let links = 0;
  for (const file of DOCUMENTS) {
    for (const [, target = ""] of withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links++;
      const [path = "", anchor] = target.split("#");
      const wanted = path === "" ? file : normalize(join(dirname(file), path));
      assert.ok(existsSync(wanted), `${file} links to ${target}`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(read(wanted)).has(anchor), `${file}: no heading for ${target}`);
    }
  }
  assert.ok(links > 20, "the links were not read");
});

test("every source file that a document names exists", () => {
  const sources = ["src", "test", "bench", "scripts", "client/src", "examples"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join("/", folder, file)),
  );
  let named = 0;
  for (const file of DOCUMENTS) {
    for (const [, source = ""] of withoutCode(read(file)).matchAll(/`([\w./-]+\.tsx?)`/g)) {
      named++;
      assert.ok(
        sources.some((one) => one.endsWith(`/${source}`)),
        `${file} names ${source}`,
      );
    }
  }
  assert.ok(named > 100, String(named));
});

test("the documents name no path of a machine and no package registry", () => {
  const foreign = /(?<![\w.-])\/(?:work|root|home|Users)\/|npmjs|\bregistry\.|\/registry\b/i;
  for (const file of DOCUMENTS) assert.doesNotMatch(read(file), foreign, file);
});
