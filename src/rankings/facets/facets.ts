/**
 * Facets: how many listed repositories use each language or topic, with their stars and gains, per provider and overall.
 * The totals are kept up to date by subtracting what a changed repository contributed before and adding what it contributes
 * now. `updateFacets` applies changes, `FacetRebuild` starts from all repositories; both give the same totals.
 */
export { FacetCheck } from "./check.js";
export {
  FACET_KINDS,
  FACET_SORTS,
  type Facet,
  type FacetKind,
  type FacetPage,
  type FacetRequest,
  type FacetSort,
  type FacetTotals,
  type FindFacet,
  facetFinder,
  facetReader,
  LISTED,
  spellFacets,
} from "./read.js";
export { FacetRebuild, readFacetParts, updateFacets } from "./update.js";
