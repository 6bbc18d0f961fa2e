import { DAY_MS } from "../lib/clock.js";
import { type Axis, endOfAxis, timeAxis, upTo } from "./axes.js";
import { type Box, countAt } from "./crossings.js";
import { contentOf, drawSpans, endsOf, FLAGS, reachedOf, spansUnder } from "./events.js";
import {
  DRAWINGS,
  drawLabels,
  type EndLabel,
  type LabelLook,
  labelWidth,
  shortNames,
  toLine,
} from "./lines.js";
import { estimateWidth, fit, type Markup, plainText } from "./markup.js";
import { ageUnitOf, dateText, exactNumber, shortNumber, signedNumber, signedShort } from "./numbers.js";
import {
  boldWidth,
  drawFoot,
  drawName,
  drawPage,
  drawTitle,
  type FootPlace,
  type Layers,
  type NameRoom,
  sentenceLines,
  sized,
  written,
} from "./picture-parts.js";
import {
  drawEnds,
  drawFlags,
  drawGains,
  drawGrowth,
  drawHatch,
  drawRates,
  drawRings,
  drawRows,
  drawTimes,
  hatchOf,
  marksAlong,
  type Plot,
  tipsOf,
} from "./picture-plot.js";
import { drawYoung, isYoung, youngSentence } from "./picture-young.js";
import { type ChartInput, type ChartSeries, countedUnit } from "./series.js";
import { sentencesOf } from "./story.js";
import type { Theme } from "./themes.js";
import { descriptionOf, footerOf, titleOf } from "./words.js";

/** Charts as pictures for READMEs and posts: a headline, lines that end in stars, and the host and date at the foot. */

type PictureInput = ChartInput & { theme: Theme };

export function drawPicture(input: PictureInput): string {
  const scene = sceneOf(input);
  const layout = LAYOUTS[scene.shape](scene);
  const { series, unit, milestones, crossings } = scene;
  const { width, height, theme, style = "plain", isClear = false, idPrefix = "chart" } = input;
  const page = { width, height, shape: scene.shape, theme, style, isClear, idPrefix };
  const words = {
    title: titleOf(input, series),
    description: descriptionOf(input, series, { unit, milestones, crossings }),
  };
  return drawPage({ ...page, ...words }, [
    layout.head,
    ...(scene.isYoung ? drawFew(scene, layout) : drawLines(scene, layout)),
    drawFoot(layout.foot, input.site, footerOf(input, series)),
  ]);
}

function drawLines(scene: Scene, { plot, ends, times, below = {} }: Layout): Layers[] {
  return [...drawPlot(scene, plot), below, ends, drawTimes(scene.xAxis, plot, times.between, times.y)];
}

/** The sizes of stars in posts, of those in READMEs. */
const YOUNG_POST = 1.7;

/** A repository with little to draw a line of. */
function drawFew({ input, only, xAxis, shape }: Scene, { plot, foot, head }: Layout): Layers[] {
  const points = only?.points ?? [];
  const k = shape === "readme" ? scaleOf(input) : YOUNG_POST;
  const [left, right, bottom] = [foot.x, input.width - foot.x - 122 * k, foot.y - 68 * k];
  const top = shape === "readme" ? 104 * k : head.y + 40;
  const x = (at: number) => left + xAxis.scale(at) * (right - left);
  const isOne = points.length === 1;
  const last = points.at(-1)?.at ?? 0;
  const times = isOne ? { ...xAxis, ticks: [{ value: last, label: dateText(last) }] } : xAxis;
  const axis = { ...plot, x: isOne ? () => right : x };
  return [
    drawYoung(points, { id: plot.id, left, right, top, bottom, x, k }),
    drawTimes(times, axis, [left, right], bottom + 24 * k),
  ];
}

