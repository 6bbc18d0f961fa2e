import { forgeName } from "../config/config.js";
import { WINDOW_LABELS, type Window } from "../growth/growth.js";
import type { Repository } from "../repositories/repositories.js";
import { type LinePoint, toLine } from "./lines.js";
import { element, estimateWidth, fit, type Markup, plainText, wrap } from "./markup.js";
import { agedDate, exactNumber, shortNumber, signedNumber, signedShort } from "./numbers.js";
import {
  boldWidth,
  drawFoot,
  drawName,
  drawPage,
  drawPlaceStar,
  type Layers,
  sized,
  written,
} from "./picture-parts.js";
import { drawEnds, drawGrowth } from "./picture-plot.js";
import { type ChartSeries, SHAPES } from "./series.js";

/** Cards: pictures of a repository, or of a page with a list, for previews of links. */

const { width: WIDTH, height: HEIGHT } = SHAPES.card;
/** The left and right edges of a card's texts. */
const LEFT = 64;
const RIGHT = WIDTH - LEFT;
const WHOLE = RIGHT - LEFT;

/** What all cards have: colours, the host of the service, and the age of their data, as of when they were drawn. */
interface CardFrame {
  /** Default: light. */
  theme?: "light" | "dark" | undefined;
  site: string | undefined;
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  /** Short notes for readers, before the date. */
  notes?: readonly string[];
}

function drawCard(title: string, frame: CardFrame, parts: readonly Layers[], right = RIGHT): string {
  const { theme, site, asOf, ageDays, notes } = frame;
  const look = { theme: theme ?? "light", shape: "card", style: "plain", isClear: false } as const;
  const foot = [...(notes ?? []), ...(asOf === null ? [] : [agedDate(asOf, ageDays)])].join(" · ");
  return drawPage({ ...look, ...SHAPES.card, idPrefix: "card", title }, [
    ...parts,
    drawFoot({ x: LEFT, right, y: 600, size: 24 }, site, foot),
  ]);
}

/** The content of a repository's card besides its own facts; null: unknown. */
export interface CardInput extends CardFrame {
  /** What happened, in a sentence; undefined: its description is shown. */
  headline: string | undefined;
  /** `counted`: the part of the gain that counts, such as "none counted"; absent: all of it. */
  gained: readonly { window: Window; stars: number | null; counted?: string }[];
  /** Its best rank: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** The stars of its whole life. */
  life: Pick<ChartSeries, "points" | "gaps">;
}

type CardRepository = Pick<Repository, "provider" | "fullName" | "description" | "language" | "stars">;

export function repositoryCard(repository: CardRepository, card: CardInput): string {
  const { fullName, stars } = repository;
  const count = stars === null ? "–" : stars < 1e6 ? exactNumber(stars) : shortNumber(stars);
  const unit = stars === 1 ? "star" : "stars";
  const head = drawHead(repository, card, RIGHT - boldWidth(count, 64) - 40);
  const right = { x: RIGHT, look: "chart-muted", anchor: "end" } as const;
  const counted = [
    written({ ...right, y: 170, size: 64, look: "chart-text", isBold: true }, count),
    written({ ...right, y: 206, size: 26 }, unit),
  ];
  const parts = [
    drawLife(card.life, [...head.boxes, { right: WIDTH, bottom: 230 }]),
    { texts: [...head.texts, ...counted] },
  ];
  return drawCard(`${fullName}: ${count} ${unit}`, card, parts, RIGHT - 18);
}

/** The room from the left and upper edge that texts need. */
interface Corner {
  right: number;
  bottom: number;
}

/** Pixels between the gains of a repository. */
const COLUMN = 210;

