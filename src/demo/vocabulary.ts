/** Words for the names and descriptions of synthetic repositories. */
export const QUALITIES =
  "amber brisk calm clever cobalt copper crisp daring eager early faint fleet gentle golden hidden honest ivory jolly keen kind lively lucid lunar mellow mighty modest neat nimble noble olive patient plain proud quick quiet rapid rustic sandy sharp silent silver simple sleek slim solar stable steady stout subtle sunny swift tidy tiny vivid warm wild wise young".split(
    " ",
  );
export const THINGS =
  "anchor arrow atlas badger beacon bridge broker canvas castle cedar cipher circuit comet compass condor crane delta falcon ferry forge fountain garden gate glacier harbor hawk horizon island kernel kite ladder lantern lathe ledger lens lighthouse loom magnet maple marble meadow meteor mill mirror nebula needle oasis orbit otter paddle parser pebble pilot pine planet prism quarry raven reactor relay ridge river robin router sail scanner shuttle signal sparrow spindle spring stack tower trail tunnel valley vessel violet walnut weaver willow window".split(
    " ",
  );
export const PEOPLE =
  "acorn-labs aurora-works bluefin boreal-systems brightline cinder-dev clearpath cloudberry copperfield craftware deepwell driftwood eastwind emberlight evergreen fieldstone firefly foxglove graniteworks greenhouse halcyon highland hollowoak inkwell ironbark juniper-io keystone lakeside larkspur lodestar longbow mainsail midnight-oil millstone moonrise northwind openfield orchard pathfinder peregrine pinecone quicksilver rainfall redwood riverbend rosewood saltmarsh sandstone silverbirch skylark snowdrift starboard stillwater stonebridge summit sundial tallgrass thistle tidewater timberline waypoint westgate whitecap wildflower windmill wintergreen".split(
    " ",
  );
export const LANGUAGES: readonly (readonly [string, number])[] = [
  ["JavaScript", 16],
  ["Python", 18],
  ["TypeScript", 15],
  ["Go", 9],
  ["Rust", 8],
  ["Java", 9],
  ["C++", 7],
  ["C", 5],
  ["C#", 4],
  ["PHP", 3],
  ["Ruby", 2],
  ["Swift", 2],
  ["Kotlin", 2],
  ["Zig", 1],
  ["Elixir", 1],
  ["Haskell", 1],
];
export const TOPICS =
  "api cli database machine-learning web security testing compiler graphics game networking kubernetes docker linux editor parser framework library monitoring analytics search storage cache queue robotics audio video maps crypto education automation devops serverless data-science llm self-hosted privacy accessibility embedded iot".split(
    " ",
  );
export const KINDS =
  "toolkit library server client framework engine viewer editor service runtime generator dashboard".split(
    " ",
  );
export const LICENSES: readonly (readonly [string, number])[] = [
  ["MIT", 45],
  ["Apache-2.0", 25],
  ["GPL-3.0", 12],
  ["BSD-3-Clause", 8],
  ["MPL-2.0", 4],
  ["AGPL-3.0", 6],
];
