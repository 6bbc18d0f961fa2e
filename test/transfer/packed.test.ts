import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { readManifest } from "../../src/transfer/transfer.js";
import { ImportWorld, RANKING_HEADER, rankingFile, rankingRow } from "../support/imports.js";
import { type TestMember, tarOf, xzOf, zipOf } from "../support/packed.js";
import { NOW } from "../support/world.js";

const day = (date: string, stars: number): TestMember => ({
  name: `daily/ranking-${date}.csv`,
  content: rankingFile({ stars: String(stars) }),
});
const MEMBERS = [day("2026-04-02", 2), day("2026-04-01", 1), day("2026-04-03", 3)];

async function starsIn(files: Record<string, string | Uint8Array>, options = {}) {
  const { repositories, refused, skipped, report } = await new ImportWorld().import(files, options);
  const stars = repositories.get("o/r")?.snapshots.map((snapshot) => snapshot.stars) ?? [];
  return { stars, refused, skipped, report };
}

describe("A tar or zip file", () => {
  const packed: [string, Uint8Array][] = [
    ["days.tar", tarOf(MEMBERS)],
    ["days.tar.gz", gzipSync(tarOf(MEMBERS))],
    ["days.tgz", gzipSync(tarOf(MEMBERS))],
    ["days.tar.zst", zstdCompressSync(tarOf(MEMBERS))],
    ["days.tar.xz", xzOf(tarOf(MEMBERS))],
    ["days.txz", xzOf(tarOf(MEMBERS))],
    ["days.zip", zipOf(MEMBERS)],
  ];
  for (const [name, content] of packed) {
    test(`is read with all its members, in whatever order they are stored: ${name}`, async () => {
      const { stars, refused, report } = await starsIn({ [name]: content });
      assert.deepEqual([stars, refused], [[1, 2, 3], []]);
      assert.deepEqual([report.files, report.rows], [3, 3]);
    });
  }

  test("gets the times of its members from a manifest by their names without folders", async () => {
    const manifest = readManifest(
      "file,source_commit_time\nranking-2026-04-01.csv,2026-04-01T04:07:00Z\n",
      NOW,
    );
    const world = new ImportWorld();
    const { repositories, refused } = await world.import(
      { "days.tar": tarOf(MEMBERS.slice(0, 2)) },
      { manifest },
    );
    assert.deepEqual(refused, [
      "days.tar: daily/ranking-2026-04-02.csv: the manifest does not list this file".replace(
        "days.tar: daily/",
        "",
      ),
    ]);
    assert.equal(repositories.get("o/r")?.snapshots[0]?.capturedAt, Date.UTC(2026, 3, 1, 4, 7));
  });

  test("has directories and links ignored, other files skipped, and compressed files refused with the reason", async () => {
    const more: TestMember[] = [
      { name: "daily/", type: "5" },
      { name: "daily/link-2026-04-09.csv", type: "2" },
      { name: "README.md", content: "# Data" },
      { name: "daily/._ranking-2026-04-01.csv", content: "\0\x05" },
      { name: "more/days.tar.gz", content: gzipSync(tarOf(MEMBERS)) },
      day("2026-04-04", 4),
    ];
    const { stars, refused, skipped } = await starsIn({ "all.tar": tarOf([...more, ...MEMBERS]) });
    assert.deepEqual(stars, [1, 2, 3, 4]);
    assert.deepEqual(refused, [
      "days.tar.gz: a compressed file in a tar or zip file is not read; unpack it first",
    ]);
    assert.equal(skipped.length, 2);
    const zip = await starsIn({ "all.zip": zipOf(more.filter(({ type }) => type !== "2")) });
    assert.deepEqual([zip.stars, zip.refused.length, zip.skipped.length], [[4], 1, 2]);
  });

  test("may name its members like paths that lead elsewhere: they are only text", async () => {
    const hostile = [
      "../../etc/x-2026-04-01.csv",
      "/etc/x-2026-04-02.csv",
      "C:\\x-2026-04-03.csv",
      "a\u001b[2J-2026-04-04.csv",
    ];
    const members = hostile.map((name, i) => ({ name, content: rankingFile({ stars: String(i + 1) }) }));
    for (const [name, content] of [
      ["hostile.tar", tarOf(members)],
      ["hostile.zip", zipOf(members)],
    ] as const)
      assert.deepEqual((await starsIn({ [name]: content })).stars, [1, 2, 3, 4], name);
  });

  test("that is damaged says so, and everything before the damage is recorded", async () => {
    const tar = tarOf(MEMBERS);
    const lastMember = tar.length - 1_024 - 700;
    const many = tarOf([
      ...MEMBERS,
      {
        name: "ranking-2026-04-05.csv",
        content: rankingFile(
          ...Array.from({ length: 30_000 }, (_, i) => ({ repo_url: `https://github.com/o/r${i * 7_919}` })),
        ),
      },
    ]);
    const cut = "the tar file is cut off or damaged; everything before the damage was read";
    const gz = gzipSync(many);
    for (const [name, content, reason, stars] of [
      ["cut.tar", tar.subarray(0, lastMember), cut, [1, 2]],
      ["endless.tar", tar.subarray(0, tar.length - 1_024), cut, [1, 2, 3]],
      [
        "cut.tar.gz",
        gz.subarray(0, gz.length - 40_000),
        "the compressed data is damaged; everything before the damage was read",
        [1, 2, 3],
      ],
      [
        "cut.tar.xz",
        xzOf(many).subarray(0, 1_000_000),
        "the compressed data is damaged; everything before the damage was read",
        [1, 2, 3],
      ],
      ["none.tar", Buffer.alloc(2_000, 1), cut, []],
      ["none.zip", Buffer.alloc(2_000, 1), "not a zip file, or its directory at the end is damaged", []],
      [
        "cut.zip",
        zipOf(MEMBERS).subarray(0, 600),
        "not a zip file, or its directory at the end is damaged",
        [],
      ],
      ["hidden.tar", gzipSync(tar), "a compressed file in a tar file is not read; decompress it first", []],
    ] as const) {
      const read = await starsIn({ [name]: content });
      assert.deepEqual(read.stars, stars, name);
      assert.equal(read.refused.length, 1, `${name}: ${read.refused}`);
      assert.ok(read.refused[0]?.endsWith(`: ${reason}`), `${name}: ${read.refused}`);
    }
  });

  test("with one damaged member has the others read", async () => {
    const zip = zipOf(MEMBERS);
    const at = zip.indexOf("ranking-2026-04-02.csv") + "ranking-2026-04-02.csv".length + 20;
    zip[at] = (zip[at] ?? 0) ^ 0xff;
    const { stars, refused } = await starsIn({ "one.zip": zip });
    assert.deepEqual([stars.includes(1), stars.includes(3), refused.length], [true, true, 1]);
    const encrypted = await starsIn({ "secret.zip": zipOf(MEMBERS, 1) });
    assert.deepEqual(
      encrypted.refused,
      MEMBERS.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(
        ({ name }) => `${name.replace("daily/", "")}: is encrypted`,
      ),
    );
  });

  test("that would unpack to far more than its size is given up", async () => {
    const bomb = {
      name: "more/bomb-2026-04-05.csv",
      content: `${RANKING_HEADER}${"\n".repeat(100 * 1024 * 1024)}`,
    };
    for (const [name, content] of [
      ["bomb.zip", zipOf([day("2026-04-01", 1), bomb])],
      ["bomb.tar.gz", gzipSync(tarOf([day("2026-04-01", 1), bomb]))],
    ] as const) {
      const { stars, refused } = await starsIn({ [name]: content });
      assert.deepEqual(stars, [1]);
      assert.match(refused.join("\n"), /decompresses to more than 200 times its size/, name);
    }
  });

  test("of more than 10,000 members has those after them left out", async () => {
    const members = Array.from({ length: 10_001 }, (_, i) => ({
      name: `d${String(i).padStart(5, "0")}/`,
      type: "5",
    }));
    for (const [name, content] of [
      ["many.tar", tarOf([day("2026-04-01", 1), ...members])],
      ["many.zip", zipOf([{ ...day("2026-04-01", 1), name: "a-2026-04-01.csv" }, ...members])],
    ] as const) {
      const { stars, refused } = await starsIn({ [name]: content });
      assert.deepEqual(
        [stars, refused],
        [[1], [`${name}: has more than 10000 members; those after them were not read`]],
      );
    }
  });
});

