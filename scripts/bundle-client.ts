/** Bundles the client into one file, client/dist/client.js, as a step of `npm run build`. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const file = (name: string) => fileURLToPath(new URL(`../../client/${name}`, import.meta.url));

await build({
  entryPoints: [file("src/client.ts")],
  outfile: file("dist/client.js"),
  bundle: true,
  // Short, but with names and lines that a stack trace can show.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  sourcemap: true,
  format: "esm",
  // What Node.js 20 and the browsers of 2024 have.
  target: "es2022",
  logLevel: "warning",
});
