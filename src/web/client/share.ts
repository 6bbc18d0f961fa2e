import { address, announce, startIn } from "./base.js";

/** Buttons that save a chart as PNG: the browser paints the server's SVG. */

/** Pixels of the picture per pixel of the drawing. */
const SCALE = 2;

/** The theme that the page has now. */
function themeNow(): "light" | "dark" {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

async function paint(path: string): Promise<Blob> {
  const url = new URL(address(path), location.href);
  url.searchParams.set("theme", themeNow());
  const picture = new Image();
  picture.src = url.href;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth * SCALE;
  canvas.height = picture.naturalHeight * SCALE;
  const context = canvas.getContext("2d");
  context?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)), "image/png"),
  );
}

startIn((within) => {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-png]")) {
    button.addEventListener("click", async () => {
      const { png = "", file = "chart.png" } = button.dataset;
      button.setAttribute("aria-busy", "true");
      try {
        const href = URL.createObjectURL(await paint(png));
        const link = document.createElement("a");
        link.href = href;
        link.download = file;
        link.click();
        setTimeout(() => URL.revokeObjectURL(href));
        announce(`${file} is saved`);
      } catch {
        announce("The picture could not be made. Try the SVG.");
      } finally {
        button.removeAttribute("aria-busy");
      }
    });
  }
});