/** What a picture shows, before its places are known. */
export function sceneOf(input: PictureInput) {
  const { align, view = "total", scale, bornAt, shape = "readme", style } = input;
  const content = contentOf(input);
  const { series, only, points, spans, lines, crossings } = content;
  const young = isYoung(input, only);
  const [start, last] = endsOf(points, spans);
  const first = only === undefined ? start : Math.min(start, bornAt ?? start);
  const end = shape === "readme" && align === "date" ? endOfAxis(last, last - first, DAY_MS) : last;
  const values = lines.flatMap((line) => line.points.map(({ value }) => value));
  const isTotal = view === "total";
  const shown = bornAt !== undefined && isTotal ? [...values, 0] : values;
  const axis = (count: number): Axis => {
    const whole = DRAWINGS[view].axis(shown, scale, count);
    const [low, high] = [Math.min(...shown), Math.max(...shown)];
    const isKept = shape === "readme" && whole.domain.kind === "linear";
    return isTotal && high > low ? upTo(whole, isKept ? endOfAxis(high, high - low) : high) : whole;
  };
  const order = series
    .map((_, i) => i)
    .sort((a, b) => (series[b]?.points.at(-1)?.value ?? -1) - (series[a]?.points.at(-1)?.value ?? -1));
  return {
    ...{ input, ...content, shape, view, axis, order, start },
    ...{ isSketch: style === "sketch", isOne: only !== undefined, unit: ageUnitOf(last - first) },
    milestones: reachedOf({ ...input, series }, FLAGS).filter(
      ({ point, before }) => !only?.gaps.some(({ from, to }) => from >= before.at && to <= point.at),
    ),
    names: shortNames(series.map(({ name }) => name)),
    story: young
      ? { sentences: [input.sentence ?? youngSentence(points, bornAt)], crossings }
      : sentencesOf(input, series),
    isYoung: young,
    crossings,
    xAxis: timeAxis(align, [first, end], input.width / (shape === "readme" ? 115 * scaleOf(input) : 165)),
  };
}

type Scene = ReturnType<typeof sceneOf>;

/** Where everything is. */
interface Layout {
  head: Layers & { y: number };
  plot: Plot & { yAxis: Axis };
  /** The count or the names at the ends of lines. */
  ends: Layers;
  /** Bars below the lines. */
  below?: Layers;
  times: { between: readonly [number, number]; y: number };
  foot: FootPlace;
}

/** Its lines, and what lies on and below them. */
export function drawPlot(scene: Scene, plot: Layout["plot"]): Layers[] {
  const { input, series, lines, bars, only, spans, order, start, milestones, crossings, story, isSketch } =
    scene;
  const drawn = lines.map((line) => toLine(line, plot));
  const { domain } = plot.yAxis;
  const isFilled = domain.kind === "linear" && domain.from === 0 && scene.view === "total";
  const gaps = bars !== undefined || only === undefined ? [] : only.gaps;
  const hatches = [
    ...gaps.map(({ from, to }) => drawHatch(plot, [plot.x(from), plot.x(to)], "no counts")),
    ...(plot.x(start) - plot.left < 1
      ? []
      : [drawHatch(plot, [plot.left, plot.x(start)], input.unread ?? "")]),
  ];
  const soft = only === undefined ? 0.16 : scene.shape === "readme" ? 0.26 : 0.34;
  const grown = order.map((i) =>
    drawGrowth(drawn[i] ?? [], plot, {
      color: i + 1,
      soft: isFilled && i === order[0] ? soft : 0,
      hasRim: only === undefined && !isSketch && input.isClear !== true,
    }),
  );
  const shown = bars === undefined ? drawn : [tipsOf(bars, plot)];
  const rows = drawRows(plot.yAxis, plot, shown, isFilled || bars !== undefined);
  const labelled = plot.yAxis.ticks.map(({ value, label }) => ({
    ...{ left: plot.labels, right: plot.labels + estimateWidth(label, plot.size) },
    ...{ top: plot.y(value) - plot.size - 7, bottom: plot.y(value) },
  }));
  return [
    hatchOf(hatches, plot.id),
    { under: drawSpans(spansUnder(bars, spans), plot, false) },
    ...hatches,
    rows,
    ...(bars === undefined
      ? [...grown, marksAlong(drawn, plot), drawFlags(milestones, drawn[0] ?? [], plot, labelled)]
      : [drawRates(bars, plot)]),
    drawRings(crossings, story.crossings, { series, lines: drawn, plot, labels: labelled }),
    ...(bars === undefined ? [drawEnds(drawn, plot)] : []),
  ];
}

/** Sizes of READMEs at 800 × 400, in pixels, and of posts. */
const README = {
  pad: 28,
  sentence: 16,
  tick: 13,
  count: 26,
  label: 14,
  foot: 14,
  line: 3,
  star: 11,
} as const;
const POST = {
  pad: 64,
  sentence: [38, 28],
  tick: 20,
  count: 52,
  label: 26,
  foot: 24,
  line: 5,
  star: 22,
} as const;

/** The scale of everything in READMEs of other sizes: smaller texts could not be read. */
const scaleOf = ({ width, height }: ChartInput): number =>
  Math.max(0.75, Math.min(1.5, width / 800, height / 400));

