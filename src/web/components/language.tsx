import type { FunctionComponent as FC } from "preact";
import { languagePage } from "../../lib/page-addresses.js";
import { Link } from "./elements.js";

/** The usual colours of languages. Others are grey. */
const COLOURS: ReadonlyMap<string, string> = new Map(
  `
  ada #02f88c, assembly #6e4c13, astro #ff5a03, c #555555, c# #178600, c++ #f34b7d, clojure #db5855,
  common lisp #3fb68b, crystal #000100, css #663399, cuda #3a4e3a, d #ba595e, dart #00b4ab,
  dockerfile #384d54, elixir #6e4a7e, elm #60b5cc, emacs lisp #c065db, erlang #b83998, f# #b845fc,
  fortran #4d41b1, gleam #ffaff3, go #00add8, groovy #4298b8, hack #878787, haskell #5e5086, hcl #844fba,
  html #e34c26, java #b07219, javascript #f1e05a, julia #a270ba, jupyter notebook #da5b0b, kotlin #a97bff,
  lean #4d3b8f, lua #000080, makefile #427819, matlab #e16737, mdx #fcb32c, mojo #ff4c1f, nim #ffc200,
  nix #7e7eff, objective-c #438eff, ocaml #ef7a08, odin #60affe, perl #0298c3, php #4f5d95,
  powershell #012456, python #3572a5, r #198ce7, racket #3c5caa, ruby #701516, rust #dea584,
  scala #c22d40, scss #c6538c, shell #89e051, solidity #aa6746, svelte #ff3e00, swift #f05138,
  tex #3d6117, typescript #3178c6, typst #239dad, v #4f87c4, vim script #199f4b, vue #41b883,
  webassembly #04133b, zig #ec915c
`
    .trim()
    .split(/,\s+/)
    .map((entry) => [entry.slice(0, -8), entry.slice(-7)]),
);

/** A dot in the colour of a language. */
export const Dot: FC<{ name: string }> = ({ name }) => (
  <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
    <circle
      cx="5"
      cy="5"
      r="4.5"
      fill={COLOURS.get(name.toLowerCase()) ?? "#8b93a1"}
      stroke="#8b93a1"
      stroke-width="1"
    />
  </svg>
);

/** A link to the page of a language, with its colour. */
export const Language: FC<{ name: string | null }> = ({ name }) =>
  name === null ? null : (
    <span class="language">
      <Dot name={name} />
      <Link href={languagePage(name)}>{name}</Link>
    </span>
  );
