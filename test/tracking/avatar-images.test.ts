import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Resvg } from "@resvg/resvg-js";
import type { Database } from "../../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { Avatars, type DueAvatar, MAX_OWNERS, readAvatarStatus, shrink } from "../../src/tracking/avatars.js";
import { onSqliteAndLong } from "../support/engines.js";
import { colouredPng } from "../support/forge/avatars.js";
import { temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";

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
    for (const [format, bytes] of Object.entries({ jpeg: JPEG, gif: GIF })) {
      const png = await shrunk(bytes);
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [80, 80]);
      for (const [i, value] of pixelOf(png, 40, 40).slice(0, 3).entries())
        assert.ok(Math.abs(value - (COLOUR[i] ?? 0)) < 3, `${format}: ${value}`);
      const chunks = [
        ...png.toString("latin1").matchAll(/IHDR|PLTE|IDAT|IEND|iCCP|eXIf|[itz]{1,2}TXt/g),
      ].flat();
      assert.deepEqual(chunks, ["IHDR", "IDAT", "IEND"], "it has what the file said about itself");
    }
    for (const side of [8, 2_048]) {
      const [colour] = [pixelOf(await shrunk(colouredPng("a colour", side)), 79, 79)];
      assert.deepEqual(colour, pixelOf(await shrunk(colouredPng("a colour")), 0, 0));
    }
  });

  test("has white for transparent parts, and the first picture of a moving one", async () => {
    const half = await shrunk(HALF_PNG);
    assert.deepEqual(pixelOf(half, 10, 40), [255, 255, 255, 255]);
    assert.deepEqual(pixelOf(half, 70, 40), [...COLOUR, 255]);
    assert.deepEqual(pixelOf(await shrunk(MOVING_GIF), 40, 40), [0, 0, 0, 255]);
  });

  test("is refused if it is something else, whatever it is called", async () => {
    for (const [what, text] of Object.entries({
      nothing: "",
      "a page": "<!doctype html><title>Sign in</title>",
      SVG: `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
      BMP: "BM\x8a\0\0\0",
      "the beginning of a PNG": "\x89PNG\r\n\x1a\n",
      "the beginning of a JPEG": "\xff\xd8\xff\xe0",
      "the beginning of a GIF": "GIF89a\x08\0\x08\0\0\0\0!",
      "a text between the segments of a JPEG": "\xff\xd8 \xff\xc0",
    }))
      await isRefused(what, Buffer.from(text, "latin1"));
    await isRefused("WebP", WEBP);
    await isRefused("an image in which nothing is seen", CLEAR_PNG);
  });

  test("is refused if it has too many pixels or is damaged", async () => {
    await isRefused("a PNG of 65,000 × 65,000 pixels", pngOf(65_000, 65_000));
    await isRefused("a PNG of 0 pixels", pngOf(0, 8));
    await isRefused("a PNG of 2,049 × 2,049 pixels", colouredPng("large", 2_049));
    await isRefused("a PNG that is smaller than it says", pngOf(800, 800));
    await isRefused("half a JPEG", JPEG.subarray(0, JPEG.length / 2));
    const jpeg = Buffer.from(JPEG);
    jpeg.writeUInt16BE(65_500, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
    await isRefused("a JPEG of 65,500 pixels", jpeg);
    // Its screen is small, but not the picture on it.
    const gif = Buffer.from(MOVING_GIF);
    gif.writeUInt16LE(65_500, gif.indexOf(",\0\0\0\0\x08", 0, "latin1") + 5);
    await isRefused("a GIF of 65,500 pixels", gif);
  });

  test("costs only itself if it crashes the decoder, keeps it busy or makes it write without end", async () => {
    const folder = temporaryFolder();
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

const decoded = (base64: string): Buffer => Buffer.from(base64, "base64");

/** The colour of the images of one colour. */
const COLOUR = [0xc0, 0x20, 0x40] as const;

/** 30 × 20 pixels of one colour. */
const JPEG = decoded(
  "/9j/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAAUAB4DASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAQH/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AgwETWAAAAAAH/9k=",
);

/** 20 × 30 pixels of one colour. */
const GIF = decoded(
  "R0lGODlhFAAeAIAAAExpccAgQCH5BAUAAAAALAAAAAAUAB4AAAIXjI+py+0Po5y02ouz3rz7D4biSJZmUgAAOw==",
);

/** Three pictures, the first of them black, after an extension that says to repeat them. */
const MOVING_GIF = decoded(
  "R0lGODlhCAAIAIAAAExpcQAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAACAAIAAACB4yPqcvtXQAAIfkEBQAAAAAsAAAAAAgACACATGlxZGRkAgeMj6nL7V0AACH5BAUAAAAALAAAAAAIAAgAgExpccjIyAIHjI+py+1dAAA7",
);

/** 8 × 8 pixels: the left half transparent, the right half of the colour. */
const HALF_PNG = decoded(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAFklEQVQYlWNgQAMHFBz+I2N0+WGqAADVmEPhMYZbhgAAAABJRU5ErkJggg==",
);

/** 8 × 8 pixels, all transparent. */
const CLEAR_PNG = decoded(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAMAAADz0U65AAAAA1BMVEVMaXFNx9g6AAAAAXRSTlMAQObYZgAAAAlwSFlzAAAD6AAAA+gBtXtSawAAAAxJREFUCJljYKAOAAAASAABe6URyAAAAABJRU5ErkJggg==",
);

const WEBP = decoded(
  "UklGRjgAAABXRUJQVlA4ICwAAABwAQCdASoIAAgAAUAmJaACdAFAAAD+8PorXFzZEUf/c4H/+wcf/3Bx/EgAAA==",
);

/** The red, green, blue and opacity of a pixel of a PNG of 80 × 80 pixels. */
function pixelOf(png: Buffer, x: number, y: number): number[] {
  const size = `width="80" height="80"`;
  const image = `<image ${size} href="data:image/png;base64,${png.toString("base64")}"/>`;
  const { pixels } = new Resvg(`<svg xmlns="http://www.w3.org/2000/svg" ${size}>${image}</svg>`).render();
  return [...pixels.subarray((y * 80 + x) * 4).subarray(0, 4)];
}
