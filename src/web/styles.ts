import { ACCOUNT } from "./styles/account.js";
import { BASE } from "./styles/base.js";
import { CHOICES } from "./styles/choices.js";
import { EXPLORE } from "./styles/explore.js";
import { LISTS } from "./styles/lists.js";
import { MEDIA } from "./styles/media.js";
import { OPERATOR } from "./styles/operator.js";
import { OWNER_IMAGE } from "./styles/owner-image.js";
import { PARTS } from "./styles/parts.js";
import { PLOTS } from "./styles/plots.js";
import { REPOSITORY } from "./styles/repository.js";
import { TOKENS } from "./styles/tokens.js";

/** The style sheet: system fonts, light and dark colours, nothing from other sites. */
export const STYLES = [
  TOKENS,
  BASE,
  PARTS,
  CHOICES,
  LISTS,
  ACCOUNT,
  EXPLORE,
  PLOTS,
  OWNER_IMAGE,
  REPOSITORY,
  OPERATOR,
  MEDIA,
]
  .join("")
  .replaceAll(/\n\s*/g, "\n");
