/**
 * Reads the charts that the server drew: a crosshair with the values at a point, by pointer, touch and keyboard, and the
 * selection of a part. It draws no line and no axis: without this module the drawing and its table stay as they are.
 */
import { announce, startIn } from "./base.js";
import { Geometry, type PlotData, pointWords, timeText } from "./chart-data.js";
import { showPart } from "./zoom.js";

/** Page Up and Page Down move by this fraction of all stops. */
const PAGE_FRACTION = 10;
/** Points of several lines within half a day share a stop, as refreshes differ by hours. */
const TOGETHER = 12 * 3_600;
/** A shorter movement is a click, not a selection, in pixels. */
const LEAST_DRAG = 8;

/** A position of the crosshair: a time, and the index of the point of each line; −1 if it has none. */
interface Stop {
  at: number;
  points: readonly number[];
}

function stopsOf(lines: PlotData["lines"]): Stop[] {
  const all = lines
    .flatMap(({ at }, line) => at.map((time, index) => ({ time, line, index })))
    .sort((a, b) => a.time - b.time);
  const stops: { at: number; points: number[] }[] = [];
  let begin = Number.NEGATIVE_INFINITY;
  for (const { time, line, index } of all) {
    const last = stops.at(-1);
    const isTogether = lines.length > 1 && time - begin < TOGETHER && last?.points[line] === -1;
    if (last !== undefined && isTogether) {
      last.points[line] = index;
      last.at = time;
    } else {
      begin = time;
      stops.push({ at: time, points: lines.map((_, i) => (i === line ? index : -1)) });
    }
  }
  return stops;
}

class Chart {
  readonly #data: PlotData;
  readonly #box: HTMLElement;
  readonly #root: HTMLElement;
  readonly #stops: readonly Stop[];
  readonly #names: readonly string[];
  readonly #cursor = part("plot-cursor");
  readonly #tip = part("plot-tip");
  readonly #selection = part("plot-selection");
  readonly #dots: readonly HTMLElement[];
  #current: number | undefined;
  /** The beginning of a selection, as a part of the box. */
  #pressed: number | undefined;

  constructor(root: HTMLElement, box: HTMLElement, { data, label }: { data: PlotData; label: string }) {
    this.#data = data;
    this.#root = root;
    this.#box = box;
    this.#stops = stopsOf(data.lines);
    this.#names = [...root.querySelectorAll(".plot-name")].map((name) => name.textContent ?? "");
    this.#dots = data.lines.map((_, i) => part(`plot-dot plot-dot-${i + 1}`));
    box.append(this.#selection, this.#cursor, ...this.#dots, this.#tip);
    this.#describe(label);
    this.#listen();
  }

  #describe(label: string): void {
    const help = document.createElement("span");
    help.className = "hidden";
    help.id = `chart-help-${document.querySelectorAll("[id^=chart-help-]").length}`;
    help.textContent =
      "Left and Right move between points, Page Up and Page Down by a tenth of the chart, Home and End to the first and last point.";
    this.#box.after(help);
    const attributes = {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": label,
      "aria-describedby": help.id,
    };
    for (const [name, value] of Object.entries(attributes)) this.#box.setAttribute(name, value);
    this.#box.classList.add("live");
  }

