import assert from "node:assert/strict";
import { test } from "node:test";
import { type AddressedForge, addressReader, MAX_ADDRESS } from "../../../src/repositories/addresses.js";
import { splitFullName } from "../../../src/repositories/record-rules.js";
import { examples, fc } from "../../support/properties.js";

const FORGES: readonly AddressedForge[] = [
  { name: "CODEBERG", kind: "forgejo", url: "https://codeberg.org" },
  { name: "GITHUB", kind: "github", url: "https://github.com" },
  { name: "GITLAB", kind: "gitlab", url: "https://gitlab.com" },
  { name: "WORK", kind: "gitlab", url: "https://Git.Example.org:8443/team/lab" },
  { name: "DEV", kind: "forgejo", url: "http://localhost:3000" },
  { name: "GHE", kind: "github", url: "https://octo.ghe.com" },
  { name: "WWW", kind: "forgejo", url: "https://www.forge.example" },
];
const read = (text: string, forges = FORGES) => addressReader(forges)(text);

test("an address is parsed as people paste it", () => {
  const pasted: Readonly<Record<string, readonly [provider: string, fullName: string]>> = {
    "https://github.com/o/n": ["GITHUB", "o/n"],
    "http://github.com/o/n/": ["GITHUB", "o/n"],
    "HTTPS://WWW.GitHub.com/O/N": ["GITHUB", "O/N"],
    "  <https://github.com/o/n>\n": ["GITHUB", "o/n"],
    "https://github.com:443/o/n.git": ["GITHUB", "o/n"],
    "https://github.com./o/n": ["GITHUB", "o/n"],
    "//github.com/o/n": ["GITHUB", "o/n"],
    "https://github.com//o//n": ["GITHUB", "o/n"],
    "https://github.com/o/n/issues/5?q=a/b#issuecomment-1": ["GITHUB", "o/n"],
    "https://github.com/o/n?tab=readme-ov-file": ["GITHUB", "o/n"],
    "https://github.com/o/n#readme": ["GITHUB", "o/n"],
    "https://github.com/o/n/tree/main/src/x.git": ["GITHUB", "o/n"],
    "https://github.com/o/n/blob/main/%E2%9C%93.md": ["GITHUB", "o/n"],
    "https://github.com/o/%6E": ["GITHUB", "o/n"],
    "https://token@github.com/o/n.git": ["GITHUB", "o/n"],
    "https://user:pass@github.com/o/n": ["GITHUB", "o/n"],
    "https://evil.example@github.com/o/n": ["GITHUB", "o/n"],
    "git@github.com:o/n.git": ["GITHUB", "o/n"],
    "git@github.com:/o/n.git": ["GITHUB", "o/n"],
    "org-123@github.com:o/n.git": ["GITHUB", "o/n"],
    "github.com:o/n": ["GITHUB", "o/n"],
    "git clone https://github.com/o/n.git": ["GITHUB", "o/n"],
    "$ git clone --depth 1 -b fix/x git@github.com:o/n.git src/n\n": ["GITHUB", "o/n"],
    "gh repo clone o/n -- --depth=1": ["GITHUB", "o/n"],
    "ssh://git@github.com:22/o/n.git": ["GITHUB", "o/n"],
    "ssh://git@ssh.github.com:443/o/n.git": ["GITHUB", "o/n"],
    "git+ssh://git@github.com:o/n.git": ["GITHUB", "o/n"],
    "git://github.com/o/n.git": ["GITHUB", "o/n"],
    "git+https://github.com/o/n.git#v1": ["GITHUB", "o/n"],
    "github.com/o/n": ["GITHUB", "o/n"],
    "www.github.com/o/n/pulls": ["GITHUB", "o/n"],
    "github:o/n": ["GITHUB", "o/n"],
    "GitHub:o/n#main": ["GITHUB", "o/n"],
    "o/n": ["GITHUB", "o/n"],
    "o/n.js": ["GITHUB", "o/n.js"],
    "o.x/n": ["GITHUB", "o.x/n"],
    "https://github.com/o/n.wiki.git": ["GITHUB", "o/n"],
    "https://api.github.com/repos/o/n/issues": ["GITHUB", "o/n"],
    "https://raw.githubusercontent.com/o/n/main/README.md": ["GITHUB", "o/n"],
    "https://codeload.github.com/o/n/zip/refs/heads/main": ["GITHUB", "o/n"],
    "https://octo.ghe.com/o/n": ["GHE", "o/n"],
    "https://api.octo.ghe.com/repos/o/n": ["GHE", "o/n"],
    "https://gitlab.com/g/n": ["GITLAB", "g/n"],
    "https://gitlab.com/g/s/t/n": ["GITLAB", "g/s/t/n"],
    "https://gitlab.com/g/s/n/-/merge_requests/1": ["GITLAB", "g/s/n"],
    "https://gitlab.com/g/s/n/tree/main": ["GITLAB", "g/s/n"],
    "https://gitlab.com/g/n/issues/7": ["GITLAB", "g/n"],
    "git@gitlab.com:g/s/n.git": ["GITLAB", "g/s/n"],
    "https://gitlab.com/api/v4/projects/g%2Fs%2Fn/issues": ["GITLAB", "g/s/n"],
    "gitlab:g/s/n": ["GITLAB", "g/s/n"],
    "https://codeberg.org/o/n/src/branch/main/x": ["CODEBERG", "o/n"],
    "https://codeberg.org/o/n.rss": ["CODEBERG", "o/n"],
    "https://codeberg.org/api/v1/repos/o/n": ["CODEBERG", "o/n"],
    "https://git.example.org:8443/team/lab/g/s/n/-/tree/x": ["WORK", "g/s/n"],
    "https://git.example.org/team/lab/g/n": ["WORK", "g/n"],
    "https://git.example.org:8443/team/lab/api/v4/projects/g%2Fn": ["WORK", "g/n"],
    "http://localhost:3000/o/n": ["DEV", "o/n"],
    "localhost:3000/o/n": ["DEV", "o/n"],
    "https://forge.example/o/n": ["WWW", "o/n"],
  };
  for (const [text, [provider, fullName]] of Object.entries(pasted))
    assert.deepEqual(read(text), { provider, fullName }, text);
});

