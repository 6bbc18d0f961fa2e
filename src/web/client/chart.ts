/**
 * Interactive charts in place of the drawings of the server: points are read with the pointer, or with the arrow keys while
 * the chart has the focus. Without this module or the library, the drawing and its table stay.
 */
import type UPlot from "uplot";
import {
  ageText,
  ageTicks,
  dateText,
  dateTicks,
  drawArea,
  drawLine,
  drawMark,
  drawMarksAlong,
  drawSources,
  linearScale,
  logScale,
  type PlotData,
  type PlotLine,
  RETAINED_SOURCE,
  type Scale,
  SOURCES,
  shortCount,
} from "./chart-drawing.js";

declare global {
  interface Window {
    uPlot?: typeof UPlot;
  }
}

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });

/** Page Up and Page Down move by this fraction of all points. */
const PAGE_FRACTION = 10;

class Chart {
  readonly #data: PlotData;
  readonly #box: HTMLElement;
  readonly #reading: HTMLElement;
  readonly #status: HTMLElement;
  readonly #values: HTMLElement[];
  readonly #names: string[];
  /** All distinct times of all lines. */
  readonly #times: readonly number[];
  /** The index of the point of each line at each of the times; −1 if it has none. */
  readonly #indexes: readonly (readonly number[])[];
  readonly #scale: Scale;
  /** Sources that need a legend. */
  readonly #sources: readonly number[];
  readonly #plot: UPlot;
  #colours: readonly string[] = [];
  #grid = "";
  #soft = "";
  #current: number | undefined;

  constructor(
    { root, box }: { root: HTMLElement; box: HTMLElement },
    { data, label }: { data: PlotData; label: string },
    Plot: typeof UPlot,
  ) {
    this.#data = data;
    this.#box = box;
    this.#reading = root.querySelector<HTMLElement>(".plot-reading") ?? document.createElement("p");
    this.#values = [...root.querySelectorAll<HTMLElement>(".plot-value")];
    this.#names = [...root.querySelectorAll(".plot-name")].map((name) => name.textContent ?? "");
    this.#status = document.createElement("div");
    this.#status.className = "hidden";
    this.#status.setAttribute("role", "status");
    root.append(this.#status);
    this.#times = [...new Set(data.lines.flatMap(({ at }) => at))].sort((a, b) => a - b);
    this.#indexes = data.lines.map(({ at }) => {
      const indexes = new Map(at.map((time, i) => [time, i]));
      return this.#times.map((time) => indexes.get(time) ?? -1);
    });
    const values = data.lines.flatMap(({ value }) => value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const scaleOf = data.scale === "log" ? logScale : linearScale;
    this.#scale = scaleOf(low, high, box.clientHeight < 320 ? 4 : 6);
    this.#sources = [1, 2].filter((source) => data.lines.some((line) => line.source.includes(source)));
    this.#readColours();
    this.#plot = new Plot(this.#options(), this.#aligned(), box);
    box.classList.add("live");
    this.#listen(label);
    this.#read(undefined);
  }

  #readColours(): void {
    const style = getComputedStyle(this.#box);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    this.#colours = this.#data.lines.map((_, i) => colour(`--chart-line-${i + 1}`));
    this.#grid = colour("--chart-grid");
    this.#soft = colour("--chart-muted");
  }

