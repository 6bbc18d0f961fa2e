import assert from "node:assert/strict";
import { SaxesParser } from "saxes";
import { estimateWidth } from "../../src/charts/markup.js";

/** All that a picture may consist of, written down apart from what draws them. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  svg: [
    "xmlns",
    "width",
    "height",
    "viewBox",
    "role",
    "aria-labelledby",
    "aria-hidden",
    "class",
    "font-family",
  ],
  title: ["id"],
  desc: ["id"],
  style: [],
  g: ["class", "filter"],
  path: [
    ...["class", "d", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray"],
    ...["stroke-linecap", "stroke-linejoin", "stroke-opacity", "paint-order"],
  ],
  tspan: ["class", "font-size", "font-weight"],
  defs: [],
  linearGradient: ["id", "gradientUnits", "x1", "x2", "y1", "y2"],
  stop: ["class", "offset", "stop-opacity"],
  pattern: ["id", "width", "height", "patternUnits", "patternTransform"],
  filter: ["id", "filterUnits", "x", "y", "width", "height", "color-interpolation-filters"],
  feTurbulence: ["type", "baseFrequency", "numOctaves", "seed", "result"],
  feDisplacementMap: ["in", "in2", "xChannelSelector", "yChannelSelector", "scale"],
  rect: ["class", "x", "y", "width", "height", "rx", "fill"],
  circle: ["class", "cx", "cy", "r", "fill", "stroke-width"],
  text: ["class", "x", "y", "font-size", "font-weight", "font-family", "text-anchor", "textLength", "fill"],
};

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A picture as it was read back. */
export interface Picture {
  title: string | undefined;
  description: string | undefined;
  style: string | undefined;
  width: number;
  height: number;
  elements: { name: string; attributes: Record<string, string>; text: string }[];
  /** The texts that are seen, and where they are by the estimate that places them. */
  texts: { text: string; box: Box }[];
  /** The classes of all elements. */
  classes: Set<string>;
}

/** Reads a picture strictly, and fails unless it is well-formed, harmless, and all of it lies inside its size. */
export function readPicture(svg: string): Picture {
  const elements: Picture["elements"] = [];
  const open: Picture["elements"] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("doctype", () => assert.fail("a picture has no document type"));
  parser.on("processinginstruction", () => assert.fail("a picture has no processing instruction"));
  parser.on("opentag", ({ name, attributes }) => {
    const one = { name, attributes: { ...attributes }, text: "" };
    assert.ok(Object.hasOwn(ALLOWED, name), `the element ${name} is not allowed`);
    for (const [key, value] of Object.entries(attributes)) {
      assert.ok(ALLOWED[name]?.includes(key), `${name} may not have the attribute ${key}`);
      if (key === "xmlns") assert.equal(value, "http://www.w3.org/2000/svg");
      else assert.doesNotMatch(value, /javascript:|data:|https?:|url\((?!#[\w-]+\)$)|&|</i);
    }
    elements.push(one);
    open.push(one);
  });
  parser.on("text", (text) => {
    const inner = open.at(-1);
    if (inner !== undefined) inner.text += text;
    // A text is all that is written in it.
    const whole = open.at(-2);
    if (inner?.name === "tspan" && whole !== undefined) whole.text += text;
  });
  parser.on("closetag", () => open.pop());
  parser.write(svg).close();
  assert.ok(svg.isWellFormed());
  const [root] = elements;
  assert.equal(root?.name, "svg");
  const [width, height] = [Number(root?.attributes.width), Number(root?.attributes.height)];
  assert.equal(root?.attributes.viewBox, `0 0 ${width} ${height}`);
  const ids = elements.flatMap(({ attributes: { id } }) => id ?? []);
  assert.equal(new Set(ids).size, ids.length, "ids must be unique");
  for (const id of root?.attributes["aria-labelledby"]?.split(" ") ?? []) assert.ok(ids.includes(id), id);
  const textOf = (name: string) => elements.find((one) => one.name === name)?.text;
  const style = textOf("style");
  if (style !== undefined) assert.doesNotMatch(style, /url\(|@import|https?:|[<&]/i);
  for (const one of elements) checkPlaces(one, width, height);
  const texts = elements.filter(({ name }) => name === "text").map((one) => placeOfText(one));
  return {
    title: textOf("title"),
    description: textOf("desc"),
    style,
    width,
    height,
    elements,
    texts,
    classes: new Set(elements.flatMap(({ attributes }) => attributes.class?.split(" ") ?? [])),
  };
}

function placeOfText({ attributes, text }: Picture["elements"][number]): Picture["texts"][number] {
  const [x, y, size] = [attributes.x, attributes.y, attributes["font-size"]].map(Number) as [
    number,
    number,
    number,
  ];
  const width =
    attributes.textLength === undefined ? estimateWidth(text, size) : Number(attributes.textLength);
  const anchor = attributes["text-anchor"];
  const left = anchor === "end" ? x - width : anchor === "middle" ? x - width / 2 : x;
  return { text, box: { left, right: left + width, top: y - size * 0.75, bottom: y + size * 0.2 } };
}

const NUMBERS = ["x", "y", "cx", "cy", "r", "rx", "width", "height", "font-size", "textLength"] as const;

function checkPlaces({ name, attributes }: Picture["elements"][number], width: number, height: number): void {
  for (const key of NUMBERS) {
    const value = attributes[key];
    if (value === undefined) continue;
    assert.match(value, /^\d+(\.\d+)?$/, `${name} ${key}="${value}"`);
    const most = key === "y" || key === "cy" || key === "height" ? height : width;
    assert.ok(Number(value) <= most, `${name} ${key}="${value}" is outside`);
  }
  for (const [x, y] of pointsOf(attributes.d ?? "")) {
    assert.ok(Number.isFinite(x) && Number.isFinite(y), attributes.d);
    assert.ok(x >= 0 && x <= width && y >= 0 && y <= height, `${x} ${y} is outside: ${attributes.d}`);
  }
}

/** Every point a path comes to. */
export function pointsOf(d: string): [number, number][] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, command = "", rest = ""] of d.matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
    const numbers = (rest.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
    const [a = 0, b = 0] = numbers.slice(-2);
    assert.match(command, /[MLHVhvalZ]/, d);
    if (command === "M" || command === "L") [x, y] = [a, b];
    if (command === "H") x = numbers[0] ?? Number.NaN;
    if (command === "V") y = numbers[0] ?? Number.NaN;
    if (command === "h") x += numbers[0] ?? Number.NaN;
    if (command === "v") y += numbers[0] ?? Number.NaN;
    if (command === "a" || command === "l") [x, y] = [x + a, y + b];
    points.push([x, y]);
  }
  return points;
}

/** Fails where two texts lie over one another, or one leaves the picture. */
export function checkTexts({ texts, width, height }: Picture): void {
  for (const [i, { text, box }] of texts.entries()) {
    assert.ok(
      box.left >= 0 && box.right <= width,
      `${text} leaves the picture: ${JSON.stringify(box)} of ${width}`,
    );
    assert.ok(box.top >= 0 && box.bottom <= height, `${text} leaves the picture`);
    for (const other of texts.slice(i + 1)) {
      const apart =
        box.right <= other.box.left ||
        other.box.right <= box.left ||
        box.bottom <= other.box.top ||
        other.box.bottom <= box.top;
      assert.ok(apart, `${text} lies over ${other.text}`);
    }
  }
}
