import assert from "node:assert/strict";
import { test } from "node:test";
import { type CardInput, type PageCardInput, pageCard, repositoryCard } from "../../src/charts/card.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { checkTexts, type Picture, pointsOf, readPicture } from "../support/svg.js";

const END = Date.UTC(2026, 3, 30);
const facts = {
  ...{ provider: "GITHUB", fullName: "owner/name", description: "What it is for", language: "Rust" },
  stars: 12_345,
};
const pointsAt = (values: readonly number[]) =>
  values.map((value, i) => ({
    at: END - (values.length - 1 - i) * DAY_MS,
    value,
    source: "OBSERVED" as const,
  }));
const card: CardInput = {
  headline: "+10 stars in 24 hours, its best day on record.",
  gained: [
    { window: "24h", stars: 10 },
    { window: "7d", stars: -5, counted: "none counted" },
    { window: "30d", stars: null },
  ],
  rank: "#3 trending in Rust · 7 days",
  life: { points: pointsAt(Array.from({ length: 365 }, (_, i) => i * i)), gaps: [] },
  ...{ site: "stars.example", asOf: END },
};
const page: PageCardInput = {
  title: "Rust",
  lead: "+32,339 stars in 7 days across 205 repositories.",
  rows: [1, 2, 3, 4].map((i) => ({
    ...{ name: `owner/name-${i}`, detail: "GitHub · Rust", description: "A kite" },
    ...{ value: `+${i}`, unit: "stars in 7 days" },
  })),
  ...{ site: "stars.example", asOf: END },
};

/** A card of 1200 × 630 with a title, of which no text lies over another one. */
function check(svg: string): Picture {
  const picture = readPicture(svg);
  assert.deepEqual([picture.width, picture.height], [1_200, 630]);
  assert.ok(picture.title);
  checkTexts(picture);
  return picture;
}
const wordsOf = (svg: string) => check(svg).texts.map(({ text }) => text);
const cardOf = (more: Partial<typeof facts & CardInput> = {}) =>
  repositoryCard({ ...facts, ...more }, { ...card, ...more });

test("a card says owner, kind, name, count, what happened, rank, gains, host and date", () => {
  assert.deepEqual(
    wordsOf(cardOf()).sort(),
    [
      ...["owner · Rust on GitHub", "name", "12,345", "stars", card.headline, "#3 trending in Rust · 7 days"],
      ...["+10", "today", "−5", "in 7 days", "none counted", "–", "in 30 days"],
      ...["Sidereal", "stars.example", "30 Apr 2026"],
    ].sort(),
  );
  const old = wordsOf(cardOf({ ageDays: 91, notes: ["gone"], theme: "dark" }));
  assert.ok(old.includes("in 24 hours") && old.includes("gone · 30 Apr 2026, 91 days ago"), String(old));
});

test("a card in which nothing happened has the description, and a name and a rank as long as they fit", () => {
  const quiet = check(cardOf({ headline: undefined }));
  const prose = quiet.elements.find(({ text }) => text === facts.description);
  assert.match(prose?.attributes.class ?? "", /\bprose\b/);
  const [fullName, description] = [`${"o".repeat(300)}/${"n".repeat(300)}`, "word ".repeat(400)];
  for (const headline of [undefined, "word ".repeat(99)])
    check(cardOf({ fullName, description, headline, rank: "#1 ".repeat(99), stars: 123_456_789 }));
});

test("the line of a life leaves the texts free, whatever its shape", () => {
  const steep = [0, ...Array.from({ length: 99 }, () => 90_000)];
  for (const values of [steep, [1, 100_000], [5], [], [0, 0], [100, 1, 100], steep.toReversed()]) {
    const { elements, texts } = check(cardOf({ life: { points: pointsAt(values), gaps: [] } }));
    const [line] = elements.filter(({ attributes }) => /chart-line-1$/.test(attributes.class ?? ""));
    assert.equal(line === undefined, values.length === 0);
    const above = texts.filter(({ box }) => box.bottom < 450);
    const corners = pointsOf(line?.attributes.d ?? "");
    for (const [i, [x1, y1]] of corners.entries())
      for (let part = 0; part <= 1; part += 0.01) {
        const [x0, y0] = corners[i - 1] ?? [x1, y1];
        const [x, y] = [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
        for (const { box, text } of above)
          assert.ok(x > box.right || x < box.left || y > box.bottom, `${text} of ${values.slice(0, 3)}`);
      }
  }
});

test("the card of a page says its title, its sentence, the first three of its list, host and date", () => {
  const words = wordsOf(pageCard(page));
  const expected = [
    "Rust",
    page.lead,
    "1",
    "owner/name-3",
    "GitHub · Rust",
    "· A kite",
    "+2",
    "stars in 7 days",
  ];
  for (const text of [...expected, "stars.example", "30 Apr 2026"])
    assert.ok(words.includes(text), `${text} of ${words}`);
  assert.ok(!words.includes("owner/name-4"));
  const [name, detail] = ["n".repeat(300), "d ".repeat(200)];
  const row = { name, detail, description: detail, value: "9".repeat(99), unit: "u".repeat(99) };
  const long = { ...page, title: "t".repeat(400), lead: "word ".repeat(99) };
  for (const rows of [[row], []]) check(pageCard({ ...long, rows }));
});
