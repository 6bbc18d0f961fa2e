/**
 * Providers: the forges behind one interface. Each configured instance offers the same few calls; responses are bounded
 * and parsed before they are trusted, and every failure is one of a closed list. Providers know no database and keep no
 * schedule: `tracking` decides when to call them and how to apply the results.
 */

export { type AvatarSource, openAvatars } from "./avatars.js";
export * from "./contract.js";
export * from "./failures.js";
export { type OpenProvider, openProvider } from "./open-provider.js";
export { checkToken } from "./tokens/check-token.js";
export { type EnteredTokens, ForgeTokens, labelOf } from "./tokens/forge-tokens.js";
export { FAULT_WORDS, type StoredToken, type TokenFault } from "./tokens/seal.js";
export { settingsAmong, TrackedForges } from "./tokens/tracked-forges.js";
