import { ACCOUNT } from "./styles/account.js";
import { BASE } from "./styles/base.js";
import { EXPLORE } from "./styles/explore.js";
import { PARTS } from "./styles/parts.js";
import { PLOTS } from "./styles/plots.js";
import { TOKENS } from "./styles/tokens.js";

/** The style sheet: system fonts, light and dark colours, nothing from other sites. */
export const STYLES = [TOKENS, BASE, PARTS, ACCOUNT, EXPLORE, PLOTS].join("").replaceAll(/\n\s*/g, "\n");
