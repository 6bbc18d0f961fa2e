import assert from "node:assert/strict";
import { test } from "node:test";
import { drawBadge, drawFactBadge } from "../../src/charts/badge.js";
import { repositoryCard } from "../../src/charts/card.js";
import { drawPageCard, drawRepositoryCard } from "../../src/charts/card-drawing.js";
import { drawChart, drawNotice } from "../../src/charts/chart.js";
import { Fonts } from "../../src/charts/fonts.js";
import { snippetsOf } from "../../src/charts/markup.js";
import type { ChartInput } from "../../src/charts/series.js";
import { chartPage, queryOf, repositoryKey } from "../../src/lib/page-addresses.js";
import { hostileText } from "../support/hostile-texts.js";
import { examples, fc } from "../support/properties.js";
import { checkTexts, type Picture, readPicture } from "../support/svg.js";

const END = Date.UTC(2026, 3, 30, 12);

const fonts = new Fonts([]);
const names = fc.array(hostileText(), { minLength: 4, maxLength: 4 });

/** Fails unless a picture has a title for those who do not see it and no text that leaves it. */
function check(svg: string): Picture {
  const picture = readPicture(svg);
  assert.ok((picture.title ?? "") !== "");
  checkTexts(picture);
  return picture;
}

function chartOf(all: readonly string[], more: Partial<ChartInput>): string {
  const points = [0, 1, 2].map((i) => ({
    at: END - i * 86_400_000,
    value: 100 - i,
    source: "OBSERVED" as const,
  }));
  const series = all.map((name) => ({ name, points: points.toReversed(), gaps: [], note: name }));
  const size = { width: 600, height: 380 };
  return drawChart({
    metric: "stars",
    series,
    scale: "linear",
    align: "date",
    asOf: END,
    theme: "auto",
    ...size,
    ...more,
  });
}

test("an address in a snippet is whole, however long", () => {
  const page = `https://sidereal.example/compare?${Array.from({ length: 200 }, (_, i) => `repo=github:long/name-${i}`).join("&")}`;
  const { html } = snippetsOf({ image: page, page, alt: "a", width: 1, height: 1 });
  const [, href, src] = /^<a href="([^"]*)"><img src="([^"]*)"/.exec(html) ?? [];
  for (const address of [href, src]) assert.equal(address?.replaceAll("&amp;", "&"), page);
});

test("hostile names: charts are well-formed and hold text only", () => {
  fc.assert(
    fc.property(names, fc.constantFrom(320, 600, 1_200), (all, width) => {
      const picture = check(chartOf(all, { width }));
      assert.equal(picture.elements.filter(({ name }) => name === "desc").length, 1);
      check(chartOf(all.slice(0, 1), { width, title: all[1] ?? "", theme: "light" }));
    }),
    { numRuns: examples(2_500) },
  );
});

test("hostile names: badges and notices are well-formed and hold text only", () => {
  fc.assert(
    fc.property(names, ([a = "", b = "", c = "", d = ""]) => {
      const of = { fullName: a, asOf: END, ageDays: 3 };
      const rank = { language: c, window: "7d" } as const;
      const noted = { ...of, theme: "auto", label: b, note: d } as const;
      check(drawFactBadge(noted, { kind: "rank", ranking: "new-hot", depth: 1_000, ...rank, rank: null }));
      check(drawFactBadge(noted, { kind: "trending", ...rank, rank: 1_000 }));
      check(
        drawFactBadge(
          { ...of, theme: "light", label: c },
          { kind: "gain", gained: -5, counted: d, window: "7d" },
        ),
      );
      check(drawFactBadge({ ...noted, fullName: b, asOf: null }, { kind: "stars", stars: 1 }));
      check(drawBadge({ label: a, message: d, tone: "plain", title: `x${b}`, theme: "light" }));
      check(drawNotice(`x${c}`, d, { theme: "auto", width: 480, height: 96 }));
    }),
    { numRuns: examples(2_500) },
  );
});

test("hostile names: cards are well-formed and hold text only", () => {
  fc.assert(
    fc.property(names, ([a = "", b = "", c = "", d = ""]) => {
      const points = [0, 1, 2].map((i) => ({ at: END + i, value: i, source: "OBSERVED" as const }));
      const gained = [{ window: "24h", stars: Number.MAX_SAFE_INTEGER } as const];
      const facts = { provider: "GITHUB", fullName: a, description: b, language: c, stars: 5 };
      const card = repositoryCard(facts, { gained, rank: d, points, asOf: END });
      readPicture(drawRepositoryCard(card, fonts));
      const rows = [{ name: a, detail: b, value: c, unit: d }];
      readPicture(drawPageCard({ title: a, lead: b, rows, asOf: END }, fonts));
    }),
    { numRuns: examples(2_500) },
  );
});

test("hostile names: what is pasted into a page holds addresses of ours and escaped text only", () => {
  fc.assert(
    fc.property(names, (all) => {
      for (const fullName of all) {
        const named = { provider: "GITHUB", fullName };
        const image = `https://sidereal.example/api/embed/chart.svg?${queryOf([["repo", repositoryKey(named)]])}`;
        for (const page of [[named], [named, named]].map(
          (some) => `https://sidereal.example${chartPage(some)}`,
        )) {
          const { html, markdown } = snippetsOf({ image, page, alt: fullName, width: 600, height: 380 });
          const address = "https://sidereal\\.example/[\\w\\-.~:/?=&;%]*";
          assert.match(
            html,
            new RegExp(
              `^<a href="${address}"><img src="${address}" alt="[^<>"]*" width="600" height="380"></a>$`,
            ),
          );
          // Every character that means something to Markdown stands behind a backslash.
          const plain = "[^\\\\\\[\\]`*_<>(){}#+!|~&\\n\\r]";
          assert.match(
            markdown,
            new RegExp(`^\\[!\\[(?:\\\\[!-/:-@[-\`{-~]|${plain})*\\]\\(${address}\\)\\]\\(${address}\\)$`),
          );
          assert.ok(URL.canParse(page) && URL.canParse(image));
          assert.ok(markdown.isWellFormed() && html.isWellFormed());
        }
        const query = new URL(image).searchParams.get("repo");
        assert.equal(query, `github:${fullName.toWellFormed()}`, "the address names the same repository");
      }
    }),
    { numRuns: examples(2_500) },
  );
});

test("text cannot turn the direction of what follows it, nor is a name lost that is only of another script", () => {
  const { texts } = check(chartOf(["\u202Eowner/evil\u2066", "مرحبا/שלום", "日本/名前", "a/😀"], {}));
  const all = texts.map(({ text: one }) => one).join(" ");
  assert.doesNotMatch(all, /[\u202A-\u202E\u2066-\u2069]/);
  for (const name of ["evil", "שלום", "名前", "😀"]) assert.ok(all.includes(name), name);
});