  #aligned(): UPlot.AlignedData {
    const values = this.#data.lines.map(({ value }, line) =>
      (this.#indexes[line] ?? []).map((i) => (i < 0 ? undefined : this.#scale.project(value[i] ?? 0))),
    );
    return [[...this.#times], ...values];
  }

  #options(): UPlot.Options {
    const { align, lines } = this.#data;
    const [begin = 0, end = 1] = [this.#times[0], this.#times.at(-1)];
    const ticks = align === "age" ? ageTicks : dateTicks;
    const named = (plot: UPlot) => ticks(begin, end, Math.max(2, Math.floor(plot.width / 84)));
    const look = { stroke: () => this.#soft, font: "11px system-ui, sans-serif" };
    return {
      width: this.#box.clientWidth,
      height: this.#box.clientHeight,
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [begin, end > begin ? end : begin + 1] },
        y: { range: () => this.#scale.range },
      },
      axes: [
        {
          ...look,
          size: this.#sources.length === 0 ? 26 : 42,
          gap: 4,
          grid: { show: false },
          ticks: { stroke: () => this.#grid, size: 4, width: 1 },
          splits: (plot) => named(plot).map(({ at }) => at),
          values: (plot) => named(plot).map((tick) => tick.label),
        },
        {
          ...look,
          size: 48,
          gap: 6,
          grid: { stroke: () => this.#grid, width: 1 },
          ticks: { show: false },
          splits: () => this.#scale.ticks.map(({ at }) => at),
          values: () => this.#scale.ticks.map(({ value }) => shortCount(value)),
        },
      ],
      series: [
        {},
        ...lines.map(
          (_, i): UPlot.Series => ({
            stroke: () => this.#colours[i] ?? "",
            paths: () => null,
            points: { show: false },
          }),
        ),
      ],
      cursor: {
        y: false,
        drag: { setScale: false, x: false, y: false },
        points: { size: 9, width: 2 },
      },
      hooks: {
        draw: [(plot) => this.#draw(plot)],
        setCursor: [(plot) => this.#read(plot.cursor.idx ?? undefined)],
      },
    };
  }

  #draw(plot: UPlot): void {
    const ratio = devicePixelRatio;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - 6 * ratio, bbox.top - 6 * ratio, bbox.width + 12 * ratio, bbox.height + 12 * ratio);
    ctx.clip();
    const ground =
      this.#scale.range[0] === 0 && this.#data.scale === "linear" ? bbox.top + bbox.height : undefined;
    for (const [i, line] of [...this.#data.lines.entries()].reverse()) {
      const pen = { context: ctx, colour: this.#colours[i] ?? "", ratio };
      const pointOf = (point: number) => ({
        x: plot.valToPos(line.at[point] ?? 0, "x", true),
        y: plot.valToPos(this.#scale.project(line.value[point] ?? 0), "y", true),
      });
      if (this.#data.lines.length === 1 && ground !== undefined) drawArea(pen, line, { pointOf, ground });
      drawLine(pen, line, pointOf);
      if (this.#data.lines.length > 1)
        drawMarksAlong(
          pen,
          i,
          line.at.map((_, point) => pointOf(point)),
        );
      if (line.at.length > 0) drawMark(pen, i, pointOf(line.at.length - 1));
    }
    ctx.restore();
    drawSources({ context: ctx, colour: this.#soft, ratio }, this.#sources, {
      right: bbox.left + bbox.width,
      bottom: ctx.canvas.height,
    });
  }

  #listen(label: string): void {
    const box = this.#box;
    const help = document.createElement("span");
    help.className = "hidden";
    help.id = `chart-help-${document.querySelectorAll(".chart-help").length}`;
    help.classList.add("chart-help");
    help.textContent =
      "Left and Right move between points, Page Up and Page Down by a tenth of the chart, Home and End to the first and last point.";
    box.after(help);
    const attributes = {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": label,
      "aria-describedby": help.id,
    };
    for (const [name, value] of Object.entries(attributes)) box.setAttribute(name, value);
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("blur", () => this.#moveTo(undefined));
    new ResizeObserver(() =>
      this.#plot.setSize({ width: box.clientWidth, height: box.clientHeight }),
    ).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#readColours();
      this.#plot.redraw(false);
    });
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#times.length - 1;
    const page = Math.max(1, Math.round(this.#times.length / PAGE_FRACTION));
    const from = this.#current;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: from === undefined ? last : from - 1,
      ArrowRight: from === undefined ? 0 : from + 1,
      PageUp: (from ?? last + page) - page,
      PageDown: (from ?? -page) + page,
      Home: 0,
      End: last,
    };
    const to = event.key === "Escape" ? undefined : moves[event.key];
    if (to === undefined && event.key !== "Escape") return;
    event.preventDefault();
    this.#moveTo(to === undefined ? undefined : Math.min(last, Math.max(0, to)));
    const now = this.#current === undefined ? undefined : this.#times[this.#current];
    const others = now === undefined || this.#data.lines.length === 1 ? "" : `: ${this.#many(now)}`;
    this.#status.textContent = now === undefined ? "" : `${this.#reading.textContent}${others}`;
  }

  /** Moves the crosshair to a point; undefined hides it. */
  #moveTo(index: number | undefined): void {
    const time = index === undefined ? undefined : this.#times[index];
    const left = time === undefined ? -10 : this.#plot.valToPos(time, "x");
    this.#plot.setCursor({ left, top: time === undefined ? -10 : 0 }, false);
    this.#read(index);
  }

  /** Shows the point of each line at a time; undefined: the last point. */
  #read(index: number | undefined): void {
    this.#current = index;
    const { lines, align } = this.#data;
    const at = index === undefined ? this.#times.at(-1) : this.#times[index];
    if (at === undefined) return;
    const when = align === "age" ? `At the age of ${ageText(at)}` : dateText(at);
    const [only] = lines;
    const isOne = lines.length === 1 && only !== undefined;
    const reading = isOne ? this.#one(only, this.#indexes[0]?.[index ?? this.#times.length - 1] ?? 0) : "";
    this.#reading.textContent = reading === "" ? when : `${when}: ${reading}`;
    if (isOne) return;
    for (const [i, line] of lines.entries()) {
      const value = index === undefined ? line.value.at(-1) : valueAt(line, at);
      const element = this.#values[i];
      if (element !== undefined) element.textContent = value === undefined ? "–" : whole.format(value);
    }
  }

  #one({ value, source }: PlotLine, i: number): string {
    const [now, before] = [value[i], value[i - 1]];
    if (now === undefined) return "";
    if (this.#data.isSum) return `${whole.format(now)} ${this.#data.unit}`;
    const isSeam = (source[i] === RETAINED_SOURCE) !== (source[i - 1] === RETAINED_SOURCE);
    const since =
      before === undefined || isSeam ? "" : `, ${signed.format(now - before)} since the previous snapshot`;
    return `${whole.format(now)} ${this.#data.unit}${since}; ${SOURCES[source[i] ?? 0]?.words ?? ""}`;
  }

  /** The values of the legend, for screen readers. */
  #many(at: number): string {
    return this.#data.lines
      .map((line, i) => {
        const value = valueAt(line, at);
        return `${this.#names[i] ?? ""} ${value === undefined ? "unknown" : whole.format(value)}`;
      })
      .join(", ");
  }
}

/** The value of a line at a time; undefined before its first and after its last point. */
function valueAt({ at, value }: PlotLine, time: number): number | undefined {
  const [first, last] = [at[0], at.at(-1)];
  if (first === undefined || last === undefined || time < first || time > last) return undefined;
  return value[at.findLastIndex((one) => one <= time)];
}

const { uPlot } = window;
for (const root of document.querySelectorAll<HTMLElement>("[data-plot]")) {
  const box = root.querySelector<HTMLElement>(".plot-box");
  const script = root.querySelector<HTMLScriptElement>('script[type="application/json"]');
  if (uPlot === undefined || box === null || script === null) continue;
  const data: PlotData = JSON.parse(script.textContent ?? "");
  if (data.lines.some(({ at }) => at.length > 0))
    new Chart({ root, box }, { data, label: script.dataset.label ?? "" }, uPlot);
}