/** A title of one's own, the name of the single line, or the names in the colours of their lines. */
function drawHeading({ input, only, names, order }: Scene, room: NameRoom): Markup {
  if (input.title !== undefined) {
    const { size, text } = sized(input.title, room.sizes, room.width, boldWidth);
    return written({ x: room.x, y: room.y, size, look: "chart-text sf", isBold: true }, text);
  }
  if (only !== undefined) return drawName(only.name, room);
  return drawTitle(
    order.map((i) => ({ name: names[i] ?? "", color: i + 1 })),
    room,
  );
}

/** The longest sentence that fits in a line, else the shortest one, cut. */
function drawSentence(
  { story: { sentences } }: Scene,
  { width, ...place }: { x: number; y: number; size: number; width: number },
): Markup[] {
  const { size } = place;
  const fitting = sentences.find((one) => estimateWidth(plainText(one), size) <= width);
  const text = fitting ?? fit(sentences.at(-1) ?? "", { size, width });
  return text === "" ? [] : [written({ ...place, look: "chart-muted" }, text)];
}

function layOutReadme(scene: Scene): Layout {
  const { input, isOne, bars, isSketch } = scene;
  const { width, height, idPrefix = "chart" } = input;
  const k = scaleOf(input);
  const pad = README.pad * k;
  const [size, inner] = [README.sentence * k, width - 2 * pad];
  const hasBars = isOne && bars === undefined && input.align !== "index" && height >= 330 * k;
  const bottom = height - (hasBars ? 126 : 64) * k;
  const top = (isOne ? 108 : 112) * k;
  const yAxis = scene.axis(Math.max(2, Math.min(4, Math.floor((bottom - top) / (40 * k)))));
  const labels = endLabels(scene, 18 * k, width * 0.18);
  const look = endLook(scene, { size: 18 * k, room: bottom - top + 14 * k, gap: 20 * k });
  const column = isOne ? countColumn(scene, k) : labelWidth(labels, look, width * 0.32);
  const tickRoom = Math.max(0, ...yAxis.ticks.map(({ label }) => estimateWidth(label, README.tick * k)));
  const plot = plotOf(scene, {
    ...{ id: idPrefix, left: isSketch ? pad + tickRoom + 8 : pad, right: width - pad - column },
    ...{
      top,
      bottom,
      floor: bottom,
      roof: 82 * k,
      labels: isSketch ? pad + tickRoom + 8 : pad,
      bleeds: false,
      taken: [],
    },
    ...{ size: README.tick * k, lineWidth: README.line * k, star: (isOne ? README.star : 10) * k, yAxis },
    marks: { ring: k, size: 13 * k, pole: 26 * k, most: 4 },
  });
  const strip = { top: height - 102 * k, foot: height - 60 * k };
  const drawn = scene.lines.map((line) => toLine(line, plot));
  return {
    plot,
    head: {
      texts: [
        drawHeading(scene, { x: pad, y: 48 * k, sizes: [27 * k, 19 * k], width: inner }),
        ...drawSentence(scene, { x: pad, y: 74 * k, size, width: inner }),
      ],
      y: 74 * k,
    },
    ends: isOne
      ? drawCount(scene, plot, { k, week: hasBars ? strip.foot : undefined })
      : {
          texts: drawLabels(labels, drawn, {
            right: width - pad,
            top: top - 14 * k,
            bottom,
            ...look,
          }),
        },
    ...(hasBars && scene.only !== undefined && { below: drawGains(scene.only.points, plot, strip) }),
    times: { between: [plot.left, plot.right], y: height - (hasBars ? 41 : 45) * k },
    foot: { x: pad, right: width - pad, y: height - 16 * k, size: README.foot * k },
  };
}

export function plotOf(
  { xAxis, isSketch }: Scene,
  place: Omit<Plot, "x" | "y" | "isSketch"> & { yAxis: Axis },
): Layout["plot"] {
  const { left, right, top, bottom, yAxis } = place;
  return {
    ...place,
    isSketch,
    x: (at) => left + xAxis.scale(at) * (right - left),
    y: (value) => bottom - yAxis.scale(value) * (bottom - top),
  };
}

/** The names of lines and their last values. */
export function endLabels({ lines, names, view }: Scene, size: number, width: number): EndLabel[] {
  const { exact, short } = DRAWINGS[view];
  const last = lines.map(({ points }) => points.at(-1)?.value);
  const isShort = last.some((one) => one !== undefined && estimateWidth(exact(one), size) > width);
  return last.map((one, i) => {
    return { name: names[i] ?? "", value: one === undefined ? "" : (isShort ? short : exact)(one) };
  });
}