test("what names no repository of a configured forge is refused with the reason", () => {
  const refused: Readonly<Record<string, RegExp>> = {
    "": /must be the address/,
    name: /must name a repository/,
    "https://github.com": /must name a repository/,
    "https://github.com/o": /must name a repository/,
    "https://github.com/topics/x": /must name a repository/,
    "https://github.com/orgs/x/repositories": /must name a repository/,
    "https://github.com/sponsors/x": /must name a repository/,
    "https://github.com/o/.git": /must name a repository/,
    "https://github.com/o/..": /must name a repository/,
    "https://github.com/%2e%2e/n": /must name a repository/,
    "https://github.com/o%2Fn/x": /must name a repository/,
    "https://github.com/o/%3Cscript%3E": /must name a repository/,
    "https://github.com/o/n%00": /must name a repository/,
    "https://github.com/ö/n": /must name a repository/,
    "https://gitlab.com/groups/g/-/issues": /must name a repository/,
    "https://gitlab.com/api/v4/projects/42": /must name a repository/,
    "https://codeberg.org/explore/repos": /must name a repository/,
    "https://bitbucket.org/o/n": /host of a configured forge: codeberg\.org, github\.com/,
    "bitbucket.org/o/n": /host of a configured forge/,
    "https://gist.github.com/o/n": /host of a configured forge/,
    "https://github.com@evil.example/o/n": /host of a configured forge/,
    "https://github.com:pass@evil.example/o/n": /host of a configured forge/,
    "https://github.com.evil.example/o/n": /host of a configured forge/,
    "https://gıthub.com/o/n": /host of a configured forge/,
    "https://github.com:8443/o/n": /host of a configured forge/,
    "https://git.example.org/g/n": /host of a configured forge/,
    "http://[::1]/o/n": /host of a configured forge/,
    "http://127.0.0.1:3000/o/n": /host of a configured forge/,
    "https:///o/n": /valid host/,
    "https://%00/o/n": /valid host/,
    "https://github.com/o/%ZZ": /percent escapes/,
    "ftp://github.com/o/n": /must begin with https/,
    "file:///etc/passwd": /must begin with https/,
    "javascript:alert(1)": /forge before the colon/,
    "bitbucket:o/n": /forge before the colon/,
    "https://github.com\\@evil.example/o/n": /no spaces, backslashes/,
    "https://github.com/o/n\r\nX: y": /no spaces, backslashes/,
    "https://github.com/o/n o": /no spaces, backslashes/,
    "https://github.com/o/\u202en": /no spaces, backslashes/,
    [`https://github.com/${"a".repeat(10_000)}/n`]: /at most 2000 characters/,
  };
  for (const [text, expected] of Object.entries(refused)) {
    const result = read(text);
    assert.ok("problem" in result, text.slice(0, 100));
    assert.match(result.problem, expected, text.slice(0, 100));
  }
  const unknown = read("https://bitbucket.org/o/n");
  assert.ok("allowed" in unknown && unknown.allowed?.includes("codeberg.org"));
});

