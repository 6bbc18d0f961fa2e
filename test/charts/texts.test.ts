import assert from "node:assert/strict";
import { test } from "node:test";
import { drawBadge, drawFactBadge } from "../../src/charts/badge.js";
import { pageCard, repositoryCard } from "../../src/charts/card.js";
import { drawChart } from "../../src/charts/chart.js";
import { Fonts } from "../../src/charts/fonts.js";
import { snippetsOf } from "../../src/charts/markup.js";
import { drawNotice } from "../../src/charts/picture-young.js";
import type { ChartInput } from "../../src/charts/series.js";
import { chartPage, queryOf, repositoryKey } from "../../src/lib/page-addresses.js";
import { hostileText } from "../support/hostile-texts.js";
import { examples, fc } from "../support/properties.js";
import { checkTexts, type Picture, readPicture } from "../support/svg.js";

const END = Date.UTC(2026, 3, 30, 12);
const points = [0, 1, 2].map((i) => ({ at: END + i * 86_400_000, value: i, source: "OBSERVED" as const }));
const fonts = new Fonts([]);
const badge = (label: string, message: string) =>
  drawBadge({ label, message, tone: "plain", title: "a", theme: "auto" });

/** Fails unless a picture has a title for those who do not see it and no text that leaves it. */
function check(svg: string): Picture {
  const picture = readPicture(svg);
  assert.ok((picture.title ?? "") !== "");
  checkTexts(picture);
  return picture;
}

const chart = (names: readonly string[], more: Partial<ChartInput> = {}) =>
  drawChart({
    ...{ metric: "stars", scale: "linear", align: "date", theme: "auto", asOf: END, width: 600, height: 380 },
    series: names.map((name) => ({ name, points, gaps: [], note: name })),
    ...more,
  }).svg;

/** Checks four names at a time. */
function withNames(checkAll: (a: string, b: string, c: string, d: string) => void): void {
  const name = hostileText();
  fc.assert(fc.property(name, name, name, name, checkAll), { numRuns: examples(2_500) });
}

test("hostile names: charts are well-formed and hold text only", () => {
  withNames((a, b, c, d) => {
    for (const width of [320, 600, 1_200]) {
      const { elements } = check(chart([a, b, c, d], { width }));
      assert.equal(elements.filter(({ name }) => name === "desc").length, 1);
      check(chart([a], { width, title: b, theme: "light" }));
    }
  });
});

test("hostile names: badges, notices and cards are well-formed and hold text only", () => {
  withNames((a, b, c, d) => {
    const subject = { fullName: a, asOf: END, ageDays: 3, theme: "auto", label: b, note: d } as const;
    const rank = { language: c, window: "7d" } as const;
    check(drawFactBadge(subject, { kind: "rank", ranking: "new-hot", depth: 1_000, ...rank, rank: null }));
    check(drawFactBadge(subject, { kind: "trending", ...rank, rank: 1_000 }));
    check(drawFactBadge(subject, { kind: "gain", gained: -5, counted: d, window: "7d" }));
    check(drawFactBadge({ ...subject, asOf: null }, { kind: "stars", stars: 1 }));
    check(badge(a, d));
    check(drawNotice(`x${c}`, d, { theme: "auto", width: 480, height: 96 }));
    const gained = [{ window: "24h", stars: Number.MAX_SAFE_INTEGER } as const];
    const facts = { provider: "GITHUB", fullName: a, description: b, language: c, stars: 5 };
    const frame = { site: a, asOf: END, notes: [d] };
    const card = { ...frame, headline: undefined, gained, rank: d, life: { points, gaps: [] } };
    readPicture(repositoryCard(facts, card));
    const rows = [{ name: a, detail: b, description: d, value: c, unit: d }];
    readPicture(pageCard({ ...frame, title: a, lead: b, rows }));
  });
});

