import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import sharp from "sharp";
import type { Database } from "../../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { Avatars, type DueAvatar, MAX_OWNERS, readAvatarStatus, shrink } from "../../src/tracking/avatars.js";
import { onSqliteAndLong } from "../support/engines.js";
import { colouredPng } from "../support/forge/avatars.js";
import { ManualClock } from "../support/manual-clock.js";

const COLOUR = { r: 0xc0, g: 0x20, b: 0x40 };
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: COLOUR } });

/** A PNG whose header names another size than it has. */
function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(colouredPng("header", 8));
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

describe("An image from a forge", () => {
  const shrunk = async (bytes: Uint8Array) => (await shrink(bytes)) ?? assert.fail("it was refused");
  const isRefused = async (what: string, bytes: Uint8Array) =>
    assert.equal(await shrink(bytes), null, `${what} was not refused`);

  test("becomes a small PNG of the same picture, whatever its format and shape", async () => {
    for (const [format, bytes] of Object.entries({
      jpeg: await picture(300, 200).jpeg().toBuffer(),
      png: await picture(20, 30).png().toBuffer(),
      gif: await picture(64, 64).gif().toBuffer(),
      large: await picture(2_048, 2_048).png().toBuffer(),
    })) {
      const png = await shrunk(bytes);
      assert.ok(png.length < 6 * 1024, `${format}: ${png.length} bytes`);
      const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
      assert.deepEqual([info.width, info.height, (await sharp(png).metadata()).format], [80, 80, "png"]);
      for (const [i, value] of Object.values(COLOUR).entries())
        assert.ok(Math.abs((data[i] ?? 0) - value) < 8, `${format}: ${data.subarray(0, 3)}`);
      const chunks = [
        ...png.toString("latin1").matchAll(/IHDR|PLTE|IDAT|IEND|iCCP|eXIf|[itz]{1,2}TXt/g),
      ].flat();
      assert.deepEqual(chunks, ["IHDR", "PLTE", "IDAT", "IEND"], "it has what the file said about itself");
    }
  });

  test("is white where it was transparent, and the first picture where it moves", async () => {
    const transparent = await sharp({ create: { width: 50, height: 50, channels: 4, background: "#0000" } })
      .png()
      .toBuffer();
    const frames = Buffer.concat([0, 1, 2].map((n) => Buffer.alloc(64 * 64 * 3, n * 100)));
    const moving = await sharp(frames, { raw: { width: 64, height: 192, channels: 3, pageHeight: 64 } })
      .gif({ loop: 0 })
      .toBuffer();
    for (const [bytes, value] of [
      [transparent, 255],
      [moving, 0],
    ] as const)
      assert.equal(
        (
          await sharp(await shrunk(bytes))
            .raw()
            .toBuffer()
        )[0],
        value,
      );
  });

  test("is refused if it is something else, whatever it is called", async () => {
    for (const [what, text] of Object.entries({
      nothing: "",
      "a page": "<!doctype html><title>Sign in</title>",
      SVG: `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
      BMP: "BM\x8a\0\0\0",
      "the beginning of a PNG": "\x89PNG\r\n\x1a\n",
      "the beginning of a JPEG": "\xff\xd8\xff\xe0",
    }))
      await isRefused(what, Buffer.from(text, "latin1"));
    await isRefused("WebP", await picture(8, 8).webp().toBuffer());
    await isRefused("TIFF", await picture(8, 8).tiff().toBuffer());
  });

  test("is refused if it has too many pixels or is damaged", async () => {
    await isRefused("a PNG of 65,000 × 65,000 pixels", pngOf(65_000, 65_000));
    await isRefused("a PNG of 0 pixels", pngOf(0, 8));
    await isRefused("a PNG of 2,049 × 2,048 pixels", await picture(2_049, 2_048).png().toBuffer());
    await isRefused("a PNG that is smaller than it says", pngOf(800, 800));
    const jpeg = await picture(300, 200).jpeg().toBuffer();
    await isRefused("half a JPEG", jpeg.subarray(0, jpeg.length / 2));
    jpeg.writeUInt16BE(65_500, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
    await isRefused("a JPEG of 65,500 pixels", jpeg);
  });

  test("costs only itself if it crashes the decoder, keeps it busy or makes it write without end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-decoder-"));
    after(() => rmSync(folder, { recursive: true }));
    const run = (name: string, text: string, deadlineMs = 5_000) => {
      writeFileSync(join(folder, `${name}.mjs`), text);
      return shrink(colouredPng(name), { script: pathToFileURL(join(folder, `${name}.mjs`)), deadlineMs });
    };
    assert.equal(await run("crash", "process.abort()"), null);
    assert.equal(await run("throw", "throw new Error('damaged')"), null);
    assert.equal(await run("silent", ""), null);
    assert.equal(await run("busy", "for (;;);", 1_000), null);
    const endless = `for (;;) if (!process.stdout.write("x".repeat(1e5)))
      await new Promise((resolve) => process.stdout.once("drain", resolve));`;
    assert.equal(await run("endless", endless), null);
    assert.equal(await run("memory", "const all = []; for (;;) all.push(new Array(1e6).fill({}));"), null);
    const seen = await run("secrets", "process.stdout.write(JSON.stringify(process.env))");
    assert.equal(seen?.toString(), "{}", "the decoder sees the environment");
  });
});

const NOW = Date.UTC(2026, 4, 1);
const owner = (name: string, provider = "GITHUB") => ({ provider, owner: name });

onSqliteAndLong("The stored avatars", (engine) => {
  let database: Database;
  let clock: ManualClock;
  let avatars: Avatars;
  beforeEach(async () => {
    database = await engine.open();
    clock = new ManualClock(NOW);
    avatars = new Avatars(database, clock);
  });
  const due = async (provider = "GITHUB"): Promise<DueAvatar> => {
    const next = await avatars.next(provider);
    return typeof next === "number" ? assert.fail("nothing is due") : next;
  };
  /** The versions that a page shows half a minute later. */
  const shown = async (...names: string[]) => {
    clock.advance(30_000);
    const find = await new Avatars(database, clock).finder();
    return names.map((name) => find("GITHUB", name));
  };

  test("are fetched in the order of the lists", async () => {
    await avatars.want([owner("second"), owner("First"), owner("else", "GITLAB"), owner("SECOND")]);
    clock.advance(1_000);
    assert.deepEqual(await due(), { provider: "GITHUB", owner: "SECOND", address: null });
    await avatars.keep(owner("SECOND"), colouredPng("second"));
    assert.equal((await due()).owner, "First");
    await avatars.retryLater(owner("First"));
    assert.equal(await avatars.next("GITHUB"), DAY_MS);
    assert.equal(await avatars.next("CODEBERG"), Number.POSITIVE_INFINITY);
  });

  test("are shown with a version that changes with the image, whatever the capitals of the owner", async () => {
    await avatars.want([owner("Octo"), owner("twin")]);
    assert.deepEqual(await shown("octo"), [undefined]);
    const [one, other] = [colouredPng("one"), colouredPng("other")];
    await avatars.keep(owner("octo"), one);
    await avatars.keep(owner("twin"), one);
    const [version = "", twin] = await shown("OCTO", "twin");
    assert.match(version, /^[0-9a-f]{32}$/);
    assert.equal(twin, version);
    assert.deepEqual(Buffer.from((await avatars.image(version)) ?? []), one);
    await avatars.keep(owner("octo"), other);
    const [next, still] = await shown("octo", "twin");
    assert.ok(next !== version && still === version);
    assert.equal(await avatars.image("0".repeat(32)), undefined);
    await avatars.keep(owner("octo"), null);
    assert.deepEqual(await shown("octo"), [undefined]);
    assert.deepEqual(await readAvatarStatus(database.read, "GITHUB"), { wanted: 2, images: 1 });
  });

  test("are read every half minute, and the known ones are used while the database does not respond", async () => {
    await avatars.want([owner("octo")]);
    await avatars.keep(owner("octo"), colouredPng("one"));
    const find = await avatars.finder();
    const version = find("GITHUB", "octo");
    await avatars.keep(owner("octo"), null);
    await avatars.finder();
    assert.equal(find("GITHUB", "octo"), version);
    await database.close();
    clock.advance(30_000);
    assert.equal((await avatars.finder())("GITHUB", "octo"), version);
    assert.equal((await new Avatars(database, clock).finder())("GITHUB", "octo"), undefined);
  });

  test("are removed a week after their owner was last on a list, or when there are too many", async () => {
    await avatars.want([owner("left"), owner("stays")]);
    clock.advance(6 * DAY_MS);
    await avatars.want([owner("stays")]);
    assert.equal(await avatars.evict(clock.now()), 0);
    clock.advance(DAY_MS + HOUR_MS);
    assert.equal(await avatars.evict(clock.now()), 1);
    assert.equal((await due()).owner, "stays");
    await avatars.want(Array.from({ length: MAX_OWNERS + 5 }, (_, i) => owner(`new${i}`)));
    assert.equal(await avatars.evict(clock.now()), 1, "the one that was on a list before all others");
    assert.equal((await readAvatarStatus(database.read, "GITHUB")).wanted, MAX_OWNERS);
  });

  test("are requested again when the forge reports another address", async () => {
    const note = (avatarUrl: string | null) =>
      avatars.noteAddresses(database.write, "GITLAB", [
        { owner: "Group/Sub", avatarUrl },
        { owner: "unwanted", avatarUrl: "https://gitlab.com/2.png" },
      ]);
    await avatars.want([owner("group/sub", "GITLAB")]);
    await avatars.retryLater(owner("group/sub", "GITLAB"));
    await note(null);
    assert.equal(await avatars.next("GITLAB"), DAY_MS);
    await note("https://gitlab.com/1.png");
    assert.equal((await due("GITLAB")).address, "https://gitlab.com/1.png");
    await avatars.keep(owner("group/sub", "GITLAB"), colouredPng("one"));
    await note("https://gitlab.com/1.png");
    assert.equal(await avatars.next("GITLAB"), 30 * DAY_MS);
    await note("https://gitlab.com/3.png");
    assert.equal((await due("GITLAB")).address, "https://gitlab.com/3.png");
    assert.equal((await readAvatarStatus(database.read, "GITLAB")).wanted, 1);
  });
});