/** Its texts at the left. `right`: where its name ends at most. */
function drawHead(
  { provider, fullName, description, language }: CardRepository,
  card: CardInput,
  right: number,
) {
  const { headline, rank, gained, ageDays } = card;
  const slash = fullName.lastIndexOf("/");
  const forge = forgeName(provider);
  const kind = language === null ? forge : `${language} on ${forge}`;
  const about = [fullName.slice(0, Math.max(0, slash)), kind].filter((part) => part !== "").join(" · ");
  const name = sized(fullName.slice(slash + 1), [84, 44], right - LEFT, boldWidth);
  const said = sized(headline ?? description ?? "", [34, 24], WHOLE, serifWidth);
  const hasParts = gained.some(({ counted }) => counted !== undefined);
  const columns = gained.flatMap(({ window, stars, counted }, i): Markup[] => {
    const place = { x: LEFT + i * COLUMN, look: "chart-muted" };
    const tone = (stars ?? 0) > 0 ? "chart-rise" : (stars ?? 0) < 0 ? "chart-fall" : "chart-text";
    const amount = stars === null ? "–" : Math.abs(stars) < 1e6 ? signedNumber(stars) : signedShort(stars);
    const time = window === "24h" && (ageDays ?? 0) <= 1 ? "today" : `in ${WINDOW_LABELS[window]}`;
    return [
      written({ ...place, y: 362, size: 34, look: tone, isBold: true }, amount),
      written({ ...place, y: 392, size: 22 }, time),
      ...(counted === undefined ? [] : [written({ ...place, y: 418, size: 18 }, counted)]),
    ];
  });
  const texts = [
    written({ x: LEFT, y: 92, size: 30, look: "chart-muted" }, fit(about, { size: 30, width: WHOLE })),
    written({ x: LEFT, y: 178, size: name.size, look: "chart-text sf", isBold: true }, name.text),
    written(
      { x: LEFT, y: 236, size: said.size, look: `chart-text sf${headline === undefined ? " prose" : ""}` },
      said.text,
    ),
    ...(rank === null ? [] : [drawPlaceStar(LEFT + 10, 273, 11)]),
    ...(rank === null
      ? []
      : [
          written(
            { x: LEFT + 32, y: 282, size: 26, look: "chart-star", isBold: true },
            fit(rank, { size: 26, width: WHOLE - 32, measure: boldWidth }),
          ),
        ]),
    ...columns,
  ];
  const boxes: Corner[] = [
    { right: LEFT + serifWidth(said.text, said.size) + 20, bottom: 264 },
    { right: rank === null ? 0 : LEFT + 52 + boldWidth(rank, 26), bottom: 304 },
    { right: LEFT + gained.length * COLUMN, bottom: hasParts ? 440 : 414 },
  ];
  return { texts, boxes };
}

const serifWidth = (text: string, size: number): number => estimateWidth(text, size, "serif");

const BASE = HEIGHT - 84;

/** The stars of a life, from the left edge to the present, below the texts. One reading is a star on a dotted level. */
function drawLife({ points, gaps }: CardInput["life"], corners: readonly Corner[]): Layers {
  const [first, last] = [points[0], points.at(-1)];
  if (last === undefined || first === undefined) return {};
  const max = Math.max(1, ...points.map(({ value }) => value));
  const drawn = (top: number) =>
    toLine(
      { name: "", points, gaps },
      {
        x: (at) => RIGHT * (last.at === first.at ? 1 : (at - first.at) / (last.at - first.at)),
        y: (value) => BASE - (value / max) * (BASE - top),
      },
    );
  let top = first.at === last.at ? 440 : 262;
  while (top < 446 && corners.some((corner) => reaches(drawn(top), corner))) top += 6;
  const line = drawn(top);
  const level = {
    class: "chart-line-1",
    d: `M${LEFT} ${top}H${RIGHT - 30}`,
    ...{ "stroke-width": 5, "stroke-linecap": "round", "stroke-dasharray": "0 15", "stroke-opacity": ".45" },
  };
  const plot = { id: "card", top, bottom: BASE, floor: HEIGHT, lineWidth: 5, star: 20 };
  const look = { ...plot, isSketch: false, bleeds: false };
  const { defs, shapes = [] } =
    line.length > 1
      ? drawGrowth(line, look, { color: 1, soft: 0.3, hasRim: false })
      : { shapes: [element("path", level)] };
  return { defs: defs ?? [], shapes: [...shapes, ...(drawEnds([line], look).shapes ?? [])] };
}