/** A count in full, if that is not wider than a fourth of the picture. */
function countText({ input }: Scene, count: number, size: number): string {
  const whole = exactNumber(count);
  return boldWidth(whole, size) > input.width / 4 ? shortNumber(count) : whole;
}

/** Two lines each; where these do not fit, one line. */
export function endLook(
  { series }: Scene,
  { size, room, gap }: { size: number; room: number; gap: number },
): LabelLook & { gap: number } {
  const named = series.length > 2 ? size * 0.89 : size;
  const small = named - size / 9;
  const apart = Math.min(gap * 0.4, room / series.length - named - small);
  if (apart >= 4) return { size: named, small, isStacked: true, gap, apart };
  const one = Math.min(named, room / series.length - 4);
  return { size: one, small: one, isStacked: false, gap };
}

const WEEK_WORDS = "in 7 days";

/** The room of the count of a single line. */
function countColumn(scene: Scene, k: number): number {
  const { only, input } = scene;
  const last = only?.points.at(-1)?.value ?? 0;
  const texts = [
    estimateWidth(countedUnit(input, last), README.label * k),
    estimateWidth(WEEK_WORDS, 13 * k),
  ];
  return Math.max(boldWidth(countText(scene, last, README.count * k), README.count * k), ...texts) + 22 * k;
}

/** The count next to the star, and the gain of a week next to the bars. */
function drawCount(
  scene: Scene,
  plot: Layout["plot"],
  { k, week }: { k: number; week: number | undefined },
): Layers {
  const { input, only, bars } = scene;
  const last = only?.points.at(-1);
  if (last === undefined) return {};
  const gained = input.week ?? weekOf(only?.points ?? []);
  const end = plot.x(last.at);
  // Of a line that reaches the end of the axis in one column with the gain below.
  const x = (bars === undefined && plot.right - end > 20 * k ? end : plot.right) + 18 * k;
  const y = bars === undefined ? plot.y(last.value) : plot.top + 12 * k;
  const unit = { x, y: y + 28 * k, size: README.label * k, look: "chart-muted chart-halo" };
  const texts = [
    written(
      { x, y: y + 8 * k, size: README.count * k, look: "chart-text chart-halo", isBold: true },
      countText(scene, last.value, README.count * k),
    ),
    written(unit, countedUnit(input, last.value)),
  ];
  if (week === undefined || gained === undefined || unit.y > week - 34 * k) return { texts };
  const look = gained < 0 ? "chart-fall" : "chart-rise";
  const column = plot.right + 18 * k;
  return {
    texts: [
      ...texts,
      written(
        { x: column, y: week - 16 * k, size: 18 * k, look, isBold: true },
        Math.abs(gained) < 1e6 ? signedNumber(gained) : signedShort(gained),
      ),
      written({ x: column, y: week + k, size: 13 * k, look: "chart-muted" }, WEEK_WORDS),
    ],
  };
}

/** The gain of the last 7 days, if they are known. */
function weekOf(points: ChartSeries["points"]): number | undefined {
  const last = points.at(-1);
  const before = last && countAt(points, last.at - 7 * DAY_MS);
  return before === undefined || last === undefined ? undefined : Math.round(last.value - before);
}

function layOutPost(scene: Scene): Layout {
  const { input, isOne, isSketch } = scene;
  const { width, height, idPrefix = "chart" } = input;
  const { pad } = POST;
  const isSquare = width === height;
  const head = postHead(scene, isSquare);
  const labels = endLabels(scene, 29, width * 0.2);
  const bottom = height - 112;
  const look = endLook(scene, { size: 29, room: bottom - head.y - 46, gap: 30 });
  const right = width - pad - (isOne ? 0 : labelWidth(labels, { ...look, gap: 34 }, width * 0.34));
  const yAxis = scene.axis(isSquare ? 4 : 3);
  const tickRoom = Math.max(0, ...yAxis.ticks.map(({ label }) => estimateWidth(label, POST.tick)));
  const left = isSketch ? pad + tickRoom + 8 : 0;
  const plotAt = (top: number) =>
    plotOf(scene, {
      ...{ id: idPrefix, left, right, top, bottom, floor: isSketch ? bottom : height, roof: head.y + 20 },
      ...{ labels: isSketch ? left : pad, bleeds: !isSketch, taken: [], size: POST.tick },
      ...{ lineWidth: POST.line, yAxis },
      star: isOne ? POST.star : 17,
      marks: { ring: 1.6, size: isOne ? 20 : 22, pole: 40, most: 3 },
    });
  // A line may rise beside the headline, but never into it.
  const counted = width - pad - countWidth(scene) - 30;
  const least = isOne && !isSquare && scene.bars === undefined ? 170 : head.y + (isOne ? 130 : 76);
  let top = isOne && head.widest > counted ? Math.max(least, head.y + 104) : least;
  const clear = head.y + (isOne ? 84 : 60);
  const intrudes = (plot: Plot) =>
    scene.lines.some((line) =>
      line.points.some(({ at, value }) => plot.x(at) < head.right && plot.y(value) < clear),
    );
  while (top < bottom - 150 && intrudes(plotAt(top))) top += 6;
  const count = isOne ? postCount(scene, plotAt(top)) : undefined;
  const plot = { ...plotAt(top), taken: count === undefined ? [] : [count.box] };
  const drawn = scene.lines.map((line) => toLine(line, plot));
  return {
    plot,
    head,
    ends: count ?? {
      texts: drawLabels(labels, drawn, { right: width - pad, top: top - 30, bottom, ...look }),
    },
    times: { between: [pad, right], y: bottom + 34 },
    foot: { x: pad, right: isOne ? right - 18 : width - pad, y: height - 32, size: POST.foot },
  };
}

