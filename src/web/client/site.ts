/**
 * The one script of a site of files. It runs before the first paint, as the theme that the reader has chosen must; a module would run
 * later, and not from a disk. Pages are whole without it.
 */
{
  const root = document.documentElement;
  const KEY = "sidereal.theme";
  const THEMES = ["system", "light", "dark"];
  const apply = (theme: string | null) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  try {
    apply(localStorage.getItem(KEY));
  } catch {
    // The browser stores nothing: the theme follows the system.
  }

  const connectTheme = (button: HTMLButtonElement) => {
    const current = () => THEMES.indexOf(root.dataset.theme ?? "system");
    const name = () => {
      button.title = `Theme: ${THEMES[current()]}`;
      button.setAttribute("aria-label", button.title);
    };
    button.hidden = false;
    button.onclick = () => {
      const theme = THEMES[(current() + 1) % THEMES.length] ?? "";
      apply(theme);
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // It lasts as long as the page.
      }
      name();
    };
    name();
  };

  const numbers = (text = "", between = " ") => text.split(between).map(Number);

  /** Shows the reading next to the pointer. The page has the edges of the drawing and the readings, see components/plot.tsx. */
  const connectReadings = (drawing: HTMLElement) => {
    const svg = drawing.querySelector("svg") ?? (drawing as Element as SVGSVGElement);
    const [left = 0, right = 0, top = 0, base = 0, from = 0, to = 0, low = 0, high = 0] = numbers(
      drawing.dataset.frame,
    );
    const all = drawing.closest<HTMLElement>("[data-readings]")?.dataset.readings?.split("|") ?? [];
    const xOf = (at: number) => left + ((at - from) * (right - left)) / (to - from);
    const yOf = (value: number) => base - ((value - low) * (base - top)) / (high - low);
    const lines = all.map((line) =>
      line.split(" ").map((one) => {
        const [at = 0, value = 0] = numbers(one, ",");
        return { at: from + at, value, x: xOf(from + at), y: yOf(value) };
      }),
    );
    const mark = document.createElementNS(svg.namespaceURI, "g");
    mark.setAttribute("class", "reading");
    mark.innerHTML = '<path/><circle r="4.5"/><text/>';
    const [cursor, dot, words] = mark.children as unknown as [Element, Element, Element];
    const set = (element: Element, name: string, value: string | number) =>
      element.setAttribute(name, String(value));
    svg.onpointerleave = () => mark.remove();
    svg.onpointermove = ({ clientX, clientY }) => {
      const place = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()?.inverse());
      const nearest = lines.map((line) =>
        line.reduce((best, one) => (Math.abs(one.x - place.x) < Math.abs(best.x - place.x) ? one : best)),
      );
      const away = nearest.map(({ y }) => Math.abs(y - place.y));
      const index = away.indexOf(Math.min(...away));
      const { at, value, x, y } = nearest[index] ?? { at: 0, value: 0, x: 0, y: 0 };
      set(cursor, "d", `M${x} ${y}V${base}`);
      set(dot, "cx", x);
      set(dot, "cy", y);
      set(dot, "class", `reading-${index + 1}`);
      set(words, "x", Math.min(right - 60, Math.max(left + 90, x)));
      set(words, "y", svg.viewBox.baseVal.height < 180 ? 16 : Math.max(16, y - 14));
      const day = new Date(at * 864e5).toUTCString().slice(5, 16).replace(/^0/, "");
      words.textContent = `${value.toLocaleString("en")} · ${day}`;
      svg.append(mark);
    };
  };

  addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll<HTMLButtonElement>(".theme-button")) connectTheme(button);
    for (const drawing of document.querySelectorAll<HTMLElement>("[data-frame]")) connectReadings(drawing);
  });
}
