/** The rendering thread: encoding a PNG takes tens of milliseconds, which would block requests. */
import { parentPort, workerData } from "node:worker_threads";
import { Resvg } from "@resvg/resvg-js";

const { fontFiles, fontFamily } = workerData as { fontFiles: string[]; fontFamily: string };

parentPort?.on("message", ({ id, svg }: { id: number; svg: string }) => {
  try {
    const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: fontFamily };
    const png = new Resvg(svg, { font }).render().asPng();
    parentPort?.postMessage({ id, png });
  } catch (error) {
    parentPort?.postMessage({ id, fault: error instanceof Error ? error.message : String(error) });
  }
});