/** The headline of a post, the base line of its last text, and where its sentence and its longest text end. */
function postHead(scene: Scene, isSquare: boolean): Layers & { y: number; right: number; widest: number } {
  const { input, only, story } = scene;
  const { pad } = POST;
  const width = input.width - 2 * pad;
  const hasOwner = only?.name.includes("/") && input.title === undefined;
  const [big, several] = isSquare ? [84, 56] : [76, 60];
  const sizes = only === undefined ? ([several, 40] as const) : ([big, 44] as const);
  const owner = only?.name.slice(0, only.name.lastIndexOf("/")) ?? "";
  const y = pad + (only === undefined ? several * 0.9 : big * 0.92 + 34);
  const below = only === undefined ? 58 : isSquare ? 70 : 62;
  const named = {
    ...scene,
    only: only && { ...only, name: only.name.slice(only.name.lastIndexOf("/") + 1) },
  };
  const isLine = (text: string) => estimateWidth(plainText(text), POST.sentence[1]) <= width;
  const sentence = story.sentences.find(isLine) ?? story.sentences.at(-1) ?? "";
  const { size, lines } = sentenceLines(sentence, POST.sentence, width);
  const texts = [
    ...(hasOwner
      ? [written({ x: pad, y: pad + 26, size: 30, look: "chart-muted" }, fit(owner, { size: 30, width }))]
      : []),
    drawHeading(named, { x: pad, y, sizes, width }),
    ...lines.map((line, i) => written({ x: pad, y: y + below + i * 48, size, look: "chart-text sf" }, line)),
  ];
  const end = Math.max(0, ...lines.map((line) => estimateWidth(line, size)));
  const title = input.title ?? named.only?.name ?? "";
  return {
    texts,
    y: y + below + Math.max(0, lines.length - 1) * 48,
    right: pad + end + 30,
    widest: pad + Math.max(end, Math.min(width, boldWidth(plainText(title), sizes[0]))) + 30,
  };
}

/** How wide the count of a post is with its unit. */
function countWidth(scene: Scene): number {
  const count = scene.only?.points.at(-1)?.value ?? 0;
  const unit = estimateWidth(countedUnit(scene.input, count), POST.label);
  return boldWidth(countText(scene, count, POST.count), POST.count) + 10 + unit;
}

/** The count above the star, and its place. */
function postCount(scene: Scene, plot: Layout["plot"]): (Layers & { box: Box }) | undefined {
  const { input, only, bars } = scene;
  const last = only?.points.at(-1);
  if (last === undefined) return undefined;
  const y = bars === undefined ? plot.y(last.value) - 40 : plot.top - 56;
  const width = countWidth(scene);
  // Of a line that ends early, clear of the labels of values.
  const x = Math.max(bars === undefined ? plot.x(last.at) : plot.right, plot.labels + 80 + width);
  const unit = countedUnit(input, last.value);
  const beside = { x, y, size: POST.label, look: "chart-muted chart-halo", anchor: "end" } as const;
  const left = x - estimateWidth(unit, POST.label) - 10;
  const counted = { ...beside, x: left, size: POST.count, look: "chart-text chart-halo", isBold: true };
  return {
    box: { left: x - width, right: x, top: y - POST.count, bottom: y + 12 },
    texts: [written(counted, countText(scene, last.value, POST.count)), written(beside, unit)],
  };
}

const LAYOUTS = { readme: layOutReadme, post: layOutPost, square: layOutPost, card: layOutPost };