  #listen(): void {
    const box = this.#box;
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("blur", () => this.#moveTo(undefined));
    box.addEventListener("pointerdown", (event) => this.#press(event));
    box.addEventListener("pointermove", (event) => this.#move(event));
    box.addEventListener("pointerup", (event) => this.#release(event));
    box.addEventListener("pointercancel", () => this.#drop());
    box.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && this.#pressed === undefined) this.#moveTo(undefined);
    });
    // A touch leaves its point shown until another one outside the chart.
    document.addEventListener("pointerdown", ({ target }) => {
      if (!(target instanceof Node && box.contains(target))) this.#moveTo(undefined);
    });
  }

  #partAt({ clientX }: PointerEvent): number {
    const { left, width } = this.#box.getBoundingClientRect();
    return (clientX - left) / Math.max(1, width);
  }

  #press(event: PointerEvent): void {
    if (event.pointerType === "touch") this.#moveTo(this.#nearest(event));
    if (
      event.pointerType === "touch" ||
      !("zoom" in this.#root.dataset) ||
      event.button !== 0 ||
      !event.isPrimary
    )
      return;
    this.#pressed = this.#partAt(event);
    this.#box.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    this.#moveTo(this.#nearest(event));
    const { clientWidth } = this.#box;
    if (this.#pressed === undefined) return;
    const geometry = geometryOf(this.#box);
    const [from = 0, to = 0] = [this.#pressed, this.#partAt(event)]
      .map((x) => Math.min(geometry.right, Math.max(geometry.left, x)))
      .sort((a, b) => a - b);
    this.#selection.hidden = (to - from) * clientWidth < LEAST_DRAG;
    place(this.#selection, {
      left: from,
      width: to - from,
      top: geometry.top,
      height: geometry.foot - geometry.top,
    });
  }

  #release(event: PointerEvent): void {
    const from = this.#pressed;
    const isSelected = !this.#selection.hidden;
    this.#drop();
    if (from === undefined || !isSelected) return;
    const geometry = geometryOf(this.#box);
    const [first = 0, last = 0] = [from, this.#partAt(event)]
      .map((x) => geometry.timeAt(x))
      .sort((a, b) => a - b);
    void showPart(this.#root, first, last);
  }

  #drop(): void {
    this.#pressed = undefined;
    this.#selection.hidden = true;
  }

  #nearest(event: PointerEvent): number | undefined {
    const geometry = geometryOf(this.#box);
    const x = this.#partAt(event);
    let best: number | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [i, stop] of this.#stops.entries()) {
      const distance = Math.abs(geometry.x(this.#middle(stop)) - x);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  /** The place of the crosshair: a bar is read in its middle. */
  #middle({ at, points }: Stop): number {
    const [only, ...others] = this.#data.lines;
    const since = others.length === 0 ? only?.since?.[points[0] ?? -1] : undefined;
    return since === undefined ? at : (since + at) / 2;
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#stops.length - 1;
    const page = Math.max(1, Math.round(this.#stops.length / PAGE_FRACTION));
    const from = this.#current;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: from === undefined ? last : from - 1,
      ArrowRight: from === undefined ? 0 : from + 1,
      PageUp: (from ?? last + page) - page,
      PageDown: (from ?? -page) + page,
      Home: 0,
      End: last,
    };
    if (event.key === "Escape") {
      this.#drop();
      this.#moveTo(undefined);
      announce("");
      return;
    }
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#moveTo(Math.min(last, Math.max(0, to)));
    announce([...this.#tip.children].map(({ textContent }) => textContent).join(". "));
  }

  /** Moves the crosshair to a stop; undefined hides it. */
  #moveTo(index: number | undefined): void {
    this.#current = index;
    const stop = index === undefined ? undefined : this.#stops[index];
    for (const one of [this.#cursor, this.#tip, ...this.#dots]) one.hidden = stop === undefined;
    if (stop === undefined) return;
    const geometry = geometryOf(this.#box);
    const x = geometry.x(this.#middle(stop));
    place(this.#cursor, { left: x, top: geometry.top, height: geometry.foot - geometry.top });
    for (const [i, line] of this.#data.lines.entries()) {
      const point = stop.points[i] ?? -1;
      const [at, value] = [line.at[point], line.value[point] ?? null];
      const dot = this.#dots[i];
      if (dot === undefined) continue;
      // No dot if the line has no point there: it would look measured.
      dot.hidden = at === undefined || value === null;
      if (at === undefined || value === null) continue;
      place(dot, { left: this.#data.lines.length === 1 ? x : geometry.x(at), top: geometry.y(value) });
    }
    this.#write(stop);
    this.#placeTip(x, geometry);
  }

  #write(stop: Stop): void {
    const { lines, align, suffix, events } = this.#data;
    const isRate = suffix !== "" && lines.length > 1;
    const heading = part("plot-tip-time", `${timeText(align, stop.at)}${isRate ? `,${suffix}` : ""}`);
    const rows = lines.flatMap((line, i) => {
      const { value, more } = pointWords(this.#data, line, stop.points[i] ?? -1);
      if (lines.length === 1)
        return [part("plot-tip-value", value), ...more.map((text) => part("soft", text))];
      const row = part("plot-tip-row");
      const key = this.#root.querySelectorAll(".plot-legend svg")[i]?.cloneNode(true);
      if (key !== undefined) row.append(key);
      const name = document.createElement("span");
      name.textContent = `${this.#names[i] ?? ""} `;
      const strong = document.createElement("strong");
      strong.textContent = value;
      row.append(name, strong);
      const detail = more[0];
      if (detail !== undefined && more.length > 0 && lines.length < 4) row.append(part("soft", ` ${detail}`));
      return [row];
    });
    const since = lines.length === 1 ? (lines[0]?.since?.[stop.points[0] ?? -1] ?? stop.at) : stop.at;
    const notes = events
      .filter(({ from, to }) => from <= stop.at && to >= since)
      .map(({ words }) => part("plot-tip-note", words));
    this.#tip.replaceChildren(heading, ...rows, ...notes);
  }

  /** Next to the crosshair, on the side with more room. */
  #placeTip(x: number, { top }: Geometry): void {
    const { clientWidth, clientHeight } = this.#box;
    const { offsetWidth } = this.#tip;
    const at = x * clientWidth;
    const left = at > clientWidth / 2 ? at - offsetWidth - 12 : at + 12;
    this.#tip.style.left = `${Math.max(0, Math.min(clientWidth - offsetWidth, left))}px`;
    this.#tip.style.top = `${top * clientHeight + 4}px`;
  }
}

/** The geometry of the drawing that is shown. */
function geometryOf(box: HTMLElement): Geometry {
  const drawings = [...box.querySelectorAll<HTMLElement>("[data-geometry]")];
  const shown = drawings.find(({ offsetWidth }) => offsetWidth > 0) ?? drawings[0];
  return new Geometry(shown?.dataset.geometry ?? "{}");
}

function part(className: string, text = ""): HTMLElement {
  const element = document.createElement("div");
  element.className = className;
  element.textContent = text;
  if (/^plot-(cursor|tip|selection|dot)( |$)/.test(className)) {
    element.hidden = true;
    element.setAttribute("aria-hidden", "true");
  }
  return element;
}

function place(
  { style }: HTMLElement,
  at: Partial<Record<"left" | "top" | "width" | "height", number>>,
): void {
  for (const [name, value] of Object.entries(at)) style.setProperty(name, `${(100 * value).toFixed(3)}%`);
}

/** How long a new part of the line takes to appear, in ms. */
const DRAWN_MS = 900;
/** The part of the last drawing that was not read yet, of its width. */
let unread = 0;

/** While a history is read, the line draws itself from right to left; it stands still for readers who prefer that. */
function uncover(box: HTMLElement, { lines }: PlotData): void {
  const geometry = geometryOf(box);
  const { left, right, top, bottom } = geometry;
  const before = Math.min(unread, right - left);
  unread = geometry.x(lines[0]?.at[0] ?? 0) - left;
  if (unread >= before || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const cover = part("plot-cover");
  place(cover, { left, top, width: before, height: bottom - top });
  box.append(cover);
  const frames = [{ transform: "none" }, { transform: `scaleX(${unread / before})` }];
  cover.animate(frames, { duration: DRAWN_MS, easing: "linear" }).onfinish = () => cover.remove();
}

function start(within: ParentNode): void {
  if (within.querySelector(".plot-box.plot-empty") !== null) unread = 1;
  for (const root of within.querySelectorAll<HTMLElement>("[data-plot]")) {
    const box = root.querySelector<HTMLElement>(".plot-box");
    const script = root.querySelector<HTMLScriptElement>('script[type="application/json"]');
    if (box === null || script === null) continue;
    const data: PlotData = JSON.parse(script.textContent ?? "");
    if (data.lines.some(({ at }) => at.length > 0))
      new Chart(root, box, { data, label: script.dataset.label ?? "" });
    if (root.closest(".chart-frame") !== null) uncover(box, data);
  }
}

startIn(start);