test("hostile names: what is pasted into a page holds addresses of ours and escaped text only", () => {
  const site = "https://sidereal.example";
  const address = "https://sidereal\\.example/[\\w\\-.~:/?=&;%]*";
  // Every character that means something to Markdown stands behind a backslash.
  const plain = "[^\\\\\\[\\]`*_<>(){}#+!|~&\\n\\r]";
  withNames((fullName, other) => {
    const [named, second] = [fullName, other].map((one) => ({ provider: "GITHUB", fullName: one })) as [
      { provider: string; fullName: string },
      { provider: string; fullName: string },
    ];
    const image = `${site}/api/embed/chart.svg?${queryOf([["repo", repositoryKey(named)]])}`;
    for (const page of [[named], [named, second]].map((some) => site + chartPage(some))) {
      const { html, markdown } = snippetsOf({ image, page, alt: fullName, width: 600, height: 380 });
      const picture = `<img src="${address}" alt="[^<>"]*" width="600" height="380">`;
      assert.match(html, new RegExp(`^<a href="${address}">${picture}</a>$`));
      const alt = `(?:\\\\[!-/:-@[-\`{-~]|${plain})*`;
      assert.match(markdown, new RegExp(`^\\[!\\[${alt}\\]\\(${address}\\)\\]\\(${address}\\)$`));
      assert.ok(URL.canParse(page) && URL.canParse(image));
      assert.ok(markdown.isWellFormed() && html.isWellFormed());
    }
    const query = new URL(image).searchParams.get("repo");
    assert.equal(query, `github:${fullName.toWellFormed()}`, "the address names the same repository");
  });
  const page = `${site}/compare?${"repo=github:long/name&".repeat(200)}`;
  const { html } = snippetsOf({ image: page, page, alt: "a", height: 1 });
  assert.equal(html.replaceAll("&amp;", "&").split(page).length, 3, "an address is whole, however long");
});

test("an address in Markdown is encoded once, and nothing in it ends the link", () => {
  const shown = { image: "charts/a%20b(1).svg", alt: "a", height: 1 };
  for (const [page, link] of [
    ["https://forge.example/x)%20y (z)", "https://forge.example/x%29%20y%20%28z%29"],
    ["http://[::1]:3000/日本?a=%E6&b=<c>", "http://[::1]:3000/%E6%97%A5%E6%9C%AC?a=%E6&b=%3Cc%3E"],
  ] as const)
    assert.equal(snippetsOf({ ...shown, page }).markdown, `[![a](charts/a%20b%281%29.svg)](${link})`);
});

test("text cannot turn the direction of what follows it, nor is a name lost that is only of another script", () => {
  const { texts } = check(chart(["\u202Eowner/evil\u2066", "مرحبا/שלום", "日本/名前", "a/😀"]));
  const all = texts.map(({ text: one }) => one).join(" ");
  assert.doesNotMatch(all, /[\u202A-\u202E\u2066-\u2069]/);
  for (const name of ["evil", "שלום", "名前", "😀"]) assert.ok(all.includes(name), name);
});

test("texts of badges have the length that they have in DejaVu Sans if they are ASCII, else the room that they may need", () => {
  const ascii = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
  for (const text of [...ascii, "trending #12"]) {
    const shown = check(badge(`x${text}x`, "y")).elements.find((one) => one.text === `x${text}x`);
    const width = fonts.measure(`x${text}x`, 11, "sans");
    assert.ok(Math.abs(Number(shown?.attributes.textLength) - width) < 0.15, `${text}: ${width}`);
  }
  for (const text of ["我们的星", "نجوم المستودع", "सितारे", "ดาว", "⭐️ stars", "별", "trending · 7 days"]) {
    const shown = check(badge(text, "1,234")).elements.find((one) => one.text === text);
    assert.equal(shown?.attributes.textLength, undefined);
    assert.equal(shown?.attributes["text-anchor"], "middle");
  }
  const { width } = check(badge("l".repeat(200), "m".repeat(900)));
  assert.ok(width <= 720, "narrower than a column of a README");
});