describe("An .xz file", () => {
  test("is decompressed, also after another one, and in several parts; a damaged one is refused", async () => {
    const one = xzOf(rankingFile({ stars: "1" }));
    const flipped = Buffer.from(one);
    flipped[100] = (flipped[100] ?? 0) ^ 0xff;
    const { stars, refused, report } = await starsIn({
      "a-2026-04-01.csv.xz": one,
      "b-2026-04-02.csv.xz": xzOf(rankingFile({ stars: "2" })),
      "plain-2026-04-03.csv.xz": rankingFile({}),
      "flipped-2026-04-04.csv.xz": flipped,
      "cut-2026-04-05.csv.xz": one.subarray(0, 40),
      "parts-2026-04-06.csv.xz": Buffer.concat([
        one,
        Buffer.alloc(4),
        xzOf(rankingRow({ stars: "6", repo_url: "https://github.com/o/s" })),
      ]),
      "c-2026-04-07.csv.xz": xzOf(rankingFile({ stars: "7" })),
    });
    assert.ok(
      [1, 2, 7].every((count) => stars.includes(count)),
      String(stars),
    );
    assert.equal(report.rows, 5);
    assert.equal(refused.length, 3, refused.join("\n"));
    assert.match(refused.join("\n"), /plain-2026-04-03.csv.xz: not compressed as its name says/);
  });
});