test("a name alone is on GitHub, else on the first configured forge, and on none without one", () => {
  assert.deepEqual(read("o/n", FORGES.slice(0, 1)), { provider: "CODEBERG", fullName: "o/n" });
  assert.ok("problem" in read("o/n", []));
  assert.ok("problem" in read("https://github.com/o/n", FORGES.slice(0, 1)));
});

test("whatever is pasted, the result is a valid name on a configured forge, or a problem, and never an exception", () => {
  const names = FORGES.map(({ name }) => name);
  const piece = fc.oneof(
    fc.constantFrom(
      "https://",
      "git@",
      "github.com",
      ":",
      "/",
      "//",
      "@",
      "%2F",
      "%00",
      "..",
      ".git",
      "?",
      "#",
      "-",
    ),
    fc.constantFrom("gitlab.com", "[::1]", "localhost:3000", "o", "n", "\\", "\n", "\u202e", "xn--", "/-/"),
    fc.string({ unit: "binary", maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const result = read(pieces.join(""));
      if ("problem" in result) return;
      assert.ok(names.includes(result.provider));
      assert.ok(splitFullName(result.fullName) !== undefined);
      assert.match(result.fullName, /^[\w.-]+(\/[\w.-]+)+$/);
    }),
    { numRuns: examples(20_000) },
  );
});

test("every page of a repository leads to it, and its name is read back unchanged", () => {
  const segment = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/).map((text) => `x${text}`);
  const page = fc.constantFrom(
    "",
    "/",
    ".git",
    "/issues/5",
    "/tree/main/x",
    "?a=/b/c",
    "#x/y",
    "/-/tree/main",
  );
  const host = fc.constantFrom(
    "https://github.com/",
    "git@github.com:",
    "ssh://git@github.com/",
    "github.com/",
  );
  fc.assert(
    fc.property(host, segment, segment, page, (start, owner, name, end) => {
      assert.deepEqual(read(`${start}${owner}/${name}${end}`), {
        provider: "GITHUB",
        fullName: `${owner}/${name}`,
      });
    }),
    { numRuns: examples(2_000) },
  );
});

test("the longest hostile text takes no longer than a moment", () => {
  const began = process.hrtime.bigint();
  for (const piece of ["/", ":", "@", "%", "[", "a.", "-", "a/", "git@", "..", "//:"])
    read(piece.repeat(MAX_ADDRESS).slice(0, MAX_ADDRESS));
  assert.ok(Number(process.hrtime.bigint() - began) / 1e6 < 500);
});