/** Whether a line comes into a corner. */
const reaches = (line: readonly LinePoint[], { right, bottom }: Corner): boolean =>
  line.some((to, i) => {
    const from = line[i - 1] ?? to;
    if (from.x >= right) return false;
    const part = to.x <= right ? 1 : (right - from.x) / (to.x - from.x);
    return Math.min(from.y, from.y + part * (to.y - from.y)) < bottom;
  });

/** Entries of a list that a card shows. */
export const MAX_CARD_ROWS = 3;

/** The content of the card of a page: its title, a sentence, and the beginning of its list. */
export interface PageCardInput extends CardFrame {
  title: string;
  lead: string;
  /** The first entries of its list; MAX_CARD_ROWS are shown. */
  rows: readonly PageCardRow[];
}

export interface PageCardRow {
  name: string;
  /** Below the name. */
  detail: string;
  /** After it, if it can be drawn. */
  description?: string | null;
  /** At the right, such as "+1,234". */
  value: string;
  /** Below the value: "stars in 7 days". */
  unit: string;
}

export function pageCard(card: PageCardInput): string {
  const { title, lead } = card;
  const rows = card.rows.slice(0, MAX_CARD_ROWS);
  const [titleY, leadY] = rows.length > 0 ? [128, 184] : [250, 322];
  const named = sized(title, [64, 40], WHOLE, boldWidth);
  const { size, text } = sized(lead, [30, 22], WHOLE, serifWidth);
  const lines =
    rows.length > 0 ? [text] : wrap(plainText(lead), { size: 30, width: WHOLE, measure: serifWidth }, 4);
  const rules = rows.map((_, i) => ({ class: "chart-grid", d: `M${LEFT} ${rowY(i) - 48}H${RIGHT}` }));
  return drawCard(title, card, [
    {
      shapes: rules.map((rule) => element("path", { ...rule, "stroke-width": 1.5 })),
      texts: [
        written({ x: LEFT, y: titleY, size: named.size, look: "chart-text sf", isBold: true }, named.text),
        ...lines.map((line, i) =>
          written(
            { x: LEFT, y: leadY + i * 44, size: rows.length > 0 ? size : 30, look: "chart-text sf" },
            line,
          ),
        ),
        ...rows.flatMap(rowTexts),
      ],
    },
  ]);
}

const rowY = (i: number): number => 268 + i * 98;
/** Pixels of the value of a row. */
const VALUE = 330;

function rowTexts({ name, detail, description, value, unit }: PageCardRow, i: number): Markup[] {
  const y = rowY(i);
  const [x, width] = [LEFT + 56, WHOLE - 56 - VALUE - 24];
  const below = { y: y + 34, size: 22, look: "chart-muted" };
  const facts = fit(detail, { size: below.size, width });
  const end = estimateWidth(`${facts} `, below.size);
  const prose = fit(description ?? "", { size: below.size, width: width - end });
  const tone = value.startsWith("+") ? "chart-rise" : value.startsWith("−") ? "chart-fall" : "chart-text";
  const right = { x: RIGHT, anchor: "end" } as const;
  return [
    written({ x: LEFT, y, size: 34, look: "chart-muted", isBold: true }, String(i + 1)),
    drawName(name, { x, y, sizes: [34, 28], width }),
    written({ ...below, x }, facts),
    ...(prose === "" || end > width - 80
      ? []
      : [written({ ...below, x: x + end, look: "chart-muted prose" }, `· ${prose}`)]),
    written(
      { ...right, y, size: 36, look: tone, isBold: true },
      fit(value, { size: 36, width: VALUE, measure: boldWidth }),
    ),
    written({ ...below, ...right, size: 20 }, fit(unit, { size: 20, width: VALUE })),
  ];
}
